/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * dfe8f184a37a2970ac6ab5541fc7269a8a168dc53f0387decda917b120fe02d5
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
