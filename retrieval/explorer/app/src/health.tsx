/** The health of a memory: what was captured by day, facts that nobody verified for long, plans whose day has passed, contradictions that wait. */
import { useMemo } from "preact/hooks";
import { api, type Card } from "./api";
import type { Given } from "./main";
import { to } from "./route";
import { locale, t } from "./texts";
import { Busy, Empty, Notice, Time, useLoad, Words } from "./ui";

const DAY_MS = 86_400_000;
const CAPTURED_DAYS = 30;
const STALE_DAYS = 180;
const SHOWN = 20;
const SEEN = 500;

export function Health({ user }: Given) {
  const since = useMemo(() => (days: number) => new Date(Date.now() - days * DAY_MS).toISOString(), [user]);
  const everywhere = { user_id: user, project_id: ["*"] };
  const captured = useLoad(
    () =>
      api("get", "/v1/cards/aggregate", {
        query: { ...everywhere, status: ["*"], created_from: since(CAPTURED_DAYS), group_by: ["created_at"], bucket: "day", timezone: Intl.DateTimeFormat().resolvedOptions().timeZone },
      }),
    [user],
  );
  const stale = useLoad(
    () => api("get", "/v1/cards", { query: { ...everywhere, kind: ["state"], cardinality: "single_value", verified_to: since(STALE_DAYS), limit: SHOWN } }),
    [user],
  );
  const plans = useLoad(
    () => api("get", "/v1/cards", { query: { ...everywhere, kind: ["event"], status: ["*"], episode: false, occurred_to: since(0), limit: SEEN } }),
    [user],
  );
  const passed = (plans.value?.cards ?? []).filter((each) => each.time_passed);
  const open = useLoad(() => api("get", "/v1/arbitrations", { query: { user_id: user, limit: SHOWN } }), [user]);
  const days = (captured.value?.groups ?? []).map((each) => ({ at: String(each.created_at), count: Number(each.count) }));
  const most = Math.max(1, ...days.map((each) => each.count));
  const more = (page?: { next_cursor: string | null }) => page?.next_cursor && <p class="quiet">{t("The first {n} are shown.", { n: SHOWN })}</p>;
  return (
    <>
      <h1>{t("Health")}</h1>
      {[captured, stale, plans, open].map((each, index) => (
        <Notice key={index} problem={each.problem} again={each.again} />
      ))}
      {[captured, stale, plans, open].some((each) => each.busy) && <Busy />}
      <div class="two even">
        <section>
          <h2>{t("captured in the last {n} days", { n: CAPTURED_DAYS })}</h2>
          {captured.value && !days.length && <Empty>{t("No card was captured in this time. Push turns, and look at Operations when none arrive.")}</Empty>}
          {days.length > 0 && (
            <table class="captured">
              <thead>
                <tr>
                  <th scope="col">{t("day")}</th>
                  <th scope="col">{t("cards")}</th>
                </tr>
              </thead>
              <tbody>
                {days.map(({ at, count }) => (
                  <tr key={at}>
                    <th scope="row">
                      <time dateTime={at}>{new Date(at).toLocaleDateString(locale(), { dateStyle: "medium" })}</time>
                    </th>
                    <td class="wide">
                      <span class="bar" style={{ width: `${(70 * count) / most}%` }} /> {count}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </section>
        <section>
          <h2>{t("facts that nobody verified for {n} days", { n: STALE_DAYS })}</h2>
          {stale.value && !stale.value.cards.length && <p class="quiet">{t("none")}</p>}
          <Cards cards={stale.value?.cards ?? []} user={user} of="stale" told={(each) => [t("last verified"), each.last_verified]} />
          {more(stale.value)}
          <h2>{t("plans whose day has passed")}</h2>
          {plans.value && !passed.length && <p class="quiet">{t("none")}</p>}
          <Cards cards={passed.slice(0, SHOWN)} user={user} of="passed" told={(each) => [t("happened"), each.occurred_at]} />
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

function Cards({ cards, user, of, told }: { cards: Card[]; user: string; of: string; told: (card: Card) => [string, string | null | undefined] }) {
  return (
    <ul class={`cards ${of}`}>
      {cards.map((each) => {
        const [what, at] = told(each);
        return (
          <li class="card" key={each.card_id}>
            <a class="content" href={to("card", { user, id: each.card_id })}>
              <Words text={each.content} most={200} />
            </a>
            <p class="facts">
              {what} <Time at={at} zone={each.time_zone} />
            </p>
          </li>
        );
      })}
    </ul>
  );
}
