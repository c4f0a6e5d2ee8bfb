/** Operations: the health and lag of every stage, and the audit log for an administrator. */
import { api } from "./api";
import type { Given } from "./main";
import { t } from "./texts";
import { Busy, Empty, Notice, Time, useLoad } from "./ui";

const number = (value: number | null | undefined, digits = 0) => (value === null || value === undefined ? t("unknown") : value.toFixed(digits));

export function Operations({ may }: Given) {
  const status = useLoad(() => api("get", "/v1/status", {}), []);
  const audit = useLoad(may("admin") ? () => api("get", "/v1/audit", { query: { limit: 100 } }) : null, []);
  return (
    <>
      <h1>{t("Operations")}</h1>
      <p class="actions">
        <button type="button" onClick={() => (status.again(), audit.again())}>
          {t("refresh")}
        </button>
      </p>
      <Notice problem={status.problem} again={status.again} />
      {status.busy && !status.value && <Busy />}
      {status.value && (
        <>
          <p class="facts">
            <span class={status.value.well ? "status current" : "status contested"}>{t(status.value.well ? "all is well" : "something is wrong")}</span>
            <span>{t("{n} events", { n: number(status.value.events) })}</span>
            <span>{t("dead turns: {n}", { n: number(status.value.dead) })}</span>
            <span>{t("parked users: {n}", { n: number(status.value.parked) })}</span>
          </p>
          <div class="scroll" tabIndex={0} role="region" aria-label={t("stages")}>
            <table>
              <caption>{t("stages")}</caption>
              <thead>
                <tr>
                  <th scope="col">{t("stage")}</th>
                  <th scope="col">{t("status")}</th>
                  <th scope="col">{t("behind, events")}</th>
                  <th scope="col">{t("behind, seconds")}</th>
                  <th scope="col">{t("error")}</th>
                </tr>
              </thead>
              <tbody>
                {Object.entries(status.value.stages).map(([name, stage]) => (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    <td>{stage.state}</td>
                    <td>{number(stage.behind)}</td>
                    <td>{number(stage.seconds, 1)}</td>
                    <td>
                      {stage.error ?? stage.detail} {stage.error_at && <Time at={stage.error_at} />}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <div class="scroll" tabIndex={0} role="region" aria-label={t("channels")}>
            <table>
              <caption>{t("channels")}</caption>
              <thead>
                <tr>
                  <th scope="col">{t("channel")}</th>
                  <th scope="col">{t("status")}</th>
                  <th scope="col">P95, ms</th>
                </tr>
              </thead>
              <tbody>
                {Object.entries(status.value.channels).map(([name, channel]) => (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    <td>{channel.status}</td>
                    <td>{number(channel.p95_ms, 1)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
      <h2>{t("audit log")}</h2>
      {!may("admin") && <Empty>{t("The audit log needs a key with the scope admin.")}</Empty>}
      <Notice problem={audit.problem} again={audit.again} />
      {audit.value && (
        <div class="scroll" tabIndex={0} role="region" aria-label={t("audit log")}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t("time")}</th>
                <th scope="col">{t("operation")}</th>
                <th scope="col">{t("key")}</th>
                <th scope="col">{t("outcome")}</th>
              </tr>
            </thead>
            <tbody>
              {audit.value.entries.map((each) => (
                <tr key={each.entry_id}>
                  <td>
                    <Time at={each.at} />
                  </td>
                  <td>{each.operation}</td>
                  <td>
                    <code>{each.key_id}</code>
                  </td>
                  <td>{each.outcome}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
