/** The address: `#/screen?user=…`. All of a screen's state that is worth sharing is in it, and no server sees it. */
import { useEffect, useRef, useState } from "preact/hooks";

export interface Route {
  screen: string;
  get: (name: string) => string;
  all: Record<string, string>;
}

function read(): Route {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const given = new URLSearchParams(query);
  return { screen: path || "ask", get: (name) => given.get(name) ?? "", all: Object.fromEntries(given) };
}

/** Returns the address of a screen. Empty parameters are left out. */
export function to(screen: string, values: Record<string, string | undefined>): string {
  const kept = Object.entries(values).filter((each): each is [string, string] => Boolean(each[1]));
  const query = new URLSearchParams(kept).toString();
  return `#/${screen}${query && "?" + query}`;
}

export function go(screen: string, values: Record<string, string | undefined>, replace = false): void {
  const address = to(screen, values);
  if (replace) history.replaceState(null, "", address);
  else if (location.hash !== address) history.pushState(null, "", address);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** The route. It is a new object whenever somebody goes somewhere, also to the same address. */
export function useRoute(): Route {
  const [route, set] = useState(read);
  useEffect(() => {
    const changed = () => set(read());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}

/** A form that writes the address of a screen. The address is the source of its fields: they follow it, also on the way back. */
export function useAddressForm(screen: string, { all }: Route) {
  const latest = useRef(all);
  const [, redraw] = useState(all);
  useEffect(() => redraw((latest.current = all)), [all]);
  const put = (name: string, value: string) => redraw((latest.current = { ...latest.current, [name]: value }));
  const submit = (event?: Event) => (event?.preventDefault(), go(screen, latest.current));
  return { form: latest.current, put, submit };
}
