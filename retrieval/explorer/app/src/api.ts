/** Calls of both services. The types come from their OpenAPI documents, so a changed contract fails the build. */
import type { components as ReadParts, paths as Read } from "./api/read";
import type { components as WriteParts, paths as Write } from "./api/write";

export type Schemas = ReadParts["schemas"];
export type Written = WriteParts["schemas"];
export type Card = Schemas["Card"];
export type Recalled = Schemas["RecalledCard"];

type Method = "get" | "post" | "put" | "patch" | "delete";
type Of<S, P, M extends Method> = P extends keyof S ? (S[P] extends Record<M, infer O> ? O : never) : never;
type Operation<P, M extends Method> = [Of<Read, P, M>] extends [never] ? Of<Write, P, M> : Of<Read, P, M>;
type Part<O, N extends string> = O extends { parameters: infer A } ? (A extends Partial<Record<N, infer V>> ? V : never) : never;
type Body<O> = O extends { requestBody: { content: { "application/json": infer B } } } ? B : never;
type Good = 200 | 201 | 202;
type Answer<O> = O extends { responses: infer R }
  ? { [S in keyof R & Good]: R[S] extends { content: { "application/json": infer J } } ? J : never }[keyof R & Good]
  : never;

/** A refusal of a service, or of the network. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    detail: string,
    readonly field?: string,
  ) {
    super(detail);
  }
}

let signedOut = () => {};
/** Sets what happens when the session has ended. */
export const onSignedOut = (then: () => void) => (signedOut = then);

const PATIENCE_MS = 30_000;

async function send(method: string, url: string, body?: unknown): Promise<unknown> {
  let answer: Response;
  let text: string;
  const patience = new AbortController();
  const clock = setTimeout(() => patience.abort(), PATIENCE_MS);
  try {
    answer = await fetch(url, {
      method: method.toUpperCase(),
      credentials: "same-origin",
      signal: patience.signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    text = await answer.text();
  } catch {
    throw patience.signal.aborted ? new Problem(504, "late", "") : new Problem(0, "away", "");
  } finally {
    clearTimeout(clock);
  }
  const document: unknown = answer.headers.get("content-type")?.includes("json") ? JSON.parse(text) : null;
  if (answer.ok) return document;
  if (answer.status === 401) signedOut();
  const told = (document ?? {}) as { title?: string; detail?: string; field?: string };
  throw new Problem(answer.status, told.title ?? String(answer.status), told.detail ?? "", told.field);
}

/** Asks one operation. `at` fills the path, `query` the parameters; empty parameters are left out. */
export async function api<M extends Method, P extends (keyof Read | keyof Write) & string>(
  method: M,
  path: P,
  given: { at?: Record<string, string>; query?: Part<Operation<P, M>, "query">; body?: Body<Operation<P, M>> } = {},
): Promise<Answer<Operation<P, M>>> {
  const url = new URL(
    path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(given.at?.[name] ?? "")),
    location.origin,
  );
  for (const [name, value] of Object.entries((given.query ?? {}) as Record<string, unknown>))
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined && each !== null && each !== "") url.searchParams.append(name, String(each));
  return (await send(method, url.pathname + url.search, given.body)) as Answer<Operation<P, M>>;
}

/** The cards that a turn is behind. A turn that is not understood yet has none. */
export const cardsOf = (turn: string, user: string) =>
  new Promise<string[]>((found, failed) => {
    const path = "/v1/turns/{turn_id}/events".replace("{turn_id}", encodeURIComponent(turn));
    const stream = new EventSource(`${path}?${new URLSearchParams({ user_id: user })}`);
    const end = (event: MessageEvent<string>) => (stream.close(), found((JSON.parse(event.data) as Schemas["TurnEvent"]).cards ?? []));
    for (const last of ["projected", "dead", "late"]) stream.addEventListener(last, end);
    stream.onerror = () => (stream.close(), failed(new Problem(0, "away", "")));
  });

export interface Session {
  tenant: string;
  key_id: string | null;
  scopes: string[];
  users: string[] | null;
  projects: string[] | null;
  modes: string[] | null;
  expires_at: string | null;
}

export const session = {
  get: () => send("get", "session") as Promise<Session>,
  signIn: (key: string) => send("post", "session", { key }) as Promise<Session>,
  signOut: () => send("delete", "session"),
};
