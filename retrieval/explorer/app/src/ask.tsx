/** Ask: the cards of an answer with every reason of their places, what just missed, and the prompt beside them. */
import { api, type Recalled, type Schemas } from "./api";
import { Standing } from "./card";
import type { Given } from "./screen";
import { to, useAddressForm, type Route } from "./route";
import { t, TABLE, type Key } from "./texts";
import { Busy, Empty, Field, Notice, toInstant, toLocal, useLoad, valueOf, Words } from "./ui";

interface Place {
  place: number | null;
  card_id: string;
  content: string | null;
  contributions: Record<string, number>;
  score: number | null;
  left_out: string | null;
}

export function Ask({ user, route, session }: Given) {
  const asked = route.get("q");
  const number = (name: string, usual: number, most: number) => Math.min(most, Math.max(1, Math.floor(Number(route.get(name)) || usual)));
  const k = number("k", 5, 200);
  const budget = number("tokens", 0, 1_000_000);
  const question = {
    user_id: user,
    query: asked,
    k,
    project_id: route.get("project") || "*",
    as_of: route.get("as_of") || null,
    known_at: route.get("known_at") || null,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...(route.get("mode") === "all" ? { modes: "all" as const } : { mode: route.get("mode") || null }),
  };
  const answer = useLoad(asked ? () => api("post", "/v1/recall", { body: { ...question, explain: !session.modes } }) : null, [route]);
  const prompt = useLoad(
    asked ? () => api("post", "/v1/context", { body: { ...question, explain: !session.modes, token_budget: Number(route.get("tokens")) ? budget : null } }) : null,
    [route],
  );
  const found = answer.busy ? undefined : answer.value; // an earlier answer is none to this question
  const places = ((found?.explain as { cards?: Place[] } | undefined)?.cards ?? []) as Place[];
  const shown = found?.cards ?? [];
  const near = places.filter((each) => each.place !== null && each.place > k).slice(0, 10);
  return (
    <>
      <Question route={route} />
      {!asked && <Empty>{t("Ask a question in English or Chinese. The answer shows which cards were found, and why.")}</Empty>}
      <div class="two">
        <section aria-label={t("answer")}>
          <Notice problem={answer.problem} again={answer.again} />
          {answer.busy && <Busy />}
          {found && (
            <>
              {found.warnings.map((each) => (
                <p class="notice" key={each}>
                  {each}
                </p>
              ))}
              {found.contradictions.map((each) => (
                <p class="notice" key={each.card_ids.join()}>
                  <a href={to("arbitration", { user, id: each.arbitration_id })}>{t("Two facts contradict each other.")}</a> <Words text={each.reason} />
                </p>
              ))}
              {!shown.length && <Empty>{t(question.as_of || question.known_at ? "At this time, nothing was known that answers this. Choose another time." : "No card answers this. Ask in other words, or see all cards under Memory.")}</Empty>}
              <ol class="cards">
                {shown.map((card, index) => (
                  <Answered key={card.card_id} card={card} user={user} place={places.find((each) => each.card_id === card.card_id)} number={index + 1} />
                ))}
              </ol>
              {near.length > 0 && (
                <details>
                  <summary>{t("what just missed ({n})", { n: near.length })}</summary>
                  <Missed places={near} user={user} />
                </details>
              )}
              <Withheld answer={found} user={user} />
              <Channels channels={found.channels} />
            </>
          )}
        </section>
        {asked && (
          <section aria-label={t("prompt")}>
            <h2>{t("prompt")}</h2>
            <Notice problem={prompt.problem} again={prompt.again} />
            {prompt.value && !prompt.busy && (
              <>
                <p class="quiet">{t("{n} [token|tokens]", { n: prompt.value.tokens })}</p>
                <pre class="prompt" tabIndex={0}>
                  <Words text={prompt.value.text} most={6000} />
                </pre>
                {prompt.value.left_out.length > 0 && (
                  <p>
                    {t("left out of the prompt")}:{" "}
                    {prompt.value.left_out.map((id) => (
                      <a key={id} href={to("card", { user, id })}>
                        {(shown.find((each) => each.card_id === id)?.content ?? id).slice(0, 60)}{" "}
                      </a>
                    ))}
                  </p>
                )}
              </>
            )}
          </section>
        )}
      </div>
    </>
  );
}

function Question({ route }: { route: Route }) {
  const { form, put, submit } = useAddressForm("ask", route);
  const bind = (name: string) => ({ value: form[name] ?? "", onInput: (event: Event) => put(name, valueOf(event)) });
  const time = (name: string) => ({ type: "datetime-local", value: toLocal(form[name] ?? ""), onInput: (event: Event) => put(name, toInstant(valueOf(event))) });
  return (
    <form class="panel" onSubmit={submit}>
      <Field label={t("question")} wide>
        <input {...bind("q")} required maxLength={16000} />
      </Field>
      <button class="main">{t("ask")}</button>
      <details class="wide" open={["as_of", "known_at", "project", "mode", "k", "tokens"].some(route.get)}>
        <summary>{t("time, project, mode")}</summary>
        <div class="fields">
          <Field label={t("what was true at")} hint="valid time">
            <input {...time("as_of")} />
          </Field>
          <Field label={t("what was known at")} hint="transaction time">
            <input {...time("known_at")} />
          </Field>
          <Field label={t("project")}>
            <input {...bind("project")} placeholder="*" />
          </Field>
          <Field label={t("mode")}>
            <input {...bind("mode")} placeholder={t("all modes: all")} />
          </Field>
          <Field label={t("number of cards")}>
            <input {...bind("k")} type="number" min={1} max={200} placeholder="5" />
          </Field>
          <Field label={t("tokens of the prompt")}>
            <input {...bind("tokens")} type="number" min={1} max={1000000} />
          </Field>
        </div>
      </details>
    </form>
  );
}

function Answered({ card, user, place, number }: { card: Recalled; user: string; place?: Place; number: number }) {
  const later = card.perhaps_no_longer;
  // The words of the turn still say a past fact. `later` is such a fact, when all facts of the turn were taken back.
  const past = "episode" in card && card.episode ? (card.past_facts ?? []).filter((each) => each.card_id !== later?.card_id) : [];
  return (
    <li class="card">
      <a class="content" href={to("card", { user, id: card.card_id })}>
        <Words text={card.content} />
      </a>
      <p class="facts">
        <Standing card={card} />
        {card.times?.map(({ words, time }) => <span key={words}>{words}: {time}</span>)}
      </p>
      {[...(later ? [later] : []), ...past].map((each) => (
        <p class="notice" key={each.card_id}>
          {t(each.retracted ? "The user took this back:" : each === later ? "Later words may have ended this:" : "This no longer holds:")}{" "}
          <a href={to("card", { user, id: each.card_id })}>
            <Words text={each.content} most={200} />
          </a>
        </p>
      ))}
      <p class="facts">
        {Object.entries(card.channels).map(([name, found]) => (
          <span class="channel" key={name} title={`${found.score}`}>
            {name} {t("rank {n}", { n: found.rank })} · {found.score.toFixed(3)}
          </span>
        ))}
      </p>
      {place && <Reasons place={place} label={t("why place {n}: score {score}", { n: number, score: (place.score ?? 0).toFixed(2) })} />}
    </li>
  );
}

/** The contributions to the place of a card. Their sum is its score. */
function Reasons({ place, label }: { place: Place; label: string }) {
  const all = Object.entries(place.contributions).sort((one, other) => Math.abs(other[1]) - Math.abs(one[1]));
  const largest = Math.max(0.001, ...all.map(([, amount]) => Math.abs(amount)));
  const sum = all.reduce((total, [, amount]) => total + amount, 0);
  return (
    <details>
      <summary>{label}</summary>
      <table class="reasons">
        <tbody>
          {all.map(([name, amount]) => (
            <tr key={name}>
              <th scope="row" title={name}>
                {`why.${name}` in TABLE ? t(`why.${name}` as Key) : name}
              </th>
              <td>{amount.toFixed(3)}</td>
              <td>
                <span class={amount < 0 ? "bar less" : "bar"} style={{ width: `${(Math.abs(amount) / largest) * 100}%` }} />
              </td>
            </tr>
          ))}
          <tr class="sum">
            <th scope="row">{t("sum")}</th>
            <td>{sum.toFixed(3)}</td>
            <td />
          </tr>
        </tbody>
      </table>
    </details>
  );
}

function Missed({ places, user }: { places: Place[]; user: string }) {
  return (
    <ol class="cards" start={places[0]?.place ?? 1}>
      {places.map((each) => (
        <li class="card" key={each.card_id}>
          <a class="content" href={to("card", { user, id: each.card_id })}>
            <Words text={each.content ?? each.card_id} />
          </a>
          <Reasons place={each} label={t("why place {n}: score {score}", { n: each.place ?? 0, score: (each.score ?? 0).toFixed(2) })} />
        </li>
      ))}
    </ol>
  );
}

function Withheld({ answer, user }: { answer: Schemas["Answer"]; user: string }) {
  const withheld = (answer.explain as { withheld?: { card_id: string; content: string | null; reason: string }[] } | undefined)?.withheld ?? [];
  if (!withheld.length) return null;
  return (
    <details>
      <summary>{t("found and withheld ({n})", { n: withheld.length })}</summary>
      <ul class="plain">
        {withheld.map((each) => (
          <li key={each.card_id}>
            <a href={to("card", { user, id: each.card_id })}>
              <Words text={each.content ?? each.card_id} most={120} />
            </a>{" "}
            <span class="quiet" lang="en">
              {each.reason}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Channels({ channels }: { channels: Schemas["Answer"]["channels"] }) {
  const longest = Math.max(1, ...Object.values(channels).map((each) => each.ms));
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={t("channels")}>
      <table>
        <caption>{t("channels")}</caption>
        <thead>
          <tr>
            <th scope="col">{t("channel")}</th>
            <th scope="col">{t("status")}</th>
            <th scope="col">{t("hits")}</th>
            <th scope="col">ms</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {Object.entries(channels).map(([name, each]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                {each.status} {each.detail}
              </td>
              <td>{each.hits}</td>
              <td>{each.ms.toFixed(1)}</td>
              <td class="wide">
                <span class="bar" style={{ width: `${(each.ms / longest) * 100}%` }} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
