/** Problems: what troubles the user, what was tried, and its end. */
import { useState } from "preact/hooks";
import { api, type Schemas } from "./api";
import type { Given } from "./screen";
import { t } from "./texts";
import { Busy, Empty, Field, Notice, Time, useEdit, useLoad, valueOf, Words } from "./ui";

export function Problems({ user, may }: Given) {
  const [turn, again] = useState(0);
  const [text, setText] = useState("");
  const at = { user_id: user };
  const list = useLoad(() => api("get", "/v1/memory/{user_id}/problems", { at, query: { status: "all", limit: 200 } }), [user, turn]);
  const { problem, busy, run } = useEdit();
  const changed = () => again(turn + 1);
  const open = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      await api("post", "/v1/memory/{user_id}/problems", { at, body: { description: text } });
      setText("");
      changed();
    });
  };
  return (
    <>
      {may("write") && (
        <form class="panel" onSubmit={open}>
          <Field label={t("a problem of the user")} wide>
            <input value={text} required onInput={(event) => setText(valueOf(event))} maxLength={2000} />
          </Field>
          <button class="main" disabled={busy}>
            {t("add")}
          </button>
        </form>
      )}
      <Notice problem={list.problem ?? problem} again={list.again} />
      {list.busy && !list.value && <Busy />}
      {list.value && !list.value.problems.length && <Empty>{t("No problem is known. Turns that tell of a trouble open one, and so does this form.")}</Empty>}
      <ul class="cards">
        {(list.value?.problems ?? []).map((each) => (
          <One key={each.problem_id} problem={each} user={user} changed={changed} edits={may("write")} />
        ))}
      </ul>
    </>
  );
}

function One({ problem: each, user, changed, edits }: { problem: Schemas["Problem"]; user: string; changed: () => void; edits: boolean }) {
  const [text, setText] = useState("");
  const { problem, busy, run } = useEdit();
  const at = { user_id: user, problem_id: each.problem_id };
  const attempt = () => run(async () => (await api("post", "/v1/memory/{user_id}/problems/{problem_id}/attempt", { at, body: { approach: text } }), setText(""), changed()));
  const close = () => run(async () => (await api("post", "/v1/memory/{user_id}/problems/{problem_id}/close", { at, body: text ? { resolution: text } : {} }), setText(""), changed()));
  const reopen = () => run(async () => (await api("post", "/v1/memory/{user_id}/problems/{problem_id}/reopen", { at, body: {} }), changed()));
  return (
    <li class="card">
      <p class="big">
        <Words text={each.description} />
      </p>
      <p class="facts">
        <span class={`status ${each.status}`}>{t(each.status)}</span>
        <span>{t("priority {n}", { n: each.priority })}</span>
        <Time at={each.since} />
      </p>
      <ul class="plain">
        {each.attempts.map((one) => (
          <li key={one.attempt_id}>
            {one.successful ? "✓" : "·"} <Words text={one.approach} most={200} /> {one.outcome && <Words text={`→ ${one.outcome}`} most={200} />}
          </li>
        ))}
      </ul>
      {each.resolution && (
        <p>
          ✓ <Words text={each.resolution} />
        </p>
      )}
      {edits && each.status === "active" && (
        <div class="panel">
          <Field label={t("what was tried, or what helped")} wide>
            <input value={text} onInput={(event) => setText(valueOf(event))} maxLength={2000} />
          </Field>
          <p class="actions">
            <button type="button" disabled={busy || !text.trim()} onClick={attempt}>
              {t("record an attempt")}
            </button>
            <button type="button" disabled={busy} onClick={close}>
              {t("close")}
            </button>
          </p>
        </div>
      )}
      {edits && each.status === "closed" && (
        <button type="button" disabled={busy} onClick={reopen}>
          {t("open again")}
        </button>
      )}
      <Notice problem={problem} />
    </li>
  );
}
