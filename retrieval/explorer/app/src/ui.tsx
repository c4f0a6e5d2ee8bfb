/** The parts that the screens share. */
import { Fragment, options, type ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "./api";
import { locale, t, TABLE, type Key } from "./texts";

export interface Loaded<T> {
  value?: T;
  problem?: Problem;
  busy: boolean;
  again: () => void;
}

/** Loads a value when `keys` change, and drops answers that come too late. `null` loads nothing. */
export function useLoad<T>(load: (() => Promise<T>) | null, keys: unknown[]): Loaded<T> {
  const [state, set] = useState<{ value?: T; problem?: Problem; busy: boolean }>({ busy: load !== null });
  const [turn, next] = useState(0);
  useEffect(() => {
    if (!load) return set({ busy: false });
    let late = false;
    set((before) => ({ ...before, busy: true, problem: undefined }));
    load().then(
      (value) => late || set({ value, busy: false }),
      (problem: unknown) => late || set({ problem: asProblem(problem), busy: false }),
    );
    return () => {
      late = true;
    };
  }, [...keys, turn]);
  return { ...state, again: () => next(turn + 1) };
}

export const asProblem = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem(-1, t("This page has a fault."), String(error));

/** Calls `again` every `ms` milliseconds while the tab is in sight, and once when it comes back. */
export function usePolling(ms: number, again: () => void): void {
  const latest = useRef(again);
  latest.current = again;
  useEffect(() => {
    const ask = () => document.visibilityState === "visible" && latest.current();
    const clock = setInterval(ask, ms);
    document.addEventListener("visibilitychange", ask);
    return () => {
      clearInterval(clock);
      document.removeEventListener("visibilitychange", ask);
    };
  }, [ms]);
}

/** Runs one edit at a time, and keeps its problem. */
export function useEdit(): { problem?: Problem; busy: boolean; run: (edit: () => Promise<unknown>) => Promise<boolean> } {
  const [state, set] = useState<{ problem?: Problem; busy: boolean }>({ busy: false });
  const run = async (edit: () => Promise<unknown>) => {
    set({ busy: true });
    try {
      await edit();
      set({ busy: false });
      return true;
    } catch (error) {
      set({ busy: false, problem: asProblem(error) });
      return false;
    }
  };
  return { ...state, run };
}

export function Notice({ problem, again }: { problem?: Problem; again?: () => void }) {
  if (!problem) return null;
  const key = ({ 0: "p.away", 401: "p.401", 403: "p.403", 404: "p.404", 409: "p.409", 429: "p.429", 503: "p.503", 504: "p.504" } as Record<number, Key>)[
    problem.status
  ];
  return (
    <div class="notice bad" role="alert">
      <strong>{key ? t(key) : problem.title}</strong>
      {problem.message && <p lang="en">{problem.message}</p>}
      {again && (problem.status === 0 || problem.status >= 429) && (
        <button type="button" onClick={again}>
          {t("try again")}
        </button>
      )}
    </div>
  );
}

export const Busy = () => (
  <p class="quiet" role="status">
    {t("loading")}
  </p>
);

export const Empty = ({ children }: { children: ComponentChildren }) => <div class="empty">{children}</div>;

// Characters that show nothing or turn the direction of a text: a card must not look like another one. Between two
// pictures, U+200D makes one picture of them.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d|\u200d(?!\p{Extended_Pictographic})/gu;

const nameOf = (hidden: string) => `U+${hidden.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
const named = (part: unknown): unknown =>
  typeof part === "string" ? part.replace(HIDDEN, nameOf) : Array.isArray(part) ? part.map(named) : part;

// Every text and every label names hidden characters, wherever its words come from. Only what is typed stays as it is.
const next = options.vnode;
options.vnode = (node) => {
  if (typeof node.type === "string" || node.type === Fragment) {
    const props = node.props as Record<string, unknown>;
    for (const shown of ["children", "aria-label", "title"]) if (shown in props) props[shown] = named(props[shown]);
  }
  next?.(node);
};

/** The beginning of words where nothing but text can stand, without hidden characters. */
export const hushed = (text: string, most: number): string => {
  const plain = text.slice(0, most).replace(HIDDEN, "");
  return text.length > most ? `${plain}…` : plain;
};

/** A table that scrolls by itself. The first cell of a row names it. */
export const Table = ({ caption, head, rows }: { caption: string; head: ComponentChildren[]; rows: ComponentChildren[][] }) => (
  <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
    <table>
      <caption>{caption}</caption>
      <thead>
        <tr>
          {head.map((each, index) => (
            <th scope="col" key={index}>
              {each}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, ...cells], index) => (
          <tr key={index}>
            <th scope="row">{name}</th>
            {cells.map((cell, at) => (
              <td key={at}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** Words of somebody: text only, with a direction of their own, hidden characters named, and the end of long ones folded. */
export function Words({ text, most = 600 }: { text: string; most?: number }) {
  const [all, setAll] = useState(false);
  const shown = all ? text : text.slice(0, most);
  const parts: ComponentChildren[] = [];
  let last = 0;
  for (const found of shown.matchAll(HIDDEN)) {
    parts.push(shown.slice(last, found.index));
    parts.push(<span class="hidden-mark">{nameOf(found[0])}</span>);
    last = found.index + found[0].length;
    if (parts.length > 400) break;
  }
  parts.push(shown.slice(last));
  return (
    <>
      <bdi class="words" dir="auto">
        {parts}
      </bdi>
      {text.length > most && (
        <button type="button" class="link" onClick={(event) => (event.preventDefault(), setAll(!all))}>
          {all ? t("less") : `… ${t("all {n} characters", { n: text.length })}`}
        </button>
      )}
    </>
  );
}

const formats = new Map<string, Intl.DateTimeFormat>();
export function told(at: string | Date, zone?: string): string {
  const key = `${locale()} ${zone ?? ""}`;
  let format = formats.get(key);
  if (!format) {
    try {
      format = new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short", ...(zone ? { timeZone: zone } : {}) });
    } catch {
      return ""; // a zone that this browser does not know
    }
    formats.set(key, format);
  }
  const date = new Date(at);
  return isNaN(+date) ? String(at) : format.format(date);
}

/** The times of a card as the services tell them, in the chosen language. */
export const inWords = (when: string) => when.replace(/[a-z]+/g, (word) => (word in TABLE ? t(word as Key) : word));

/** An instant in the viewer's zone, with the speaker's clock beside it where the two differ. */
export function Time({ at, zone }: { at?: string | null; zone?: string | null }) {
  if (!at) return <span class="quiet">–</span>;
  const here = told(at);
  const there = zone ? told(at, zone) : here;
  return (
    <time dateTime={at}>
      {here}
      {there && there !== here && (
        <span class="quiet">
          {" "}
          ({there} {zone})
        </span>
      )}
    </time>
  );
}

/** A native dialog: it keeps the focus, and Escape closes it. */
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    box.current?.showModal();
    return () => before?.focus();
  }, []);
  return (
    <dialog ref={box} onClose={close} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

/** Asks before a step that is hard to take back. It keeps the problem of the step, and closes after it. */
export function Confirm(props: {
  title: string;
  action: string;
  danger?: boolean;
  reason?: { maxLength: number; required?: boolean };
  ready?: boolean;
  run: (because: string) => Promise<unknown>;
  close: () => void;
  children: ComponentChildren;
}) {
  const [because, set] = useState("");
  const { problem, busy, run } = useEdit();
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await run(() => props.run(because.trim()))) props.close();
  };
  return (
    <Dialog title={props.title} close={props.close}>
      <form onSubmit={submit}>
        {props.children}
        {props.reason && (
          <Field label={t("reason")} wide>
            <input {...props.reason} value={because} onInput={(event) => set(valueOf(event))} />
          </Field>
        )}
        <Notice problem={problem} />
        <p class="actions">
          <button class={props.danger ? "main danger" : "main"} disabled={busy || props.ready === false}>
            {props.action}
          </button>
          <button type="button" onClick={props.close}>
            {t("cancel")}
          </button>
        </p>
      </form>
    </Dialog>
  );
}

let show: (text: string) => void = () => {};
/** Tells above the screen what was done. It stays until somebody goes elsewhere. */
export const tell = (text: string) => show(text);

export function Told() {
  const [text, set] = useState("");
  show = set;
  useEffect(() => {
    const gone = () => set("");
    addEventListener("hashchange", gone);
    return () => removeEventListener("hashchange", gone);
  }, []);
  return (
    <p class={text && "notice good"} role="status">
      {text}
    </p>
  );
}

let moved = false;
addEventListener("hashchange", () => (moved = true), { once: true });

/** The heading of a screen. It names the page, and takes the focus that an opened link lost. */
export function Heading({ title }: { title: string }) {
  const box = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${hushed(title, 60)} · Cardlog`;
  }, [title]);
  useEffect(() => {
    if (moved && document.activeElement === document.body) box.current?.focus();
  }, []);
  return (
    <h1 ref={box} tabIndex={-1}>
      <Words text={title} />
    </h1>
  );
}

export function Field({ label, hint, children, wide }: { label: string; hint?: string; children: ComponentChildren; wide?: boolean }) {
  return (
    <label class={wide ? "field wide" : "field"} title={hint}>
      <span>{label}</span>
      {children}
    </label>
  );
}

export const number = (value: number | null | undefined, digits = 0) => (value === null || value === undefined ? t("unknown") : value.toFixed(digits));

export const valueOf = (event: Event) => (event.currentTarget as HTMLInputElement).value;

/** Times in a form are local; the address and the services have instants. */
export const toInstant = (local: string) => (local ? new Date(local).toISOString() : "");
export function toLocal(instant: string): string {
  if (!instant || isNaN(+new Date(instant))) return "";
  const date = new Date(instant);
  return new Date(+date - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** A list of any length: only the rows in sight exist. `more` is called near the end. */
export function Rows<T>(props: { items: T[]; height: number; row: (item: T, index: number) => ComponentChildren; more?: () => void; label: string }) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [tall, setTall] = useState(600);
  useEffect(() => {
    const watch = new ResizeObserver(() => box.current && setTall(box.current.clientHeight));
    if (box.current) watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  const from = Math.max(0, Math.floor(top / props.height) - 5);
  const until = Math.min(props.items.length, Math.ceil((top + tall) / props.height) + 5);
  useEffect(() => {
    if (until + 20 >= props.items.length) props.more?.();
  }, [until, props.items.length]);
  return (
    <div class="rows" ref={box} onScroll={() => setTop(box.current!.scrollTop)} tabIndex={0} role="region" aria-label={props.label}>
      <ul style={{ height: `${props.items.length * props.height}px` }}>
        {props.items.slice(from, until).map((item, index) => (
          <li
            key={from + index}
            aria-setsize={props.more ? -1 : props.items.length}
            aria-posinset={from + index + 1}
            style={{ top: `${(from + index) * props.height}px`, height: `${props.height}px` }}
          >
            {props.row(item, from + index)}
          </li>
        ))}
      </ul>
    </div>
  );
}
