/** The frame: who is signed in, whose memory is shown, the menu. */
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api, onSignedOut, Problem, session, type Session } from "./api";
import { Arbitration } from "./arbitration";
import { Ask } from "./ask";
import { CardPage } from "./card";
import { Core } from "./core";
import { Graph } from "./graph";
import { Health } from "./health";
import { VectorMap } from "./map";
import { Memory } from "./memory";
import { Modes } from "./modes";
import { Operations } from "./operations";
import { Problems } from "./problems";
import { References } from "./references";
import { go, to, useRoute } from "./route";
import type { Given } from "./screen";
import "./style.css";
import { LANGUAGES, language, setLanguage, t, type Key } from "./texts";
import { Timeline } from "./timeline";
import { asProblem, Busy, Empty, Field, Heading, Notice, Told, valueOf } from "./ui";

const SCREENS: [string, Key, (given: Given) => unknown][] = [
  ["ask", "Ask", Ask],
  ["memory", "Memory", Memory],
  ["timeline", "Timeline", Timeline],
  ["arbitration", "Arbitration", Arbitration],
  ["core", "Core document", Core],
  ["references", "References", References],
  ["problems", "Problems", Problems],
  ["modes", "Modes", Modes],
  ["health", "Health", Health],
  ["graph", "Graph", Graph],
  ["map", "Map", VectorMap],
  ["operations", "Operations", Operations],
];
const OF_NOBODY = ["operations"];
const RENEW_MS = 15 * 60_000;

function App() {
  const [, redraw] = useState(0);
  const [signedIn, set] = useState<Session | null | undefined>(undefined);
  const [problem, setProblem] = useState<Problem>();
  const route = useRoute();
  const code = route.screen === "sign-in" ? route.get("code") : "";
  const look = () =>
    session.get().then(set, (error: unknown) => {
      const found = asProblem(error);
      if (found.status !== 401) setProblem(found);
    });
  useEffect(() => {
    onSignedOut(() =>
      set((before) => {
        if (before) setProblem(new Problem(401, "ended", "")); // who was never signed in knows why
        return null;
      }),
    );
    const renew = setInterval(() => document.visibilityState === "visible" && look(), RENEW_MS);
    return () => clearInterval(renew);
  }, []);
  useEffect(() => {
    if (!code) return void look();
    history.replaceState(null, "", "#/ask"); // a used code is worth nothing, and stays out of the history
    signIn(code).then(
      () => (look(), go("ask", {}, true)),
      (error: unknown) => (set(null), setProblem(asProblem(error))),
    );
  }, [code]);
  useEffect(() => {
    document.documentElement.lang = language();
  });
  if (signedIn === undefined) return <main>{problem ? <Notice problem={problem} again={() => (setProblem(undefined), look())} /> : <Busy />}</main>;
  if (signedIn === null) return <SignIn problem={problem} done={() => (setProblem(undefined), look())} redraw={() => redraw((n) => n + 1)} />;
  const user = route.get("user") || (signedIn.users?.length === 1 ? signedIn.users[0]! : "");
  const screen = SCREENS.find(([name]) => name === route.screen);
  const may = (scope: string) => signedIn.scopes.includes(scope);
  const given: Given = { user, route, session: signedIn, may, mayTakeBack: (card) => may("write") && card.kind !== "reference" && (may("user") || card.provenance !== "user_stated") };
  const Screen = (route.screen === "card" ? CardPage : screen?.[2]) as ((given: Given) => preact.JSX.Element) | undefined;
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.getElementById("main")?.focus())}>
        {t("to the content")}
      </a>
      <header>
        <b class="brand">Cardlog</b>
        <Users given={given} />
        <span class="grow" />
        <Languages redraw={() => redraw((n) => n + 1)} />
        {signedIn.key_id && (
          <button type="button" onClick={() => session.signOut().then(() => set(null))}>
            {t("sign out")}
          </button>
        )}
      </header>
      <Menu user={user} shown={route.screen} limited={signedIn.tenant !== "default" || [signedIn.users, signedIn.projects, signedIn.modes].some(Boolean)} />
      <main id="main" tabIndex={-1}>
        <Told />
        {screen && <Heading key={route.screen} title={t(screen[1])} />}
        {!Screen ? (
          <Empty>{t("There is no such screen. Choose one above.")}</Empty>
        ) : !user && !OF_NOBODY.includes(route.screen) ? (
          <Empty>{t("Name the user whose memory you want to see, above.")}</Empty>
        ) : (
          <Screen key={`${route.screen} ${user} ${screen ? "" : route.get("id")}`} {...given} />
        )}
      </main>
    </>
  );
}

/** The screens. On a telephone they are folded behind the name of the present one. */
function Menu({ user, shown, limited }: { user: string; shown: string; limited: boolean }) {
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [shown]);
  const present = SCREENS.find(([name]) => name === shown);
  return (
    <nav aria-label={t("screens")} class={open ? undefined : "folded"}>
      <button type="button" class="menu" aria-expanded={open} onClick={() => setOpen(!open)}>
        ☰ {present ? t(present[1]) : t("screens")}
      </button>
      {SCREENS.filter(([name]) => !limited || !OF_NOBODY.includes(name)).map(([name, label]) => (
        <a key={name} href={to(name, { user })} aria-current={name === shown ? "page" : undefined}>
          {t(label)}
        </a>
      ))}
    </nav>
  );
}

/** Signs in. A key that may not read would meet a refusal on every screen. */
async function signIn(key: string): Promise<void> {
  const who = await session.signIn(key).catch((error: unknown) => {
    throw asProblem(error).status === 401 ? new Problem(-1, t("This key or link is not valid, or no longer."), "") : error;
  });
  if (!who.scopes.includes("read")) {
    await session.signOut();
    throw new Problem(403, "scope", t("The explorer needs a key with the scope read. This key has: {scopes}.", { scopes: who.scopes.join(", ") }));
  }
}

function SignIn({ problem, done, redraw }: { problem?: Problem; done: () => void; redraw: () => void }) {
  const [key, setKey] = useState("");
  const [refused, setRefused] = useState(problem);
  useEffect(() => setRefused(problem), [problem]);
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await signIn(key.replace(/^Authorization:\s*Bearer\s+/i, "").trim());
      await session.get().catch(() => {
        throw new Problem(0, "cookie", t("This browser keeps no secure cookie over plain http. Use https, or Chromium or Firefox on this machine."));
      });
      done();
    } catch (error) {
      setRefused(asProblem(error));
    }
  };
  return (
    <main class="sign-in">
      <h1>Cardlog</h1>
      <p>{t("Sign in with an API key. Its rights decide what you see and may do.")}</p>
      <form onSubmit={submit}>
        <Field label={t("API key")} wide>
          <input type="password" autocomplete="off" required value={key} onInput={(event) => setKey(valueOf(event))} placeholder="clk_…" />
        </Field>
        <button class="main">{t("sign in")}</button>
      </form>
      <Notice problem={refused} />
      <p class="quiet">{t("`cardlog up` prints a link that signs in once. `cardlog keys create` makes a key.")}</p>
      <Languages redraw={redraw} />
    </main>
  );
}

function Languages({ redraw }: { redraw: () => void }) {
  return (
    <select aria-label={t("language")} value={language()} onChange={(event) => (setLanguage(valueOf(event)), redraw())}>
      {LANGUAGES.map(([code, name]) => (
        <option key={code} value={code} lang={code}>
          {name}
        </option>
      ))}
    </select>
  );
}

function Users({ given: { session: who, user, route, may } }: { given: Given }) {
  const [known, setKnown] = useState<string[]>(who.users ?? []);
  const [typed, setTyped] = useState(user);
  useEffect(() => setTyped(user), [user]);
  useEffect(() => {
    if (!who.users && may("admin")) api("get", "/v1/users", { query: { limit: 200 } }).then((page) => setKnown(page.users.map((each) => each.user_id)), () => {});
  }, []);
  const choose = (event: Event) => {
    event.preventDefault();
    if (typed !== user) go(route.screen === "card" || !route.screen ? "ask" : route.screen, { user: typed.trim() });
  };
  return (
    <form class="users" onSubmit={choose}>
      <label>
        <span>{t("user")}</span>
        <input list="known-users" value={typed} onInput={(event) => setTyped(valueOf(event))} onChange={choose} spellcheck={false} autocomplete="off" maxLength={512} />
      </label>
      <datalist id="known-users">
        {known.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <button>{t("show")}</button>
    </form>
  );
}

render(<App />, document.getElementById("app")!);
