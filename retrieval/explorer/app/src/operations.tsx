/** Operations: the health of every stage, the generations, and for an administrator actions, what models cost and the audit log. */
import { useState } from "preact/hooks";
import { api } from "./api";
import type { Given } from "./screen";
import { Operating } from "./operating";
import { locale, t } from "./texts";
import { Busy, Empty, Field, Notice, number, Table, Time, useLoad, usePolling, valueOf } from "./ui";

const EVERY_MS = 5_000;

export function Operations({ may }: Given) {
  const status = useLoad(() => api("get", "/v1/status", {}), []);
  const generations = useLoad(() => api("get", "/v1/generations", {}), []);
  usePolling(EVERY_MS, () => (status.again(), generations.again()));
  const audit = useLoad(may("admin") ? () => api("get", "/v1/audit", { query: { limit: 100 } }) : null, []);
  return (
    <>
      <p class="actions">
        <button type="button" onClick={() => (status.again(), generations.again(), audit.again())}>
          {t("refresh")}
        </button>
      </p>
      <Notice problem={status.problem} again={status.again} />
      {status.busy && !status.value && <Busy />}
      {status.value && (
        <>
          <p class="facts">
            <span class={status.value.well ? "status current" : "status contested"}>{t(status.value.well ? "all is well" : "something is wrong")}</span>
            {status.value.events !== null && <span>{t("{n} [event|events]", { n: status.value.events })}</span>}
            {status.value.dead !== null && <span>{t("dead turns: {n}", { n: status.value.dead })}</span>}
            {status.value.parked !== null && <span>{t("parked users: {n}", { n: status.value.parked })}</span>}
          </p>
          <Table
            caption={t("stages")}
            head={[t("stage"), t("status"), t("behind, events"), t("behind, seconds"), t("error")]}
            rows={Object.entries(status.value.stages).map(([name, stage]) => [
              name,
              stage.state,
              number(stage.behind),
              number(stage.seconds, 1),
              <>
                {stage.error ?? stage.detail} {stage.error_at && <Time at={stage.error_at} />}
              </>,
            ])}
          />
          <Table
            caption={t("channels")}
            head={[t("channel"), t("status"), "P95, ms"]}
            rows={Object.entries(status.value.channels).map(([name, channel]) => [name, channel.status, number(channel.p95_ms, 1)])}
          />
        </>
      )}
      {generations.value && <Operating generations={generations.value.generations} admin={may("admin")} every={EVERY_MS} again={generations.again} />}
      {may("admin") && <Usage />}
      <h2>{t("audit log")}</h2>
      {!may("admin") && <Empty>{t("The audit log needs a key with the scope admin.")}</Empty>}
      <Notice problem={audit.problem} again={audit.again} />
      {audit.value && (
        <Table
          caption={t("audit log")}
          head={[t("time"), t("operation"), t("key"), t("outcome")]}
          rows={audit.value.entries.map((each) => [<Time at={each.at} />, each.operation, <code>{each.key_id}</code>, each.outcome])}
        />
      )}
    </>
  );
}

const AXES = ["day", "operation", "user"] as const;

/** What the calls of models cost in the last 30 days, by the chosen axes. */
function Usage() {
  const [axes, setAxes] = useState("day,operation");
  const by = axes.split(",") as (typeof AXES)[number][];
  const usage = useLoad(() => api("get", "/v1/usage", { query: { group_by: by } }), [axes]);
  const found = usage.value?.usage ?? [];
  return (
    <section class="usage">
      <h2>{t("calls of models in the last {n} days", { n: 30 })}</h2>
      <Field label={t("summed by")}>
        <select value={axes} onChange={(event) => setAxes(valueOf(event))}>
          {["day,operation", "operation", "user", "day,user", "day,operation,user"].map((each) => (
            <option key={each} value={each}>
              {each.split(",").map((axis) => t(axis as (typeof AXES)[number])).join(" · ")}
            </option>
          ))}
        </select>
      </Field>
      <Notice problem={usage.problem} again={usage.again} />
      {usage.value && !found.length && <p class="quiet">{t("No model was called. The rules extract without one.")}</p>}
      {usage.value?.more && <p class="notice">{t("The first {n} are shown.", { n: found.length })}</p>}
      {found.length > 0 && (
        <Table
          caption={t("what models cost")}
          head={[...by.map((axis) => t(axis)), t("calls"), t("tokens in"), t("tokens out"), t("from the cache"), t("into the cache"), "USD"]}
          rows={found.map((each) => [
            ...by.map((axis) => (axis === "day" ? new Date(each.day!).toLocaleDateString(locale(), { dateStyle: "medium", timeZone: "UTC" }) : axis === "user" ? each.user_id : each.operation)),
            number(each.calls),
            number(each.input_tokens),
            number(each.output_tokens),
            number(each.cache_read_tokens),
            number(each.cache_write_tokens),
            `${number(each.cost_usd, 4)}${each.unpriced ? ` + ${t("{n} without a price", { n: each.unpriced })}` : ""}`,
          ])}
        />
      )}
    </section>
  );
}
