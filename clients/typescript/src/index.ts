/** A typed client of Cardlog's two services. Every path of their OpenAPI documents is typed. */
import createClient, { type Client, type Middleware } from "openapi-fetch";
import { REQUEST_ID } from "./operations.js";
import type { paths as ReadPaths } from "./read.js";
import type { components } from "./schemas.js";
import type { paths as WritePaths } from "./write.js";

export type { ReadPaths, WritePaths };

/** The document of a failed request (RFC 9457). */
export type Problem = Partial<components["schemas"]["ProblemDetails"]> & Record<string, unknown>;

type Body<P> = P extends { requestBody: { content: { "application/json": infer B } } } ? B : never;
type Answer<P, S extends number> = P extends { responses: Record<S, { content: { "application/json": infer A } }> } ? A : never;
/** What one push may hold: a turn, a conversation, or a list of turns. */
export type Turns = Body<WritePaths["/v1/turns"]["post"]>;
/** One turn of a push. */
export type Turn = Extract<Turns, readonly unknown[]>[number];
export type Pushed = Answer<WritePaths["/v1/turns"]["post"], 202>;
export type Question = Body<ReadPaths["/v1/recall"]["post"]>;
export type Recalled = Answer<ReadPaths["/v1/recall"]["post"], 200>;
export type Prompted = Answer<ReadPaths["/v1/context"]["post"], 200>;

/** A request failed. `problem` is the document of the service, empty where no service answered. */
export class CardlogError extends Error {
  constructor(message: string, readonly problem: Problem = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
  /** The HTTP status, undefined where no service answered. */
  get status(): number | undefined {
    return this.problem.status;
  }
  /** The field of the request that is wrong, if there is one. */
  get field(): string | undefined {
    return this.problem.field ?? undefined;
  }
}
/** The request is wrong, or the key does not allow it. A retry cannot succeed. */
export class RefusedError extends CardlogError {}
/** The service was away, overloaded or broken at every retry. The same request may succeed later. */
export class UnavailableError extends CardlogError {}

export interface Options {
  /** By default http://127.0.0.1:8700. */
  writeUrl?: string;
  /** By default http://127.0.0.1:8701. */
  readUrl?: string;
  /** By default CARDLOG_API_KEY, where there is an environment. */
  apiKey?: string;
  /** How often a request is repeated while a service is away, 3 by default. */
  retries?: number;
  /** The time of one try in milliseconds, 10,000 by default. */
  timeoutMs?: number;
  fetch?: typeof fetch;
}

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

/** Returns the document of an answer: `await answerOf(memory.read.GET("/v1/cards", …))`. */
export async function answerOf<T>(sent: Promise<{ data?: T }>): Promise<T> {
  return (await sent).data as T;
}

/**
 * Talks to a write service and a read service. `write` and `read` are clients of openapi-fetch with the paths of each
 * document. A repeated request is safe: a turn has an id, and a command has an idempotency key. Both are made here
 * where the app gives none. A failed request throws RefusedError or UnavailableError.
 */
export class Cardlog {
  readonly write: Client<WritePaths>;
  readonly read: Client<ReadPaths>;

  constructor(options: Options = {}) {
    const { writeUrl = "http://127.0.0.1:8700", readUrl = "http://127.0.0.1:8701" } = options;
    const environment = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env;
    const key = options.apiKey ?? environment?.["CARDLOG_API_KEY"];
    const headers: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {};
    const send = (request: Request) => sendOften(request, options);
    this.write = createClient<WritePaths>({ baseUrl: writeUrl, headers, fetch: send });
    this.read = createClient<ReadPaths>({ baseUrl: readUrl, headers, fetch: send });
    this.write.use(ONCE);
    this.read.use(ONCE);
  }

  /** Pushes one turn or several. The service takes all or none, and the turns are safe when the promise resolves. */
  push(turns: Turns): Promise<Pushed> {
    return answerOf<Pushed>(this.write.POST("/v1/turns", { body: turns }));
  }

  /** Returns the cards that answer a question. */
  recall(userId: string, query: string, more: Omit<Question, "user_id" | "query"> = {}): Promise<Recalled> {
    return answerOf<Recalled>(this.read.POST("/v1/recall", { body: { ...more, user_id: userId, query } }));
  }

  /** Returns the prompt for a question. */
  context(
    userId: string,
    query: string,
    more: Omit<Body<ReadPaths["/v1/context"]["post"]>, "user_id" | "query"> = {},
  ): Promise<Prompted> {
    return answerOf<Prompted>(this.read.POST("/v1/context", { body: { ...more, user_id: userId, query } }));
  }
}

/** Gives each turn and each command the id under which a repeat of it counts once. */
const ONCE: Middleware = {
  async onRequest({ request, schemaPath }) {
    if (request.method === "GET" || request.method === "DELETE") return undefined;
    if (!request.headers.has("idempotency-key")) request.headers.set("idempotency-key", crypto.randomUUID());
    const pushes = schemaPath === "/v1/turns";
    if (!pushes && !REQUEST_ID.has(schemaPath)) return undefined;
    const body: unknown = await request.clone().json();
    const named = pushes
      ? (Array.isArray(body) ? body : [body]).map((turn) => withId(turn, "turn_id"))
      : withId(body, "request_id");
    return new Request(request, { body: JSON.stringify(named) });
  },
};

function withId(document: unknown, name: string): unknown {
  const given = document as Record<string, unknown>;
  return given[name] ? given : { ...given, [name]: crypto.randomUUID() };
}

async function sendOften(request: Request, options: Options): Promise<Response> {
  const { retries = 3 } = options;
  for (let number = 0; ; number += 1) {
    try {
      return await sendOnce(request.clone(), options);
    } catch (error) {
      if (!(error instanceof UnavailableError) || number >= retries || request.signal.aborted) throw error;
      const asked = error.problem["retry_after"];
      const wait = typeof asked === "number" ? asked * 1_000 : FIRST_WAIT_MS * 2 ** number;
      await new Promise((resolve) => setTimeout(resolve, Math.min(wait, LONGEST_WAIT_MS)));
    }
  }
}

async function sendOnce(request: Request, { timeoutMs = 10_000, fetch: send = fetch }: Options): Promise<Response> {
  const { url, signal } = request;
  let response: Response;
  try {
    const late = AbortSignal.timeout(timeoutMs);
    const stop = new AbortController();
    for (const each of [late, signal]) each.addEventListener("abort", () => stop.abort(each.reason), { once: true });
    if (signal.aborted) stop.abort(signal.reason);
    response = await send(new Request(request, { signal: stop.signal }));
  } catch (error) {
    if (signal.aborted) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new UnavailableError(`${url} does not answer: ${reason}`, {}, { cause: error });
  }
  if (response.ok) return response;
  const document: unknown = await response.json().catch(() => ({}));
  const problem = { status: response.status, ...(document as Problem) } as Problem;
  const after = Number.parseInt(response.headers.get("retry-after") ?? "", 10);
  if (!Number.isNaN(after)) problem["retry_after"] = after;
  const message = String(problem.detail ?? `${response.status} ${response.statusText}`);
  if (response.status === 429 || response.status >= 500) throw new UnavailableError(message, problem);
  throw new RefusedError(message, problem);
}
