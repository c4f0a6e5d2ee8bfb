/** References: each value with its history and ops, and the proposals that wait. */
import { useState } from "preact/hooks";
import { api, Problem, type Schemas } from "./api";
import type { Given } from "./screen";
import { to } from "./route";
import { t } from "./texts";
import { Busy, Confirm, Empty, Field, Notice, Time, useEdit, useLoad, valueOf, Words } from "./ui";

type Reference = Schemas["Reference"];
const nameOf = (each: { kind: string; key: string }) => `${each.kind}/${each.key}`;

export function References({ user, route, may }: Given) {
  const [turn, again] = useState(0);
  const list = useLoad(() => api("get", "/v1/references", { query: { user_id: user, limit: 200 } }), [user, turn]);
  const chosen = list.value?.references.find((each) => nameOf(each) === route.get("id") && (each.project_id ?? "") === route.get("project"));
  return (
    <>
      <Proposals user={user} turn={turn} changed={() => again(turn + 1)} edits={may("write")} />
      <Notice problem={list.problem} again={list.again} />
      {list.busy && !list.value && <Busy />}
      {list.value && !list.value.references.length && <Empty>{t("No reference yet. Make one: cardlog ref create todo_list/groceries.")}</Empty>}
      <div class="two">
        <ul class="cards">
          {(list.value?.references ?? []).map((each) => (
            <li class="card" key={`${nameOf(each)} ${each.project_id} ${each.team_id}`} aria-current={each === chosen ? "true" : undefined}>
              <a class="content" href={to("references", { user, id: nameOf(each), project: each.project_id ?? "" })}>
                {nameOf(each)}
              </a>
              <p>
                <Words text={each.rendering} most={300} />
              </p>
              <p class="facts">
                <span>{t("version {n}", { n: each.version })}</span>
                <span>{each.tier}</span>
                <Time at={each.updated_at} />
              </p>
            </li>
          ))}
        </ul>
        {chosen && <One reference={chosen} user={user} turn={turn} changed={() => again(turn + 1)} edits={may("write")} />}
      </div>
    </>
  );
}

interface Shown {
  reference: Reference;
  user: string;
  turn: number;
  changed: () => void;
  edits: boolean;
}

function One({ reference, user, turn, changed, edits }: Shown) {
  const at = { kind: reference.kind, key: reference.key };
  const owner = { user_id: user, ...(reference.project_id && { project_id: reference.project_id }), ...(reference.team_id && { team_id: reference.team_id }) };
  const history = useLoad(() => api("get", "/v1/references/{kind}/{key}/history", { at, query: { ...owner, limit: 100 } }), [nameOf(reference), turn]);
  const kinds = useLoad(() => api("get", "/v1/reference-kinds", {}), []);
  const ops = kinds.value?.kinds.find((each) => each.kind === reference.kind)?.ops ?? [];
  const [op, setOp] = useState("");
  const [fields, setFields] = useState("{}");
  const [back, setBack] = useState<number | null>(null);
  const { problem, busy, run } = useEdit();
  const submit = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      const more = object(fields);
      if (!more) throw new Problem(422, t("“fields of the op” must be a JSON object, such as {example}.", { example: EXAMPLE }), "");
      const body = { ...more, ...owner, op: op || ops[0]!, expected_version: reference.version };
      await api("patch", "/v1/references/{kind}/{key}", { at, body });
      changed();
    });
  };
  const restore = async (version: number) => (await api("post", "/v1/references/{kind}/{key}/restore", { at, body: { ...owner, version } }), changed());
  return (
    <section>
      <h2>{nameOf(reference)}</h2>
      <pre tabIndex={0}>
        <Words text={JSON.stringify(reference.data, null, 2)} most={5000} />
      </pre>
      {edits && (
        <form class="panel" onSubmit={submit}>
          <Field label={t("op")}>
            <select value={op || (ops[0] ?? "")} onChange={(event) => setOp(valueOf(event))}>
              {ops.map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </select>
          </Field>
          <Field label={t("fields of the op, as JSON")} wide>
            <input value={fields} onInput={(event) => setFields(valueOf(event))} spellcheck={false} placeholder={EXAMPLE} />
          </Field>
          <button class="main" disabled={busy || !ops.length}>
            {t("apply")}
          </button>
        </form>
      )}
      <Notice problem={problem ?? history.problem} />
      {back !== null && (
        <Confirm title={t("Go back to version {n}", { n: back })} action={t("go back")} run={() => restore(back)} close={() => setBack(null)}>
          <p>{t("The present value stays in the history, and you can go back to it.")}</p>
        </Confirm>
      )}
      <h2>{t("history")}</h2>
      <ol class="cards">
        {(history.value?.versions ?? []).map((each) => (
          <li class="card" key={each.version}>
            <p class="facts">
              <span>{t("version {n}", { n: each.version })}</span>
              <code>{String(each.op?.["op"] ?? each.type)}</code>
              <Time at={each.at} />
              <span class="quiet">{each.actor}</span>
            </p>
            {each.quote && (
              <p>
                <Words text={each.quote} most={200} />
              </p>
            )}
            {edits && each.version < reference.version && (
              <button type="button" onClick={() => setBack(each.version)}>
                {t("go back to this version …")}
              </button>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

const EXAMPLE = '{"text": "milk"}';

function object(json: string): object | null {
  try {
    const value: unknown = JSON.parse(json);
    return value instanceof Object && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function Proposals({ user, turn, changed, edits }: { user: string; turn: number; changed: () => void; edits: boolean }) {
  const list = useLoad(() => api("get", "/v1/proposals", { query: { user_id: user, status: "waiting", limit: 100 } }), [user, turn]);
  const { problem, busy, run } = useEdit();
  const waiting = list.value?.proposals ?? [];
  if (!waiting.length) return <Notice problem={list.problem} again={list.again} />;
  const answer = async (id: string, yes: boolean) => {
    const at = { proposal_id: id };
    const body = { user_id: user };
    const sent = yes ? await run(() => api("post", "/v1/proposals/{proposal_id}/accept", { at, body })) : await run(() => api("post", "/v1/proposals/{proposal_id}/refuse", { at, body }));
    if (sent) changed();
  };
  return (
    <section>
      <h2>{t("waiting proposals ({n})", { n: waiting.length })}</h2>
      <Notice problem={problem} />
      <ul class="cards">
        {waiting.map((each) => (
          <li class="card" key={each.proposal_id}>
            <p>
              <code>{nameOf(each)}</code> <Words text={JSON.stringify(each.op)} most={300} />
            </p>
            <blockquote>
              <Words text={each.quote} most={300} />
            </blockquote>
            {edits && (
              <p class="actions">
                <button type="button" disabled={busy} onClick={() => answer(each.proposal_id, true)}>
                  {t("approve")}
                </button>
                <button type="button" disabled={busy} onClick={() => answer(each.proposal_id, false)}>
                  {t("refuse")}
                </button>
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
