/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 5d50d32ea4fec983635eeb514c2b9c78a9065bd3a8b7c555af214b11ed76499e
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
