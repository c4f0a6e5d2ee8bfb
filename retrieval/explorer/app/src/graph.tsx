/** The neighbourhood of a card or of a name: one ring of neighbours, and a second ring behind it. The list below is its twin. */
import { api, type Schemas } from "./api";
import type { Given } from "./screen";
import { to, useAddressForm } from "./route";
import { t, type Key } from "./texts";
import { Busy, Empty, Field, hushed, Notice, useLoad, valueOf, Words } from "./ui";

const NAMED_NODES = 40;
const RINGS = [0, 175, 300];

/** A line has a form of its own for each predicate: its dashes, and an arrow where the direction matters. */
const FORMS: Record<string, [dashes: string, arrow: boolean]> = {
  update: ["", true],
  state_change: ["14 4", true],
  expands: ["8 4", true],
  qualifies: ["3 3", true],
  contradicts: ["2 6", false],
  retracts: ["12 4 2 4", true],
  same_as: ["", false],
  parent_of: ["18 6", true],
  related_to: ["8 4", false],
  affects_state: ["6 3 2 3 2 3", true],
  episode: ["1 4", true],
  gave_rise_to: ["1 4", true],
  mentions: ["4 8", true],
};

interface Node {
  id: string;
  name: string;
  kind: string;
  ring: number;
  href: string;
  x: number;
  y: number;
}

interface Line {
  from: string;
  to: string;
  predicate: string;
}

interface Net {
  nodes: Map<string, Node>;
  lines: Line[];
  cut: boolean;
}

export function Graph({ user, route }: Given) {
  const [id, about] = [route.get("id"), route.get("about")];
  const { form, put, submit } = useAddressForm("graph", route);
  const net = useLoad(id || about ? () => neighbourhood(user, id, about) : null, [user, id, about]);
  return (
    <>
      <form class="panel" onSubmit={submit}>
        <Field label={t("a person or a concept")} wide>
          <input value={form["about"] ?? ""} required maxLength={512} onInput={(event) => (put("id", ""), put("about", valueOf(event)))} />
        </Field>
        <button class="main">{t("show")}</button>
      </form>
      <Notice problem={net.problem} again={net.again} />
      {net.busy && <Busy />}
      {!id && !about && <Empty>{t("Name a person or a concept, or open a card and choose its graph.")}</Empty>}
      {net.value && !net.busy && <Drawn key={`${id} ${about}`} net={net.value} user={user} />}
    </>
  );
}

function Drawn({ net: { nodes, lines, cut }, user }: { net: Net; user: string }) {
  const [centre, ...others] = [...nodes.values()];
  if (!centre || !others.length) return <Empty>{t("Nothing is connected with it.")}</Empty>;
  const used = [...new Set(lines.map((each) => each.predicate))];
  const kinds = [...new Set([...nodes.values()].map((each) => each.kind))];
  return (
    <>
      {cut && <p class="notice">{t("There is more than fits here. The nearest {n} are shown.", { n: nodes.size })}</p>}
      <ul class="facts kinds" aria-label={t("kind")}>
        {kinds.map((kind) => (
          <li key={kind}>
            <svg class="graph" viewBox="-12 -12 24 24" aria-hidden="true">
              <Form node={{ ...centre, kind, x: 0, y: 0, ring: 1 }} />
            </svg>{" "}
            {t(kind as "state")}
          </li>
        ))}
      </ul>
      <ul class="facts legend" aria-label={t("lines")}>
        {used.map((each) => (
          <li key={each}>
            <svg width="56" height="12" aria-hidden="true">
              <Stroke predicate={each} x1={2} y1={6} x2={50} y2={6} />
            </svg>{" "}
            <code>{t(each as Key)}</code>
          </li>
        ))}
      </ul>
      <div class="scroll" tabIndex={0} role="region" aria-label={t("Graph")}>
        <svg class="graph" viewBox="-520 -340 1040 680">
          <defs>
            <marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 0 10 5 0 10z" />
            </marker>
          </defs>
          {lines.map(({ from, to: end, predicate }, key) => {
            const [a, b] = [nodes.get(from)!, nodes.get(end)!];
            const far = Math.hypot(b.x - a.x, b.y - a.y) || 1;
            const [x, y] = [(b.x - a.x) / far, (b.y - a.y) / far];
            return <Stroke key={key} predicate={predicate} x1={a.x + 9 * x} y1={a.y + 9 * y} x2={b.x - 9 * x} y2={b.y - 9 * y} />;
          })}
          {[centre, ...others].map((each) => (
            <a key={each.id} href={each.href} aria-label={hushed(each.name, 120)}>
              <title>{hushed(each.name, 300)}</title>
              <Form node={each} />
              {(each.ring === 0 || others.length <= NAMED_NODES) && (
                <text x={each.x + (each.x < -1 ? -12 : 12)} y={each.y + (each.ring ? 4 : -12)} text-anchor={each.ring === 0 ? "middle" : each.x < -1 ? "end" : "start"}>
                  {hushed(each.name, 26)}
                </text>
              )}
            </a>
          ))}
        </svg>
      </div>
      <h2>{t("relations")}</h2>
      <ul class="plain">
        {lines.map(({ from, to: end, predicate }, key) => (
          <li key={key}>
            <Name node={nodes.get(from)!} user={user} /> → <code>{t(predicate as Key)}</code> → <Name node={nodes.get(end)!} user={user} />
          </li>
        ))}
      </ul>
    </>
  );
}

const Name = ({ node, user }: { node: Node; user: string }) =>
  node.kind === "name" ? (
    <b>
      <Words text={node.name} most={120} />
    </b>
  ) : (
    <a href={to("card", { user, id: node.id })}>
      <Words text={hushed(node.name, 120)} />
    </a>
  );

function Stroke({ predicate, ...ends }: { predicate: string; x1: number; y1: number; x2: number; y2: number }) {
  const [dashes, arrow] = FORMS[predicate] ?? ["5 5", true];
  return <line {...ends} stroke-dasharray={dashes || undefined} marker-end={arrow ? "url(#arrow)" : undefined} />;
}

/** The cards and edges around a card, or around a name, which becomes the node in the middle. */
async function neighbourhood(user: string, id: string, about: string): Promise<Net> {
  const found: Schemas["Neighbourhood"] = id
    ? await api("get", "/v1/cards/{card_id}/neighbourhood", { at: { card_id: id }, query: { user_id: user } })
    : await api("get", "/v1/neighbourhood", { query: { user_id: user, about, limit: 299 } }); // the name is a node, too
  const net: Net = { nodes: new Map(), lines: [], cut: found.cut };
  if (!id) net.nodes.set("", { id: "", name: about, kind: "name", ring: 0, href: to("graph", { user, about }), x: 0, y: 0 });
  for (const { card_id, content, kind, ring } of found.nodes) {
    net.nodes.set(card_id, { id: card_id, name: content, kind, ring, href: to("graph", { user, id: card_id }), x: 0, y: 0 });
    if (!id && ring === 1) net.lines.push({ from: card_id, to: "", predicate: "mentions" });
  }
  for (const each of found.edges) net.lines.push({ from: each.from_card, to: each.to_card, predicate: each.predicate });
  place(net);
  return net;
}

/** A node has a form of its own for each kind. */
export function Form({ node: { kind, x, y, ring } }: { node: Pick<Node, "kind" | "x" | "y" | "ring"> }) {
  const r = ring ? 7 : 10;
  if (kind === "state") return <rect class={kind} x={x - r} y={y - r} width={2 * r} height={2 * r} />;
  if (kind === "knowledge") return <path class={kind} d={`M${x} ${y - r - 2}l${r + 2} ${r + 2}-${r + 2} ${r + 2}-${r + 2}-${r + 2}z`} />;
  if (kind === "name") return <path class={kind} d={`M${x} ${y - r - 2}l${r + 2} ${2 * r}h-${2 * r + 4}z`} />;
  return <circle class={kind} cx={x} cy={y} r={r} />;
}

/** Places every ring at even angles. A node of the second ring keeps the order of the neighbour that led to it. */
function place({ nodes }: Net): void {
  for (const ring of [1, 2]) {
    const inside = [...nodes.values()].filter((each) => each.ring === ring);
    inside.forEach((each, index) => {
      const angle = (2 * Math.PI * (index + 0.5 * (ring - 1))) / inside.length;
      each.x = RINGS[ring]! * Math.cos(angle);
      each.y = RINGS[ring]! * Math.sin(angle);
    });
  }
}
