/** What every screen gets. */
import type { Session } from "./api";
import type { Route } from "./route";

export interface Given {
  user: string;
  route: Route;
  session: Session;
  may: (scope: string) => boolean;
}
