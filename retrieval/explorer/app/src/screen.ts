/** What every screen gets. */
import type { Card, Session } from "./api";
import type { Route } from "./route";

export interface Given {
  user: string;
  route: Route;
  session: Session;
  may: (scope: string) => boolean;
  /** Whether the key may say that a card is not true. What the user stated, only the user takes back. */
  mayTakeBack: (card: Card) => boolean;
}
