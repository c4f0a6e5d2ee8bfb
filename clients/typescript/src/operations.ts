/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 95731f784670a1c483cb777c7cf9d8a77ca36f97d1fe577a662c4adbea2ec163
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
