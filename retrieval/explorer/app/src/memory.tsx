/** Memory: all cards of a filter, page by page, and edits of one or many. */
import { useEffect, useRef, useState } from "preact/hooks";
import { api, type Card, type Problem } from "./api";
import { Retract, Standing } from "./card";
import type { Given } from "./screen";
import { to, useAddressForm, type Route } from "./route";
import { t } from "./texts";
import { asProblem, Busy, Empty, Field, Notice, Rows, toInstant, toLocal, useLoad, valueOf, Words } from "./ui";

const FILTERS = ["kind", "status", "project", "mode", "session", "concept", "tag", "as_of"] as const;
const KINDS = ["state", "event", "knowledge"] as const;
const STATUSES = ["current", "future", "superseded", "contested", "retracted"] as const;
const PAGE = 100;
const BULK = 500;

export function Memory({ user, route, mayTakeBack, session }: Given) {
  const [token, setToken] = useState("");
  const [forgetting, setForgetting] = useState(false);
  const [chosen, choose] = useState<Map<string, Card>>(new Map());
  const words = route.get("q");
  const query = {
    user_id: user,
    ...(token && { wait_for: token }),
    kind: KINDS.filter((each) => each === route.get("kind")),
    status: STATUSES.filter((each) => each === (route.get("status") || "current")),
    project_id: [route.get("project") || "*"],
    mode: route.get("mode") ? [route.get("mode")] : [],
    session_id: route.get("session") ? [route.get("session")] : [],
    concept_key: route.get("concept") ? [route.get("concept")] : [],
    tag: route.get("tag") ? [route.get("tag")] : [],
    as_of: route.get("as_of") || undefined,
  };
  if (route.get("status") === "all") query.status = [...STATUSES];
  const key = JSON.stringify([query, words]);
  const list = usePages(key, async (cursor) => {
    if (!words) return api("get", "/v1/cards", { query: { ...query, limit: PAGE, ...(cursor && { cursor }) } });
    const answer = await api("post", "/v1/recall", {
      body: { user_id: user, query: words, k: 200, explain: !session.modes, project_id: route.get("project") || "*", mode: route.get("mode") || null, ...(query.kind.length && { kinds: query.kind }) },
    });
    return { cards: answer.cards.map((card) => ({ ...card, status: card.superseded_at ? "superseded" : "current" }) as Card), next_cursor: null };
  });
  const total = useLoad(words ? null : () => api("get", "/v1/cards/aggregate", { query: { ...query, group_by: ["kind"] } }), [key]);
  useEffect(() => choose(new Map()), [key]);
  const free = list.cards.filter(mayTakeBack);
  const toggle = (card: Card) => {
    const next = new Map(chosen);
    if (!next.delete(card.card_id)) next.set(card.card_id, card);
    choose(next);
  };
  return (
    <div class="full">
      <Filter route={route} />
      <p class="facts" role="status">
        {total.value && <span>{t("{n} [card|cards]", { n: total.value.total })}</span>}
        {words && !list.busy && <span>{t("{n} [card|cards]", { n: list.cards.length })}</span>}
        {free.length > 0 && (
          <>
            <button type="button" onClick={() => choose(chosen.size ? new Map() : new Map(free.slice(0, BULK).map((each) => [each.card_id, each])))}>
              {chosen.size ? t("choose none") : t("choose all {n} loaded", { n: Math.min(BULK, free.length) })}
            </button>
            <button type="button" class="danger" disabled={!chosen.size} onClick={() => setForgetting(true)}>
              {t("forget {n} …", { n: chosen.size })}
            </button>
          </>
        )}
      </p>
      <Notice problem={list.problem} again={list.again} />
      {forgetting && (
        <Retract
          cards={[...chosen.values()]}
          user={user}
          done={setToken}
          close={() => (setForgetting(false), list.again())}
        />
      )}
      {!list.busy && !list.problem && !list.cards.length && (
        <Empty>
          {Object.keys(route.all).some((name) => name !== "user")
            ? t("No card fits this filter. Take a part of it away.")
            : t("Nothing is remembered of {user}. Is the name right? A turn begins a memory: cardlog push, or POST /v1/turns.", { user })}
        </Empty>
      )}
      {list.cards.length > 0 && (
        <Rows
          label={t("cards")}
          items={list.cards}
          height={72}
          more={list.more}
          row={(card) => (
            <div class={`row ${card.status}`}>
              {mayTakeBack(card) && <input type="checkbox" checked={chosen.has(card.card_id)} onChange={() => toggle(card)} aria-label={t("choose: {text}", { text: card.content.slice(0, 80) })} />}
              <a href={to("card", { user, id: card.card_id })}>
                <Words text={card.content.slice(0, 240)} most={240} />
                <small>
                  <Standing card={card} />
                </small>
              </a>
            </div>
          )}
        />
      )}
      {list.busy && <Busy />}
    </div>
  );
}

function Filter({ route }: { route: Route }) {
  const { form, put, submit } = useAddressForm("memory", route);
  const text = (name: string) => ({ value: form[name] ?? "", onInput: (event: Event) => put(name, valueOf(event)), onChange: submit });
  const pick = (name: string, usual: string) => ({ value: form[name] || usual, onChange: (event: Event) => (put(name, valueOf(event)), submit()) });
  return (
    <form class="panel" onSubmit={submit} role="search">
      <Field label={t("search by meaning and words")} wide>
        <input {...text("q")} type="search" maxLength={2000} />
      </Field>
      <button class="main">{t("search")}</button>
      <details class="wide" open={FILTERS.some(route.get)}>
        <summary>{t("filter")}</summary>
        <div class="fields">
          <Field label={t("kind")}>
            <select {...pick("kind", "")}>
              <option value="">{t("all")}</option>
              {KINDS.map((each) => (
                <option key={each} value={each}>
                  {t(each)}
                </option>
              ))}
            </select>
          </Field>
          <Field label={t("status")}>
            <select {...pick("status", "current")}>
              {STATUSES.map((each) => (
                <option key={each} value={each}>
                  {t(each)}
                </option>
              ))}
              <option value="all">{t("all")}</option>
            </select>
          </Field>
          <Field label={t("project")}>
            <input {...text("project")} />
          </Field>
          <Field label={t("mode")}>
            <input {...text("mode")} />
          </Field>
          <Field label={t("session")}>
            <input {...text("session")} />
          </Field>
          <Field label={t("concept")}>
            <input {...text("concept")} />
          </Field>
          <Field label={t("tag")}>
            <input {...text("tag")} />
          </Field>
          <Field label={t("what was true at")} hint="valid time">
            <input type="datetime-local" value={toLocal(form["as_of"] ?? "")} onInput={(event) => put("as_of", toInstant(valueOf(event)))} onChange={submit} />
          </Field>
        </div>
      </details>
    </form>
  );
}

interface Page {
  cards: Card[];
  next_cursor: string | null;
}

/** Loads pages one after the other, and begins again when `key` changes. */
function usePages(key: string, load: (cursor: string | null) => Promise<Page>) {
  const [state, set] = useState<{ cards: Card[]; next: string | null; busy: boolean; problem?: Problem }>({ cards: [], next: null, busy: true });
  const [turn, setTurn] = useState(0);
  const current = useRef("");
  const loading = useRef(false);
  const fetchPage = async (cursor: string | null) => {
    const mine = current.current;
    loading.current = true;
    try {
      const page = await load(cursor);
      if (mine === current.current)
        set((before) => ({ cards: cursor ? [...before.cards, ...page.cards] : page.cards, next: page.next_cursor, busy: false }));
    } catch (error) {
      if (mine === current.current) set((before) => ({ ...before, next: null, busy: false, problem: asProblem(error) }));
    } finally {
      if (mine === current.current) loading.current = false;
    }
  };
  useEffect(() => {
    current.current = `${key} ${turn}`;
    set({ cards: [], next: null, busy: true });
    void fetchPage(null);
  }, [key, turn]);
  return {
    ...state,
    more: () => {
      if (state.next && !loading.current) void fetchPage(state.next);
    },
    again: () => setTurn(turn + 1),
  };
}
