/** Arbitration: a contradiction that a person settles. The keyboard suffices: J and K move, 1, 2 and 3 decide. */
import { useEffect, useState } from "preact/hooks";
import { api, type Schemas } from "./api";
import { Turn } from "./card";
import type { Given } from "./screen";
import { go, to } from "./route";
import { t, type Key } from "./texts";
import { Busy, Empty, Field, Notice, Time, useEdit, useLoad, valueOf, Words } from "./ui";

const VERDICTS = ["keep_old", "accept_new", "coexist"] as const;

export function Arbitration({ user, route, may }: Given) {
  const [token, setToken] = useState("");
  const [reason, setReason] = useState("");
  const list = useLoad(() => api("get", "/v1/arbitrations", { query: { user_id: user, project_id: ["*"], limit: 100, ...(token && { wait_for: token }) } }), [user, token]);
  const edit = useEdit();
  const open = list.value?.arbitrations ?? [];
  const wanted = route.get("id");
  const settled = useLoad(
    wanted && list.value && !open.some((each) => each.arbitration_id === wanted)
      ? () => api("get", "/v1/arbitrations/{arbitration_id}", { at: { arbitration_id: wanted }, query: { user_id: user } })
      : null,
    [wanted, list.value],
  );
  const index = Math.max(0, open.findIndex((each) => each.arbitration_id === wanted));
  const shown = settled.value ?? open[index];
  const move = (step: number) => {
    const next = open[(index + step + open.length) % open.length];
    if (next) go("arbitration", { user, id: next.arbitration_id });
  };
  const settle = async (verdict: (typeof VERDICTS)[number]) => {
    if (!shown || shown.status !== "open" || edit.busy || !may("write")) return;
    await edit.run(async () => {
      const body = { user_id: user, verdict, ...(reason.trim() && { reason }) };
      const done = await api("post", "/v1/arbitrations/{arbitration_id}/verdict", { at: { arbitration_id: shown.arbitration_id }, body });
      setReason("");
      setToken(done.token);
      go("arbitration", { user }, true);
    });
  };
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|TEXTAREA|SELECT/.test((event.target as HTMLElement).tagName)) return;
      if (event.key === "j") move(1);
      else if (event.key === "k") move(-1);
      else if ("123".includes(event.key)) void settle(VERDICTS[Number(event.key) - 1]!);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });
  return (
    <>
      <Notice problem={list.problem ?? settled.problem} again={list.again} />
      {list.busy && <Busy />}
      {list.value && !shown && <Empty>{t("No contradiction waits for a verdict. One appears here when a fact changes too often or without a word.")}</Empty>}
      {shown && (
        <>
          <p class="facts">
            {open.length > 0 && <span>{t("{n} of {all}", { n: index + 1, all: open.length })}</span>}
            <code>{shown.concept_key}</code>
            <span class={`status ${shown.status}`}>{t(shown.status === "open" ? "waits for a verdict" : (shown.status as Key))}</span>
          </p>
          <p>
            <Words text={shown.reason} />
          </p>
          <div class="two even">
            <Side title={t("the old fact")} id={shown.old_card} user={user} value={shown.old_value} />
            <Side title={t("the new fact")} id={shown.new_card} user={user} value={shown.new_value} />
          </div>
          {shown.status === "open" && may("write") && (
            <form class="panel" onSubmit={(event) => event.preventDefault()}>
              <Field label={t("reason")} wide>
                <input value={reason} onInput={(event) => setReason(valueOf(event))} maxLength={2000} />
              </Field>
              <p class="actions">
                {VERDICTS.map((each, number) => (
                  <button key={each} type="button" disabled={edit.busy} onClick={() => settle(each)}>
                    <kbd>{number + 1}</kbd> {t(each)}
                  </button>
                ))}
              </p>
            </form>
          )}
          <Notice problem={edit.problem} />
          {open.length > 1 && (
            <p class="actions">
              <button type="button" onClick={() => move(-1)}>
                <kbd>K</kbd> {t("previous")}
              </button>
              <button type="button" onClick={() => move(1)}>
                <kbd>J</kbd> {t("next")}
              </button>
            </p>
          )}
        </>
      )}
    </>
  );
}

function Side({ title, id, user, value }: { title: string; id: string | null; user: string; value: string | null }) {
  const card = useLoad(id ? () => api("get", "/v1/cards/{card_id}", { at: { card_id: id }, query: { user_id: user } }) : null, [id, user]);
  const found: Schemas["Card"] | undefined = card.value;
  return (
    <section class="card">
      <h2>{title}</h2>
      <p class="big">
        <Words text={value ?? found?.content ?? "–"} />
      </p>
      <Notice problem={card.problem} again={card.again} />
      {found && (
        <>
          <p class="facts">
            <a href={to("card", { user, id: found.card_id })}>{t("card")}</a>
            <Time at={found.effective_at ?? found.occurred_at} zone={found.time_zone} />
          </p>
          {found.turn_ids.map((turn) => (
            <Turn key={turn} id={turn} user={user} span={found.source_span?.turn_id === turn ? found.source_span : null} />
          ))}
        </>
      )}
    </section>
  );
}
