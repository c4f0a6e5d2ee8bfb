/** The map: the vectors of a mode in two dimensions. Near cards mean similar things. The list below is its twin. */
import { useState } from "preact/hooks";
import { api } from "./api";
import { Form } from "./graph";
import type { Given } from "./screen";
import { go, to } from "./route";
import { t } from "./texts";
import { Busy, Empty, Field, hushed, Notice, Rows, useLoad, valueOf, Words } from "./ui";

const MOST = 1000;
const KINDS = ["state", "event", "knowledge"] as const;

export function VectorMap({ user, route }: Given) {
  const mode = route.get("mode") || "general";
  const modes = useLoad(() => api("get", "/v1/modes", { query: { user_id: user } }), [user]);
  const drawn = useLoad(() => api("get", "/v1/cards/map", { query: { user_id: user, project_id: ["*"], mode: [mode], limit: MOST } }), [user, mode]);
  const [chosen, choose] = useState("");
  const map = drawn.value;
  const names = [...new Set(["general", mode, ...(modes.value?.modes ?? []).map((each) => each.name)])];
  const found = map?.points.find((each) => each.card_id === chosen);
  return (
    <>
      <div class="panel">
        <Field label={t("mode")}>
          <select value={mode} onChange={(event) => (choose(""), go("map", { user, mode: valueOf(event) }))}>
            {names.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </Field>
      </div>
      <Notice problem={drawn.problem ?? modes.problem} again={() => (drawn.again(), modes.again())} />
      {drawn.busy && <Busy />}
      {map && !map.points.length && <Empty>{t("No card of this mode has a vector. Look at the worker vectors under Operations.")}</Empty>}
      {map && map.points.length > 0 && (
        <>
          <p class="facts">
            <span>{t("{n} [card|cards]", { n: map.points.length })}</span>
            {map.missing > 0 && <span>{t("{n} without a vector", { n: map.missing })}</span>}
            <span>{t("shows {n} % of the differences", { n: Math.round(100 * map.shown) })}</span>
            {map.cut && <span>{t("Only the {n} cards recorded last are drawn.", { n: MOST })}</span>}
          </p>
          <ul class="facts kinds" aria-label={t("kind")}>
            {KINDS.filter((kind) => map.points.some((each) => each.kind === kind)).map((kind) => (
              <li key={kind}>
                <svg class="graph" viewBox="-12 -12 24 24" aria-hidden="true">
                  <Form node={{ kind, x: 0, y: 0, ring: 1 }} />
                </svg>{" "}
                {t(kind)}
              </li>
            ))}
          </ul>
          <svg class="graph map" viewBox="-520 -320 1040 640" role="img" aria-label={t("Map")}>
            {map.points.map((each) => (
              <g key={each.card_id} class={each.card_id === chosen ? "chosen" : undefined} onClick={() => choose(each.card_id)}>
                <title>{hushed(each.content, 80)}</title>
                <Form node={{ kind: each.kind, x: each.x / 2, y: 0.3 * each.y, ring: each.card_id === chosen ? 0 : 1 }} />
              </g>
            ))}
          </svg>
          <p class="facts" role="status">
            {found && (
              <a href={to("card", { user, id: found.card_id })}>
                <Words text={found.content} />
              </a>
            )}
          </p>
          <Rows
            label={t("cards")}
            items={map.points}
            height={44}
            row={(each) => (
              <div class="row">
                <button type="button" class="link" aria-pressed={each.card_id === chosen} onClick={() => choose(each.card_id)}>
                  <Words text={each.content} />
                </button>
              </div>
            )}
          />
        </>
      )}
    </>
  );
}
