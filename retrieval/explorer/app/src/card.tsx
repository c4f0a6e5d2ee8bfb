/** One card: its words in their turn, what became of it, where it comes from, and the edits of a person. */
import { useState } from "preact/hooks";
import { api, type Card, type Schemas } from "./api";
import type { Given } from "./screen";
import { to } from "./route";
import { t, type Key } from "./texts";
import { Busy, Dialog, Field, Notice, Time, useEdit, useLoad, valueOf, Words } from "./ui";

type Edit = "correct" | "retract" | "erase" | null;

export function CardPage({ user, route, may }: Given) {
  const id = route.get("id");
  const [token, setToken] = useState("");
  const [edit, setEdit] = useState<Edit>(null);
  const at = { card_id: id };
  const query = { user_id: user, ...(token && { wait_for: token }) };
  const card = useLoad(() => api("get", "/v1/cards/{card_id}", { at, query }), [id, user, token]);
  const history = useLoad(() => api("get", "/v1/cards/{card_id}/history", { at, query }), [id, user, token]);
  const relations = useLoad(() => api("get", "/v1/cards/{card_id}/relations", { at, query }), [id, user, token]);
  const plain = useEdit();
  const done = (changed: string | null | undefined) => {
    setEdit(null);
    if (changed) setToken(changed);
  };
  const found = card.value;
  if (!found) return <>{card.busy ? <Busy /> : <Notice problem={card.problem} again={card.again} />}</>;
  const retractions = (relations.value?.relations ?? []).filter((each) => each.predicate === "retracts" && each.direction === "in" && each.event_id);
  return (
    <article>
      <h1>
        <Words text={found.content} />
      </h1>
      <Notice problem={card.problem} again={card.again} />
      <p class="facts">
        <span class={`kind ${found.kind}`}>{t(found.kind)}</span>
        <span class={`status ${found.status}`}>{t(found.status)}</span>
        <span>{found.when}</span>
        {found.aging && <span class="flag">{t("not verified for long")}</span>}
        {found.outdated && <span class="flag">{t("perhaps outdated")}</span>}
      </p>
      {may("write") && (
        <p class="actions">
          {found.status !== "retracted" && found.kind !== "reference" && (
            <>
              <button type="button" disabled={plain.busy} onClick={() => plain.run(async () => done((await api("post", "/v1/cards/{card_id}/verify", { at, body: { user_id: user } })).token))}>
                {t("still right")}
              </button>
              <button type="button" onClick={() => setEdit("correct")}>
                {t("correct …")}
              </button>
              <button type="button" onClick={() => setEdit("retract")}>
                {t("never true …")}
              </button>
            </>
          )}
          {retractions.map((each) => (
            <button
              key={each.event_id}
              type="button"
              disabled={plain.busy}
              onClick={() =>
                plain.run(async () =>
                  done(
                    (
                      await api("post", "/v1/relations/{relation_id}/withdraw", {
                        at: { relation_id: each.event_id! },
                        body: { user_id: user, reason: "restored in the explorer" },
                      })
                    ).token,
                  ),
                )
              }
            >
              {t("restore")}
            </button>
          ))}
          {found.turn_ids.length > 0 && (may("user") || may("admin")) && (
            <button type="button" class="danger" onClick={() => setEdit("erase")}>
              {t("erase its turn …")}
            </button>
          )}
        </p>
      )}
      <Notice problem={plain.problem} />
      {edit === "correct" && <Correct card={found} user={user} done={done} />}
      {edit === "retract" && <Retract cards={[found]} user={user} done={done} />}
      {edit === "erase" && <Erase card={found} user={user} done={done} />}
      <div class="two">
        <section>
          <h2>{t("the words it rests on")}</h2>
          {found.turn_ids.map((turn) => (
            <Turn key={turn} id={turn} user={user} span={found.source_span?.turn_id === turn ? found.source_span : null} />
          ))}
          <h2>{t("history of this fact")}</h2>
          <Notice problem={history.problem} again={history.again} />
          <ol class="cards">
            {(history.value?.cards ?? []).map((each) => (
              <li class="card" key={each.card_id} aria-current={each.card_id === id ? "true" : undefined}>
                <a class="content" href={to("card", { user, id: each.card_id })}>
                  <Words text={each.content} most={200} />
                </a>
                <p class="facts">
                  <span class={`status ${each.status}`}>{t(each.status)}</span>
                  <Time at={each.effective_at ?? each.occurred_at} zone={each.time_zone} />
                  {each.superseded_at && (
                    <span>
                      → <Time at={each.superseded_at} zone={each.time_zone} />
                    </span>
                  )}
                </p>
              </li>
            ))}
          </ol>
          <h2>{t("relations")}</h2>
          <a href={to("graph", { user, id })}>{t("see its graph")}</a>
          <Notice problem={relations.problem} again={relations.again} />
          {relations.value?.relations.length === 0 && <p class="quiet">{t("none")}</p>}
          <ul class="plain">
            {(relations.value?.relations ?? []).map((each) => (
              <li key={`${each.from_card}${each.to_card}${each.predicate}`}>
                {each.direction === "out" ? "→" : "←"} <code>{each.predicate}</code>{" "}
                {each.other && (
                  <a href={to("card", { user, id: each.other.card_id })}>
                    <Words text={each.other.content} most={120} />
                  </a>
                )}{" "}
                <span class="quiet">
                  {each.reason} · {each.actor}
                </span>
              </li>
            ))}
          </ul>
        </section>
        <section>
          <h2>{t("provenance")}</h2>
          <Facts card={found} />
          {may("admin") && <Readers user={user} />}
        </section>
      </div>
    </article>
  );
}

const SHOWN: [Key, (card: Card) => unknown][] = [
  ["stated by", (card) => card.speaker ?? card.provenance],
  ["confidence", (card) => card.confidence.toFixed(2)],
  ["mentions", (card) => card.mentions],
  ["entity", (card) => card.entity],
  ["concept", (card) => card.concept_key],
  ["value", (card) => card.value],
  ["tags", (card) => card.tags.join(", ")],
  ["project", (card) => card.project_id],
  ["mode", (card) => card.mode],
  ["session", (card) => card.session_id],
  ["agent", (card) => card.agent_id],
];

function Facts({ card }: { card: Card }) {
  const times: [Key, string | null | undefined][] = [
    ["said", card.said_at],
    ["happened", card.occurred_at],
    ["true from", card.effective_at],
    ["until", card.superseded_at],
    ["last verified", card.last_verified],
    ["recorded", card.created_at],
  ];
  return (
    <dl>
      {SHOWN.map(([name, of]) => {
        const value = of(card);
        return (
          value !== null &&
          value !== undefined &&
          value !== "" && (
            <>
              <dt>{t(name)}</dt>
              <dd>
                <Words text={String(value)} most={200} />
              </dd>
            </>
          )
        );
      })}
      {times.map(
        ([name, at]) =>
          at && (
            <>
              <dt>{t(name)}</dt>
              <dd>
                <Time at={at} zone={card.time_zone} />
              </dd>
            </>
          ),
      )}
    </dl>
  );
}

/** A turn as it was said, with the words of the card marked. */
export function Turn({ id, user, span }: { id: string; user: string; span?: Schemas["SourceSpan"] | null }) {
  const turn = useLoad(() => api("get", "/v1/turns/{turn_id}", { at: { turn_id: id }, query: { user_id: user } }), [id, user]);
  if (turn.problem) return <Notice problem={turn.problem} again={turn.again} />;
  if (!turn.value) return <Busy />;
  const { text, role, speaker, said_at, timezone, session_id } = turn.value;
  const start = span ? text.indexOf(span.text) : -1;
  return (
    <blockquote>
      <p class="facts">
        <b>{speaker ?? t(role)}</b> <Time at={said_at} zone={timezone} /> <span class="quiet">{session_id}</span>
      </p>
      {span && start >= 0 && text.length < 6000 ? (
        <>
          <Words text={text.slice(0, start)} most={6000} />
          <mark>
            <Words text={span.text} most={6000} />
          </mark>
          <Words text={text.slice(start + span.text.length)} most={6000} />
        </>
      ) : (
        <Words text={text} />
      )}
    </blockquote>
  );
}

function Readers({ user }: { user: string }) {
  const audit = useLoad(() => api("get", "/v1/audit", { query: { user_id: user, limit: 20 } }), [user]);
  return (
    <details>
      <summary>{t("who read this memory")}</summary>
      <Notice problem={audit.problem} again={audit.again} />
      <ul class="plain">
        {(audit.value?.entries ?? []).map((each) => (
          <li key={each.entry_id}>
            <Time at={each.at} /> · {each.operation} · {each.key_id} · {each.outcome}
          </li>
        ))}
      </ul>
    </details>
  );
}

interface Editing {
  user: string;
  done: (token?: string | null) => void;
}

function Correct({ card, user, done }: Editing & { card: Card }) {
  const of_value = card.kind === "state" && card.value !== null;
  const [text, set] = useState((of_value ? card.value : card.content) ?? "");
  const [reason, setReason] = useState("");
  const { problem, busy, run } = useEdit();
  const submit = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      const body = { user_id: user, ...(reason && { reason }), ...(of_value ? { value: text } : { content: text }) };
      done((await api("post", "/v1/cards/{card_id}/correct", { at: { card_id: card.card_id }, body })).token);
    });
  };
  return (
    <Dialog title={t("Correct this card")} close={() => done()}>
      <form onSubmit={submit}>
        <p>
          <del>
            <Words text={card.content} most={200} />
          </del>
        </p>
        <Field label={t(of_value ? "the right value" : "the right words")} wide>
          <input value={text} required onInput={(event) => set(valueOf(event))} maxLength={4000} />
        </Field>
        <Field label={t("reason")} wide>
          <input value={reason} onInput={(event) => setReason(valueOf(event))} maxLength={1000} />
        </Field>
        <p class="quiet">{t("The wrong card counts as never true. Both stay in the log, and you can restore it.")}</p>
        <Notice problem={problem} />
        <p class="actions">
          <button class="main" disabled={busy || !text.trim()}>
            {t("correct")}
          </button>
          <button type="button" onClick={() => done()}>
            {t("cancel")}
          </button>
        </p>
      </form>
    </Dialog>
  );
}

/** Retracts one card or many, after a preview. A refused card does not hold up the others. */
export function Retract({ cards, user, done }: Editing & { cards: Card[] }) {
  const [reason, setReason] = useState("");
  const [count, setCount] = useState(0);
  const [left, setLeft] = useState(cards);
  const { problem, busy, run } = useEdit();
  const turns = [...new Set(cards.flatMap((card) => card.turn_ids))].slice(0, 100);
  const said = useLoad(turns.length ? () => api("get", "/v1/cards", { query: { user_id: user, project_id: ["*"], turn_id: turns, limit: 500 } }) : null, []);
  const beside = (said.value?.cards ?? []).filter((each) => !cards.some((card) => card.card_id === each.card_id));
  const submit = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      let token = "";
      let failed: unknown;
      const refused: Card[] = [];
      for (const [index, card] of left.entries()) {
        try {
          const body = { user_id: user, ...(reason && { reason }) };
          token = (await api("post", "/v1/cards/{card_id}/retract", { at: { card_id: card.card_id }, body })).token;
        } catch (error) {
          failed = error;
          refused.push(card);
        }
        setCount(index + 1);
      }
      setLeft(refused);
      if (failed) throw failed;
      done(token);
    });
  };
  return (
    <Dialog title={t("Forget {n} cards", { n: left.length })} close={() => done()}>
      <form onSubmit={submit}>
        <p>{t("These cards will count as never true. An earlier value of a fact holds again. You can restore each card.")}</p>
        <ul class="plain preview" tabIndex={0}>
          {left.slice(0, 100).map((card) => (
            <li key={card.card_id}>
              <Words text={card.content} most={120} />
            </li>
          ))}
        </ul>
        {beside.length > 0 && (
          <>
            <p>{t("These cards of the same turns stay. Erase the turn on the page of a card to remove all of them.")}</p>
            <ul class="plain preview beside" tabIndex={0}>
              {beside.map((card) => (
                <li key={card.card_id}>
                  <a href={to("card", { user, id: card.card_id })}>
                    <Words text={card.content} most={120} />
                  </a>
                </li>
              ))}
            </ul>
          </>
        )}
        <Field label={t("reason")} wide>
          <input value={reason} onInput={(event) => setReason(valueOf(event))} maxLength={1000} />
        </Field>
        <Notice problem={problem} />
        <p class="actions">
          <button class="main danger" disabled={busy}>
            {busy ? `${count} / ${left.length}` : t("forget")}
          </button>
          <button type="button" onClick={() => done()}>
            {t("cancel")}
          </button>
        </p>
      </form>
    </Dialog>
  );
}

/** Erasure destroys words for good, so the preview comes from the service. */
function Erase({ card, user, done }: Editing & { card: Card }) {
  const turn = card.turn_ids[0]!;
  const at = { turn_id: turn };
  const plan = useLoad(() => api("delete", "/v1/turns/{turn_id}", { at, query: { user_id: user, dry_run: true } }), [turn]);
  const { problem, busy, run } = useEdit();
  return (
    <Dialog title={t("Erase a turn for good")} close={() => done()}>
      <Turn id={turn} user={user} />
      {plan.busy && <Busy />}
      <Notice problem={plan.problem ?? problem} />
      {plan.value && (
        <>
          <p>{t("This destroys the turn and everything that was made of it. Nobody can bring it back.")}</p>
          <ul class="plain">
            {Object.entries(plan.value.counts).map(([name, count]) => (
              <li key={name}>
                {name}: {count}
              </li>
            ))}
          </ul>
        </>
      )}
      <p class="actions">
        <button
          type="button"
          class="main danger"
          disabled={busy || !plan.value}
          onClick={async () => {
            if (await run(() => api("delete", "/v1/turns/{turn_id}", { at, query: { user_id: user } }))) location.hash = to("memory", { user });
          }}
        >
          {t("erase")}
        </button>
        <button type="button" onClick={() => done()}>
          {t("cancel")}
        </button>
      </p>
    </Dialog>
  );
}
