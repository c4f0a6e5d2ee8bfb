/** What an operator may do: rebuild, swap and drop generations, retry and drop parked events and dead letters. */
import { useState } from "preact/hooks";
import { api, type Schemas, type Written } from "./api";
import { t } from "./texts";
import { Confirm, Field, Notice, number, Table, Time, useEdit, useLoad, usePolling, valueOf, Words } from "./ui";

type Wanted = Written["OperationIn"];

/** What waits for a confirmation: its title, what it does, and whether a reason is recorded. */
interface Asking {
  title: string;
  told: string;
  reason?: boolean;
  run: (because: string) => Promise<unknown>;
}

/** Generations, and for a key with the scope admin the actions on them, parked users, dead letters and operations. */
export function Operating({ generations, admin, every, again }: { generations: Schemas["Generation"][]; admin: boolean; every: number; again: () => void }) {
  const operations = useLoad(admin ? () => api("get", "/v1/operations", { query: { limit: 50 } }) : null, []);
  const parked = useLoad(admin ? () => api("get", "/v1/parked", { query: { limit: 50 } }) : null, []);
  const dead = useLoad(admin ? () => api("get", "/v1/dead-letters", { query: { limit: 50 } }) : null, []);
  const [asking, ask] = useState<Asking | null>(null);
  const [verify, setVerify] = useState(false);
  const edit = useEdit();
  const look = () => (operations.again(), parked.again(), dead.again());
  usePolling(every, look);
  const run = (work: () => Promise<unknown>) => edit.run(work).then(() => (look(), again()));
  const operate = (body: Wanted) => api("post", "/v1/operations", { body });
  const button = (label: string, about: string, asked: Asking | (() => Promise<unknown>)) => (
    <button type="button" disabled={edit.busy} aria-label={`${label} ${about}`} onClick={() => (typeof asked === "function" ? run(asked) : ask(asked))}>
      {label}
    </button>
  );
  const open = (operations.value?.operations ?? []).filter((each) => each.failed === null);
  return (
    <>
      {asking && (
        <Confirm
          title={asking.title}
          action={t("do it")}
          danger
          reason={asking.reason ? { required: true, maxLength: 150 } : undefined}
          run={(because) => asking.run(because).finally(() => (look(), again()))}
          close={() => ask(null)}
        >
          <p>{asking.told}</p>
        </Confirm>
      )}
      <Notice problem={edit.problem} />
      <Notice problem={operations.problem ?? parked.problem ?? dead.problem} again={look} />
      {admin && (
        <p class="actions">
          <label>
            <input type="checkbox" checked={verify} onChange={() => setVerify(!verify)} /> {t("compare before a rebuilt generation becomes live")}
          </label>
        </p>
      )}
      <Table
        caption={t("generations")}
        head={[t("projection"), t("generation"), t("status"), t("progress"), t("behind, events"), "MB", t("live since"), ...(admin ? [t("actions")] : [])]}
        rows={generations.map((each) => {
          const about = `${each.projection} ${each.number}`;
          const named = { projection: each.projection as Wanted["projection"], generation: each.number };
          return [
            each.projection,
            each.number,
            each.status,
            <progress aria-label={about} max={1} value={each.events + each.behind ? each.events / (each.events + each.behind) : 1} />,
            number(each.behind),
            number(each.bytes / 2 ** 20, 1),
            <Time at={each.live_at} />,
            admin && (<span class="actions">
              {each.status === "live" && button(t("rebuild"), about, () => operate({ action: "rebuild", projection: named.projection, verify }))}
              {each.status === "retired" && (
                <>
                  {button(t("make it live …"), about, {
                    title: t("make generation {about} live", { about }),
                    told: t("It catches up with the log, and readers notice nothing. The present one is kept."),
                    run: () => operate({ action: "swap", ...named }),
                  })}
                  {button(t("drop …"), about, {
                    title: t("drop generation {about}", { about }),
                    told: t("Its tables are removed. A rebuild makes new ones."),
                    run: () => operate({ action: "drop_generation", ...named }),
                  })}
                </>
              )}
            </span>),
          ].filter((cell) => cell !== false);
        })}
      />
      {operations.value && operations.value.operations.length > 0 && (
        <Table
          caption={t("operations ({n} not done)", { n: open.length })}
          head={[t("asked for"), t("operation"), t("of"), t("progress"), t("key")]}
          rows={operations.value.operations.map((each) => [
            <Time at={each.requested_at} />,
            each.action,
            <>
              {each.projection} {each.generation} {each.user_id && <Words text={each.user_id} most={80} />}
            </>,
            each.failed === null ? (
              <>
                <progress aria-label={`${each.action} ${each.projection}`} max={1} value={each.share} /> {each.stage ?? t("no worker has begun")}
              </>
            ) : (
              <>
                <span class={each.failed ? "status contested" : "status current"}>{t(each.failed ? "failed" : "done")}</span> <Words text={each.outcome ?? ""} most={300} />
              </>
            ),
            <code>{each.requested_by}</code>,
          ])}
        />
      )}
      {parked.value && parked.value.parked.length > 0 && (
        <Table
          caption={t("users who wait, because an event cannot be folded")}
          head={[t("user"), t("projection"), t("event"), t("reason"), t("since"), t("behind, events"), t("actions")]}
          rows={parked.value.parked.map((each) => {
            const named = { projection: each.projection as Wanted["projection"], user_id: each.user_id };
            const about = `${each.user_id} ${each.projection}`;
            return [
              <Words text={each.user_id} most={80} />,
              each.projection,
              each.type,
              <Words text={each.reason ?? ""} most={200} />,
              <Time at={each.parked_at} />,
              each.behind,
              <span class="actions">
                {button(t("retry"), about, () => operate({ action: "retry_parked", ...named }))}
                {button(t("drop …"), about, {
                  title: t("drop the first event of this user"),
                  told: t("No generation folds it, also after a rebuild. It stays in the log. The events behind it are folded."),
                  reason: true,
                  run: (because) => operate({ action: "drop_parked", ...named, event_id: each.event_id, because }),
                })}
              </span>,
            ];
          })}
        />
      )}
      {dead.value && dead.value.letters.length > 0 && (
        <>
          <h2>{t("dead letters: turns that broke the contract")}</h2>
          {dead.value.more && <p class="quiet">{t("The first {n} are shown.", { n: dead.value.letters.length })}</p>}
          <ul class="cards dead">
            {dead.value.letters.map((each) => (
              <Letter key={each.letter_id} letter={each} busy={edit.busy} run={run} ask={ask} />
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function Letter({ letter, busy, run, ask }: { letter: Written["DeadLetter"]; busy: boolean; run: (work: () => Promise<unknown>) => void; ask: (asked: Asking) => void }) {
  const [changed, set] = useState<Record<string, string>>({});
  const at = { letter_id: letter.letter_id };
  const retry = (event: Event) => {
    event.preventDefault();
    run(() => api("post", "/v1/dead-letters/{letter_id}/retry", { at, body: { changes: changed } }));
  };
  return (
    <li class="card">
      <p class="facts">
        <code>{letter.letter_id}</code> <Time at={letter.pushed_at} />
        <span class="status contested">{letter.field}</span> <Words text={letter.reason} most={300} />
      </p>
      <details>
        <summary>{t("its fields")}</summary>
        <form class="fields" onSubmit={retry}>
          {[...new Set([...Object.keys(letter.fields), letter.field])].map((name) => (
            <Field key={name} label={name}>
              <input value={changed[name] ?? letter.fields[name] ?? ""} onInput={(event) => set({ ...changed, [name]: valueOf(event) })} />
            </Field>
          ))}
          <button class="main" disabled={busy}>
            {t("push it again")}
          </button>
          <button
            type="button"
            class="danger"
            disabled={busy}
            onClick={() =>
              ask({
                title: t("drop this dead letter"),
                told: t("The latest 10,000 dropped turns are kept with their reasons."),
                reason: true,
                run: (because) => api("post", "/v1/dead-letters/{letter_id}/drop", { at, body: { because } }),
              })
            }
          >
            {t("drop …")}
          </button>
        </form>
      </details>
    </li>
  );
}
