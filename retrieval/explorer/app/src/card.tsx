/** One card: its words in their turn, what became of it, where it comes from, and the edits of a person. */
import { useState } from "preact/hooks";
import { api, cardsOf, type Card, type Recalled, type Schemas } from "./api";
import type { Given } from "./screen";
import { go, to } from "./route";
import { t, type Key } from "./texts";
import { Busy, Confirm, Field, Heading, inWords, Notice, tell, Time, useEdit, useLoad, valueOf, Words } from "./ui";

type Edit = "correct" | "retract" | "erase" | null;

export function CardPage({ user, route, may, mayTakeBack }: Given) {
  const id = route.get("id");
  const [token, setToken] = useState("");
  const [edit, setEdit] = useState<Edit>(null);
  const at = { card_id: id };
  const query = { user_id: user, ...(token && { wait_for: token }) };
  const card = useLoad(() => api("get", "/v1/cards/{card_id}", { at, query }), [id, user, token]);
  const history = useLoad(() => api("get", "/v1/cards/{card_id}/history", { at, query }), [id, user, token]);
  const relations = useLoad(() => api("get", "/v1/cards/{card_id}/relations", { at, query }), [id, user, token]);
  const plain = useEdit();
  const close = () => setEdit(null);
  const found = card.value;
  if (!found) return <>{card.busy ? <Busy /> : <Notice problem={card.problem} again={card.again} />}</>;
  const retractions = (relations.value?.relations ?? []).filter((each) => each.predicate === "retracts" && each.direction === "in" && each.event_id);
  return (
    <article>
      <Heading title={found.content} />
      <Notice problem={card.problem} again={card.again} />
      <p class="facts">
        {found.status === "current" && <span class="status current">{t("current")}</span>}
        <Standing card={found} />
      </p>
      {may("write") && (
        <p class="actions">
          {found.status !== "retracted" && found.kind !== "reference" && (
            <>
              <button type="button" disabled={plain.busy} onClick={() => plain.run(async () => setToken((await api("post", "/v1/cards/{card_id}/verify", { at, body: { user_id: user } })).token))}>
                {t("still right")}
              </button>
              {mayTakeBack(found) && (
                <>
                  <button type="button" onClick={() => setEdit("correct")}>
                    {t("correct …")}
                  </button>
                  <button type="button" onClick={() => setEdit("retract")}>
                    {t("never true …")}
                  </button>
                </>
              )}
            </>
          )}
          {(may("user") ? retractions : []).map((each) => (
            <button
              key={each.event_id}
              type="button"
              disabled={plain.busy}
              onClick={() =>
                plain.run(async () =>
                  setToken(
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
              {t("erase what was said …")}
            </button>
          )}
        </p>
      )}
      <Notice problem={plain.problem} />
      {edit === "correct" && <Correct card={found} user={user} done={setToken} close={close} />}
      {edit === "retract" && <Retract cards={[found]} user={user} done={setToken} close={close} />}
      {edit === "erase" && <Erase card={found} user={user} close={close} />}
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
                {each.direction === "out" ? "→" : "←"} <code>{t(each.predicate)}</code>{" "}
                {each.other && (
                  <a href={to("card", { user, id: each.other.card_id })}>
                    <Words text={each.other.content} most={120} />
                  </a>
                )}{" "}
                <span class="quiet" lang="en">
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

/** What stands beside a card wherever it is shown: its kind, its times, who said it, and what makes it doubtful. */
export function Standing({ card }: { card: Card | Recalled }) {
  const status = "status" in card ? card.status : card.superseded_at && "superseded";
  const plan = card.event_status;
  const flags: [unknown, Key][] = [
    ["pending" in card && card.pending, "not projected yet"],
    ["perhaps_no_longer" in card && card.perhaps_no_longer, "perhaps no longer true"],
    [plan && plan !== "happened", card.time_passed ? "planned, and its time has passed" : (plan ?? "planned")],
    [card.aging, "not verified for long"],
    [card.outdated, "perhaps outdated"],
    [card.provenance !== "user_stated", card.provenance],
  ];
  return (
    <>
      <span class={`kind ${card.kind}`}>{t(card.kind)}</span>
      {status && status !== "current" && <span class={`status ${status}`}>{t(status)}</span>}
      <span>{inWords(card.when)}</span>
      {card.speaker && (
        <span>
          {t("by")} <Words text={card.speaker} most={80} />
        </span>
      )}
      {flags.map(
        ([set, name]) =>
          set && (
            <span key={name} class="flag">
              {t(name)}
            </span>
          ),
      )}
    </>
  );
}

const SHOWN: [Key, (card: Card) => unknown][] = [
  ["stated by", (card) => card.speaker ?? t(card.provenance)],
  ["confidence", (card) => card.confidence.toFixed(2)],
  ["times said", (card) => card.mentions],
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
  const times: [Key, string | false | null | undefined][] = [
    ["said", card.said_at],
    ["happened", card.occurred_at],
    ["true from", card.effective_at],
    ["until", card.status !== "retracted" && card.superseded_at],
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
  done: (token: string) => void;
  close: () => void;
}

function Correct({ card, user, done, close }: Editing & { card: Card }) {
  const of_value = card.kind === "state" && card.value !== null;
  const [text, set] = useState((of_value ? card.value : card.content) ?? "");
  const correct = async (reason: string) => {
    const body = { user_id: user, ...(reason && { reason }), ...(of_value ? { value: text } : { content: text }) };
    done((await api("post", "/v1/cards/{card_id}/correct", { at: { card_id: card.card_id }, body })).token);
  };
  return (
    <Confirm title={t("Correct this card")} action={t("correct")} reason={{ maxLength: 1000 }} ready={Boolean(text.trim())} run={correct} close={close}>
      <p>
        <del>
          <Words text={card.content} most={200} />
        </del>
      </p>
      <Field label={t(of_value ? "the right value" : "the right words")} wide>
        <input value={text} required onInput={(event) => set(valueOf(event))} maxLength={4000} />
      </Field>
      <p class="quiet">{t("The wrong card counts as never true. Both stay in the log, and you can restore it.")}</p>
    </Confirm>
  );
}

/** Retracts one card or many, after a preview. A refused card does not hold up the others. */
export function Retract({ cards, user, done, close }: Editing & { cards: Card[] }) {
  const [all] = useState(cards);
  const [count, setCount] = useState(0);
  const turns = [...new Set(all.flatMap((card) => card.turn_ids))].slice(0, 100);
  const said = useLoad(turns.length ? () => api("get", "/v1/cards", { query: { user_id: user, project_id: ["*"], turn_id: turns, limit: 500 } }) : null, []);
  const beside = (said.value?.cards ?? []).filter((each) => !all.some((card) => card.card_id === each.card_id));
  const retract = async (reason: string) => {
    let token = "";
    const failed: unknown[] = [];
    for (const [index, card] of all.entries()) {
      try {
        const body = { user_id: user, ...(reason && { reason }) };
        token = (await api("post", "/v1/cards/{card_id}/retract", { at: { card_id: card.card_id }, body })).token;
      } catch (error) {
        failed.push(error);
      }
      setCount(index + 1);
    }
    if (token) (done(token), tell(t("{n} [card is|cards are] forgotten. You can restore each card.", { n: all.length - failed.length })));
    setCount(0);
    if (failed.length) throw failed[0];
  };
  return (
    <Confirm
      title={t("Forget {n} [card|cards]", { n: all.length })}
      action={count ? `${count} / ${all.length}` : t("forget")}
      danger
      reason={{ maxLength: 1000 }}
      run={retract}
      close={close}
    >
      <p>{t("These cards will count as never true. An earlier value of a fact holds again. You can restore each card.")}</p>
      <Contents cards={all} />
      <Contents title={t("These cards of the same turns stay. Erase the turn on the page of a card to remove all of them.")} cards={beside} />
    </Confirm>
  );
}

const Contents = ({ title, cards }: { title?: string; cards: Card[] }) =>
  cards.length > 0 ? (
    <>
      {title && <h3>{title}</h3>}
      <ul class="plain preview" tabIndex={0}>
        {cards.slice(0, 100).map((card) => (
          <li key={card.card_id}>
            <Words text={card.content} most={120} />
          </li>
        ))}
      </ul>
    </>
  ) : null;

/** What an erasure of a turn counts, in words. The other counts are of what makes these quick to find. */
const COUNTED: [string, Key][] = [
  ["turns", "{n} [turn|turns]"],
  ["cards.cards", "{n} [card|cards]"],
  ["core.changes", "{n} [change|changes] of the core document"],
];
const PREVIEWED = 50;

/** Erasure destroys words for good, so the preview comes from the service. A card that other turns say, too, stays. */
function Erase({ card, user, close }: Omit<Editing, "done"> & { card: Card }) {
  const [turn, choose] = useState(card.turn_ids[0]!);
  const at = { turn_id: turn };
  const plan = useLoad(async () => {
    const ids = await cardsOf(turn, user);
    const [would, ...made] = await Promise.all([
      api("delete", "/v1/turns/{turn_id}", { at, query: { user_id: user, dry_run: true } }),
      ...ids.slice(0, PREVIEWED).map((card_id) => api("get", "/v1/cards/{card_id}", { at: { card_id }, query: { user_id: user } })),
    ]);
    const alone = made.filter((each) => each.turn_ids.length === 1);
    // The preview names the cards that go only where the service counts as many.
    const sure = alone.length === (would.counts["cards.cards"] ?? 0);
    return { counts: would.counts, cut: ids.length > PREVIEWED, go: sure ? alone : made, stay: sure ? made.filter((each) => !alone.includes(each)) : [], sure };
  }, [turn]);
  const erase = async () => {
    const receipt = await api("delete", "/v1/turns/{turn_id}", { at, query: { user_id: user } });
    go("memory", { user });
    tell(t("What was said is erased. The receipt is {id}.", { id: receipt.erasure_id ?? "" }));
  };
  const found = plan.busy ? undefined : plan.value;
  return (
    <Confirm title={t("Erase what was said, for good")} action={t("erase")} danger ready={Boolean(found)} run={erase} close={close}>
      {card.turn_ids.map((id) => (
        <label class="choice" key={id}>
          {card.turn_ids.length > 1 && <input type="radio" name="turn" checked={id === turn} onChange={() => choose(id)} />}
          <Turn id={id} user={user} />
        </label>
      ))}
      {plan.busy && <Busy />}
      <Notice problem={plan.problem} />
      {found && (
        <>
          <p>{t("This destroys the turn and everything that was made of it. Nobody can bring it back.")}</p>
          <p class="facts">
            {COUNTED.map(([name, key]) => found.counts[name] && <span key={name}>{t(key, { n: found.counts[name] })}</span>)}
          </p>
          <Contents title={t(found.sure ? "These cards go:" : "Of these cards, some go:")} cards={found.go} />
          <Contents title={t("These cards stay, because other turns say the same:")} cards={found.stay} />
          {found.cut && <p class="quiet">{t("The first {n} are shown.", { n: PREVIEWED })}</p>}
        </>
      )}
    </Confirm>
  );
}
