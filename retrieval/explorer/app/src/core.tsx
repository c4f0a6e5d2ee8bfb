/** The core document: its values with their sources, what changed, the way back, and the patches that wait. */
import { useState } from "preact/hooks";
import { api, type Schemas, type Written } from "./api";
import type { Given } from "./screen";
import { go } from "./route";
import { t } from "./texts";
import { Busy, Confirm, Empty, Field, Notice, Time, useEdit, useLoad, valueOf, Words } from "./ui";

type Patch = Schemas["MemoryChange"]["patch"];

export function Core({ user, route, may }: Given) {
  const [turn, again] = useState(0);
  const [back, setBack] = useState<number | null>(null);
  const at = { user_id: user };
  const version = Number(route.get("version")) || undefined;
  const document = useLoad(() => api("get", "/v1/memory/{user_id}", { at, query: { version } }), [user, version, turn]);
  const history = useLoad(() => api("get", "/v1/memory/{user_id}/history", { at, query: { limit: 100 } }), [user, turn]);
  const current = history.value?.changes[0]?.version ?? 0;
  const diff = useLoad(
    version && current > version ? () => api("get", "/v1/memory/{user_id}/diff", { at, query: { from: version, to: current } }) : null,
    [user, version, current],
  );
  const values = valuesOf(document.value?.document);
  return (
    <>
      <Queue user={user} turn={turn} changed={() => again(turn + 1)} edits={may("write")} approves={may("write") && may("user")} />
      <div class="two even">
        <section>
          <h2>{document.value ? t("version {n}", { n: document.value.version }) : ""}</h2>
          {version && (
            <p>
              <button type="button" onClick={() => go("core", { user })}>
                {t("the present version")}
              </button>
            </p>
          )}
          <Notice problem={document.problem} again={document.again} />
          {document.busy && <Busy />}
          {document.value && !values.length && <Empty>{t("The document holds no value yet. Turns with facts about the user fill it.")}</Empty>}
          <dl class="values">
            {values.map(([path, value]) => (
              <>
                <dt>
                  <code>{path}</code>
                </dt>
                <dd>
                  <Words text={value} most={300} />
                </dd>
              </>
            ))}
          </dl>
          {diff.value && (
            <>
              <h2>{t("changed since then")}</h2>
              <ul class="plain">
                {diff.value.lines.map((line) => (
                  <li key={line}>
                    <Words text={line} most={300} />
                  </li>
                ))}
              </ul>
            </>
          )}
        </section>
        <section>
          <h2>{t("changes")}</h2>
          <Notice problem={history.problem} again={history.again} />
          <ol class="cards">
            {(history.value?.changes ?? []).map((change) => (
              <li class="card" key={change.event_id} aria-current={change.version === (version ?? current) ? "true" : undefined}>
                <p class="facts">
                  <button type="button" class="link" onClick={() => go("core", { user, version: String(change.version) })}>
                    {t("version {n}", { n: change.version })}
                  </button>
                  <Time at={change.at} />
                  <span>{change.kind}</span>
                  <span class="quiet">
                    {change.actor} · {change.trust}
                  </span>
                </p>
                <Ops patch={change.patch} />
                {change.rationale && (
                  <p class="quiet">
                    <Words text={change.rationale} most={200} />
                  </p>
                )}
                {may("write") && may("user") && change.version < current && (
                  <button type="button" onClick={() => setBack(change.version)}>
                    {t("go back to this version …")}
                  </button>
                )}
              </li>
            ))}
          </ol>
        </section>
      </div>
      {back !== null && (
        <Rollback
          user={user}
          version={back}
          done={() => again(turn + 1)}
          close={() => setBack(null)}
        />
      )}
    </>
  );
}

/** The values of a document that are not empty, by their pointers. */
function valuesOf(value: unknown, path = ""): [string, string][] {
  if (path === "/_meta" || value === null || value === undefined) return [];
  if (typeof value !== "object") return [[path, String(value)]];
  return Object.entries(value).flatMap(([name, each]) => valuesOf(each, `${path}/${name.replace(/~/g, "~0").replace(/\//g, "~1")}`));
}

function Ops({ patch }: { patch: Patch }) {
  return (
    <ul class="plain">
      {patch.slice(0, 20).map((op, index) => (
        <li key={index}>
          <code>{String(op["op"])}</code> <code>{String(op["path"])}</code> {op["value"] !== undefined && <Words text={JSON.stringify(op["value"])} most={200} />}
        </li>
      ))}
    </ul>
  );
}

function Rollback({ user, version, done, close }: { user: string; version: number; done: () => void; close: () => void }) {
  const at = { user_id: user };
  const body = { to_version: version, actor: "user" as const };
  const plan = useLoad<Written["MemoryRolledBack"]>(() => api("post", "/v1/memory/{user_id}/rollback", { at, body: { ...body, dry_run: true } }), [version]);
  const back = async () => (await api("post", "/v1/memory/{user_id}/rollback", { at, body: { ...body, dry_run: false } }), done());
  return (
    <Confirm title={t("Go back to version {n}", { n: version })} action={t("go back")} ready={plan.value?.conflicts.length === 0} run={back} close={close}>
      {plan.busy && <Busy />}
      <Notice problem={plan.problem} />
      {plan.value && (
        <>
          <p>{t("{n} [change is|changes are] left out. Nothing is lost: a further change brings them back.", { n: plan.value.event_ids.length })}</p>
          <Ops patch={plan.value.patch} />
          {plan.value.conflicts.map((each) => (
            <p class="notice" key={`${each.event_id}${each.op}`}>
              {each.path}: {each.reason}
            </p>
          ))}
        </>
      )}
    </Confirm>
  );
}

function Queue({ user, turn, changed, edits, approves }: { user: string; turn: number; changed: () => void; edits: boolean; approves: boolean }) {
  const queue = useLoad(() => api("get", "/v1/memory/{user_id}/queue", { at: { user_id: user } }), [user, turn]);
  const [reason, setReason] = useState("");
  const { problem, busy, run } = useEdit();
  const open = (queue.value?.entries ?? []).filter((each) => each.status === "open");
  if (!open.length) return <Notice problem={queue.problem} again={queue.again} />;
  const answer = async (id: string, yes: boolean) => {
    const at = { user_id: user, queue_id: id };
    const body = reason.trim() ? { reason } : {};
    const sent = yes
      ? await run(() => api("post", "/v1/memory/{user_id}/queue/{queue_id}/approve", { at, body }))
      : await run(() => api("post", "/v1/memory/{user_id}/queue/{queue_id}/refuse", { at, body }));
    if (sent) changed();
  };
  return (
    <section>
      <h2>{t("waiting patches ({n})", { n: open.length })}</h2>
      <Notice problem={problem} />
      {edits && (
        <Field label={t("reason")} wide>
          <input value={reason} onInput={(event) => setReason(valueOf(event))} maxLength={1000} />
        </Field>
      )}
      <ul class="cards">
        {open.map((each) => (
          <li class="card" key={each.queue_id}>
            <Ops patch={each.patch} />
            <p>
              <Words text={each.reason} most={300} />
            </p>
            {edits && (
              <p class="actions">
                {approves && (
                  <button type="button" disabled={busy} onClick={() => answer(each.queue_id, true)}>
                    {t("approve")}
                  </button>
                )}
                <button type="button" disabled={busy} onClick={() => answer(each.queue_id, false)}>
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
