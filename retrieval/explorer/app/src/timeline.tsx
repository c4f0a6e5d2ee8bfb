/** Timeline: facts as bars, events as points, and two lines that can be moved: valid time and transaction time. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api, type Card } from "./api";
import type { Given } from "./screen";
import { go, to } from "./route";
import { t } from "./texts";
import { Busy, Empty, Field, inWords, Notice, told, useLoad, Words } from "./ui";

const MOST_OF_A_KIND = 500;
const LANE = 30;
const WIDTH = 1000;
const GRIP = 12;

interface Lane {
  label: string;
  cards: Card[];
}

/** The facts and the events recorded last. Episodes are left to the list: they would be most of what is drawn. */
async function everyCard(user: string, known_at: string): Promise<{ cards: Card[]; more: boolean }> {
  const pages = await Promise.all(
    (["state", "event"] as const).map((kind) =>
      api("get", "/v1/cards", {
        query: {
          user_id: user,
          kind: [kind],
          ...(kind === "event" && { episode: false }),
          status: ["current", "future", "superseded", "contested"],
          project_id: ["*"],
          limit: MOST_OF_A_KIND,
          ...(known_at && { known_at }),
        },
      }),
    ),
  );
  return { cards: pages.flatMap((page) => page.cards), more: pages.some((page) => page.next_cursor !== null) };
}

const start = (card: Card) => +new Date(card.effective_at ?? card.occurred_at ?? card.said_at);
const end = (card: Card, now: number) => (card.superseded_at ? +new Date(card.superseded_at) : card.kind === "event" ? +new Date(card.occurred_until ?? start(card)) : Math.max(now, start(card)));

export function Timeline({ user, route }: Given) {
  const known = route.get("known_at");
  const loaded = useLoad(() => everyCard(user, known), [user, known]);
  const cards = loaded.value?.cards ?? [];
  const [first, last] = useMemo(() => {
    const starts = cards.map(start).filter((each) => !isNaN(each));
    if (!starts.length) return [Date.now() - 30 * 86_400_000, Date.now()];
    const from = Math.min(...starts);
    const until = Math.max(...starts, ...cards.map((card) => (card.superseded_at ? +new Date(card.superseded_at) : 0)));
    const room = Math.max(86_400_000, (until - from) * 0.06);
    return [from - room, until + room];
  }, [loaded.value]);
  const [view, setView] = useState<[number, number]>([first, last]);
  useEffect(() => setView([first, last]), [first, last]);
  const asOf = route.get("as_of") ? +new Date(route.get("as_of")) : Math.min(last, Date.now());
  const [line, setLine] = useState(asOf);
  useEffect(() => setLine(asOf), [asOf]);
  const [opened] = useState(() => Date.now());
  const [seen, setSeen] = useState(opened);
  useEffect(() => setSeen(known ? +new Date(known) : opened), [known]);
  const learn = (at: number) => go("timeline", { ...route.all, known_at: at >= opened - 60_000 ? "" : new Date(at).toISOString() }, true);
  const lanes = useMemo(() => lanesOf(cards), [loaded.value]);
  const zoom = (factor: number, around = (view[0] + view[1]) / 2) =>
    setView([around - (around - view[0]) * factor, around + (view[1] - around) * factor]);
  const commit = (at: number) => go("timeline", { ...route.all, as_of: new Date(at).toISOString() }, true);
  const now = Math.max(last, line);
  const valid = cards.filter((card) => card.kind === "state" && start(card) <= line && line < (card.superseded_at ? +new Date(card.superseded_at) : Infinity));
  return (
    <>
      <Notice problem={loaded.problem} again={loaded.again} />
      {loaded.busy && <Busy />}
      {loaded.value && !cards.length && <Empty>{t(known ? "No fact or event was known at that time. Move “what was known at” to a later time." : "No fact or event is remembered yet.")}</Empty>}
      {loaded.value?.more && <p class="notice">{t("Only the {n} cards recorded last are drawn.", { n: cards.length })}</p>}
      {(cards.length > 0 || known) && (
        <>
          <div class="panel fields">
            <Field label={`${t("what was true at")}: ${told(new Date(line))}`} hint="valid time" wide>
              <input
                type="range"
                min={first}
                max={last}
                step={3_600_000}
                value={line}
                onInput={(event) => setLine(Number((event.currentTarget as HTMLInputElement).value))}
                onChange={() => commit(line)}
              />
            </Field>
            <Field label={`${t("what was known at")}: ${seen >= opened - 60_000 ? t("now") : told(new Date(seen))}`} hint="transaction time" wide>
              <input
                type="range"
                min={Math.min(seen, opened - 400 * 86_400_000)}
                max={opened}
                step={60_000}
                value={seen}
                onInput={(event) => setSeen(Number((event.currentTarget as HTMLInputElement).value))}
                onChange={() => learn(seen)}
              />
            </Field>
            <p class="actions">
              <button type="button" onClick={() => zoom(0.6)} aria-label={t("zoom in")}>
                +
              </button>
              <button type="button" onClick={() => zoom(1 / 0.6)} aria-label={t("zoom out")}>
                −
              </button>
              <button type="button" onClick={() => setView(([from, until]) => [from - (until - from) / 4, until - (until - from) / 4])} aria-label={t("earlier")}>
                ←
              </button>
              <button type="button" onClick={() => setView(([from, until]) => [from + (until - from) / 4, until + (until - from) / 4])} aria-label={t("later")}>
                →
              </button>
              <button type="button" onClick={() => setView([first, last])}>
                {t("all")}
              </button>
            </p>
          </div>
          <Chart lanes={lanes} view={view} line={line} seen={seen} now={now} user={user} move={{ valid: setLine, known: (at) => setSeen(Math.min(at, opened)) }} commit={{ valid: commit, known: learn }} zoom={zoom} />
          <h2>{t("true then ({n})", { n: valid.length })}</h2>
          <ul class="plain">
            {valid.slice(0, 200).map((card) => (
              <li key={card.card_id}>
                <a href={to("card", { user, id: card.card_id })}>
                  <Words text={card.content} most={160} />
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function lanesOf(cards: Card[]): Lane[] {
  const found = new Map<string, Card[]>();
  for (const card of cards) {
    if (card.kind !== "state") continue;
    const key = `${card.entity === "user" ? "" : (card.entity ?? "")} ${card.concept_key ?? ""}`.trim();
    found.set(key, [...(found.get(key) ?? []), card]);
  }
  const lanes: Lane[] = [];
  for (const [label, all] of [...found].sort(([one], [other]) => one.localeCompare(other))) {
    // Values that hold at the same time stand below each other.
    const rows: Card[][] = [];
    for (const card of all.sort((one, other) => start(one) - start(other))) {
      const free = rows.find((row) => end(row.at(-1)!, Infinity) <= start(card));
      if (free) free.push(card);
      else rows.push([card]);
    }
    rows.forEach((row, index) => lanes.push({ label: index ? "" : label, cards: row }));
  }
  const events = cards.filter((card) => card.kind === "event");
  if (events.length) lanes.push({ label: t("events"), cards: events });
  return lanes;
}

type Axis = "valid" | "known";

interface Drawn {
  lanes: Lane[];
  view: [number, number];
  line: number;
  seen: number;
  now: number;
  user: string;
  move: Record<Axis, (at: number) => void>;
  commit: Record<Axis, (at: number) => void>;
  zoom: (factor: number, around: number) => void;
}

function Chart({ lanes, view, line, seen, now, user, move, commit, zoom }: Drawn) {
  const box = useRef<SVGSVGElement>(null);
  const dragging = useRef<Axis>();
  const [from, until] = view;
  const x = (at: number) => ((at - from) / (until - from)) * WIDTH;
  const at = (event: PointerEvent | WheelEvent) => {
    const area = box.current!.getBoundingClientRect();
    return from + ((event.clientX - area.left) / area.width) * (until - from);
  };
  useEffect(() => {
    const turned = (event: WheelEvent) => {
      if (!event.ctrlKey) return; // a plain wheel scrolls the page
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, at(event));
    };
    const here = box.current!;
    here.addEventListener("wheel", turned, { passive: false });
    return () => here.removeEventListener("wheel", turned);
  });
  // The same elements are kept while a line moves, so that a thousand bars are not compared for each step.
  const bars = useMemo(
    () =>
      lanes.flatMap((lane, index) =>
          lane.cards.map((card) => {
            const begin = x(start(card));
            const close = x(end(card, now));
            if (close < 0 || begin > WIDTH) return null;
            const left = Math.max(-5, begin);
            return (
              <a key={card.card_id} href={to("card", { user, id: card.card_id })} aria-label={`${card.content.slice(0, 120)}, ${inWords(card.when)}`}>
                <title>{`${card.content.slice(0, 200)}\n${inWords(card.when)}`}</title>
                <rect
                  class={card.kind === "event" ? "point" : `span ${card.status}`}
                  x={card.kind === "event" ? begin - 4 : left}
                  y={index * LANE + (card.kind === "event" ? 6 : 4)}
                  width={card.kind === "event" ? 8 : Math.max(5, Math.min(WIDTH + 5, close) - left)}
                  height={card.kind === "event" ? 18 : LANE - 8}
                  rx={3}
                />
              </a>
            );
          }),
        ),
    [lanes, from, until, now, user],
  );
  const labels = useMemo(
    () =>
      lanes.flatMap((lane, index) =>
          lane.cards
            .filter((card) => card.kind === "state" && (Math.min(WIDTH, x(end(card, now))) - Math.max(0, x(start(card)))) > 60)
            .map((card) => (
              <span
                key={card.card_id}
                style={{ left: `${Math.max(0, x(start(card))) / (WIDTH / 100)}%`, width: `${(Math.min(WIDTH, x(end(card, now))) - Math.max(0, x(start(card)))) / (WIDTH / 100)}%`, top: `${index * LANE}px` }}
              >
                {card.value ?? card.content}
              </span>
            )),
        ),
    [lanes, from, until, now, user],
  );
  const height = lanes.length * LANE + 24;
  const ticks = ticksOf(from, until);
  return (
    <div class="chart">
      <ul class="lanes" aria-hidden="true">
        {lanes.map((lane, index) => (
          <li key={index}>{lane.label}</li>
        ))}
      </ul>
      <svg
        ref={box}
        viewBox={`0 0 ${WIDTH} ${height}`}
        preserveAspectRatio="none"
        height={height}
        role="group"
        aria-label={t("Timeline")}
        onPointerDown={(event) => {
          if ((event.target as Element).closest("a")) return;
          // The line of transaction time is taken where it stands. Anywhere else the line of valid time comes.
          dragging.current = Math.abs(x(at(event)) - x(seen)) < GRIP ? "known" : "valid";
          (event.currentTarget as Element).setPointerCapture(event.pointerId);
          move[dragging.current](at(event));
        }}
        onPointerMove={(event) => dragging.current && move[dragging.current](at(event))}
        onPointerUp={(event) => {
          if (dragging.current) commit[dragging.current](at(event));
          dragging.current = undefined;
        }}
      >
        {ticks.map(([when]) => (
          <line key={when} class="tick" x1={x(when)} x2={x(when)} y1={0} y2={height - 20} />
        ))}
        {bars}
        <line class="known" x1={x(seen)} x2={x(seen)} y1={0} y2={height - 18} />
        <line class="at" x1={x(line)} x2={x(line)} y1={0} y2={height - 18} />
      </svg>
      <div class="overlay" aria-hidden="true">
        {labels}
        {ticks.map(([when, label]) => (
          <small key={when} style={{ left: `${x(when) / (WIDTH / 100)}%`, top: `${height - 20}px` }}>
            {label}
          </small>
        ))}
      </div>
    </div>
  );
}

/** Up to six instants with labels, as many as there is room for. */
function ticksOf(from: number, until: number): [number, string][] {
  const most = Math.max(2, Math.min(6, Math.floor((innerWidth - 130) / 110)));
  const step = (until - from) / most;
  const short = step > 20 * 86_400_000 ? { year: "numeric", month: "short" } : step > 86_400_000 ? { month: "short", day: "numeric" } : { day: "numeric", hour: "2-digit" };
  const format = new Intl.DateTimeFormat(document.documentElement.lang, short as Intl.DateTimeFormatOptions);
  return Array.from({ length: most }, (_, index) => from + (index + 0.5) * step).map((at) => [at, format.format(at)]);
}
