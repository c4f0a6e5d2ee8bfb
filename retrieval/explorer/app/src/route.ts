/** The address: `#/screen?user=…`. All of a screen's state that is worth sharing is in it, and no server sees it. */
import { useEffect, useState } from "preact/hooks";

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

export function useRoute(): Route {
  const [route, set] = useState(read);
  useEffect(() => {
    const changed = () => set(read());
    addEventListener("hashchange", changed);
    addEventListener("popstate", changed);
    return () => (removeEventListener("hashchange", changed), removeEventListener("popstate", changed));
  }, []);
  return route;
}
