/** The health of a memory: what was captured and recalled by day, most and never, what is stale, plans whose day has passed, contradictions. */
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { api, type Card } from "./api";
import type { Given } from "./screen";
import { to } from "./route";
import { locale, t } from "./texts";
import { Busy, Empty, Notice, Time, useLoad, Words } from "./ui";

const DAY_MS = 86_400_000;
const CAPTURED_DAYS = 30;
const STALE_DAYS = 180;
const FRESH_DAYS = 7;
const SHOWN = 20;
const SEEN = 500;

const dayOf = (day: string) => new Date(day).toLocaleDateString(locale(), { dateStyle: "medium", timeZone: "UTC" });

const told = (what: "last verified" | "planned for" | "recorded", card: Card, at?: string | null) => (
  <>
    {t(what)} <Time at={at} zone={card.time_zone} />
  </>
);

export function Health({ user }: Given) {
  const since = useMemo(() => (days: number) => new Date(Date.now() - days * DAY_MS).toISOString(), [user]);
  const everywhere = { user_id: user, project_id: ["*"] };
  const captured = useLoad(
    () =>
      api("get", "/v1/cards/aggregate", {
        query: { ...everywhere, status: ["*"], created_from: since(CAPTURED_DAYS), group_by: ["created_at"], bucket: "day", timezone: "UTC" },
      }),
    [user],
  );
  const used = useLoad(() => api("get", "/v1/cards/use", { query: { user_id: user, limit: SHOWN, days: CAPTURED_DAYS } }), [user]);
  const never = useLoad(
    () => api("get", "/v1/cards", { query: { ...everywhere, recalled: false, created_to: since(FRESH_DAYS), limit: SHOWN } }),
    [user],
  );
  const stale = useLoad(
    () => api("get", "/v1/cards", { query: { ...everywhere, kind: ["state"], cardinality: "single_value", verified_to: since(STALE_DAYS), limit: SHOWN } }),
    [user],
  );
  const plans = useLoad(
    () => api("get", "/v1/cards", { query: { ...everywhere, kind: ["event"], episode: false, occurred_to: since(0), limit: SEEN } }),
    [user],
  );
  const passed = (plans.value?.cards ?? []).filter((each) => each.time_passed);
  const open = useLoad(() => api("get", "/v1/arbitrations", { query: { user_id: user, limit: SHOWN } }), [user]);
  const counts = new Map<string, [captured: number, recalled: number]>();
  for (const each of captured.value?.groups ?? []) counts.set(String(each.created_at).slice(0, 10), [Number(each.count), 0]);
  for (const each of used.value?.days ?? []) counts.set(each.day, [counts.get(each.day)?.[0] ?? 0, each.cards]);
  const days = [...counts].sort();
  const most = Math.max(1, ...days.flatMap(([, both]) => both));
  const bar = (count: number, of: string) => (
    <td class="wide">
      <span class={`bar ${of}`} style={{ width: `${(60 * count) / most}%` }} /> {count}
    </td>
  );
  const more = (page?: { next_cursor: string | null }) => page?.next_cursor && <p class="quiet">{t("The first {n} are shown.", { n: SHOWN })}</p>;
  return (
    <>
      {[captured, used, never, stale, plans, open].map((each, index) => (
        <Notice key={index} problem={each.problem} again={each.again} />
      ))}
      {[captured, used, never, stale, plans, open].some((each) => each.busy) && <Busy />}
      <div class="two even">
        <section>
          <h2>{t("captured and recalled in the last {n} days", { n: CAPTURED_DAYS })}</h2>
          {captured.value && !days.length && <Empty>{t("No card was captured in this time. Push turns, and look at Operations when none arrive.")}</Empty>}
          {days.length > 0 && (
            <table class="captured">
              <thead>
                <tr>
                  <th scope="col">{t("day")} (UTC)</th>
                  <th scope="col">{t("captured")}</th>
                  <th scope="col">{t("recalled")}</th>
                </tr>
              </thead>
              <tbody>
                {days.map(([at, [kept, recalled]]) => (
                  <tr key={at}>
                    <th scope="row">
                      <time dateTime={at}>{dayOf(at)}</time>
                    </th>
                    {bar(kept, "kept")}
                    {bar(recalled, "recalled")}
                  </tr>
                ))}
              </tbody>
            </table>
          )}
          <h2>{t("most recalled")}</h2>
          {used.value && !used.value.cards.length && <p class="quiet">{t("none")}</p>}
          <Cards
            cards={(used.value?.cards ?? []).map((each) => each.card)}
            user={user}
            of="used"
            told={(card) => {
              const found = used.value?.cards.find((each) => each.card.card_id === card.card_id);
              return `${t("answers: {n}, last on", { n: found?.uses ?? 0 })} ${dayOf(found?.last_day ?? "")}`;
            }}
          />
          <h2>{t("never recalled, and recorded more than {n} days ago", { n: FRESH_DAYS })}</h2>
          {never.value && !never.value.cards.length && <p class="quiet">{t("none")}</p>}
          <Cards cards={never.value?.cards ?? []} user={user} of="never" told={(each) => told("recorded", each, each.created_at)} />
          {more(never.value)}
        </section>
        <section>
          <h2>{t("facts that nobody verified for {n} days", { n: STALE_DAYS })}</h2>
          {stale.value && !stale.value.cards.length && <p class="quiet">{t("none")}</p>}
          <Cards cards={stale.value?.cards ?? []} user={user} of="stale" told={(each) => told("last verified", each, each.last_verified)} />
          {more(stale.value)}
          <h2>{t("plans whose day has passed")}</h2>
          {plans.value && !passed.length && <p class="quiet">{t("none")}</p>}
          <Cards cards={passed.slice(0, SHOWN)} user={user} of="passed" told={(each) => told("planned for", each, each.occurred_at)} />
          {passed.length > SHOWN && <p class="quiet">{t("The first {n} are shown.", { n: SHOWN })}</p>}
          <h2>{t("contradictions that wait for a verdict")}</h2>
          {open.value && !open.value.arbitrations.length && <p class="quiet">{t("none")}</p>}
          {open.value && open.value.arbitrations.length > 0 && (
            <p>
              <a class="waiting" href={to("arbitration", { user })}>
                {t("settle {n} of them", { n: open.value.arbitrations.length })}
              </a>
            </p>
          )}
          {more(open.value)}
        </section>
      </div>
    </>
  );
}

function Cards({ cards, user, of, told }: { cards: Card[]; user: string; of: string; told: (card: Card) => ComponentChildren }) {
  return (
    <ul class={`cards ${of}`}>
      {cards.map((each) => (
        <li class="card" key={each.card_id}>
          <a class="content" href={to("card", { user, id: each.card_id })}>
            <Words text={each.content} most={200} />
          </a>
          <p class="facts">{told(each)}</p>
        </li>
      ))}
    </ul>
  );
}
