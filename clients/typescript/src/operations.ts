/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 36684f36991fd61a8a1a8f2f2fc3f1e08db49d5b00daba7c4303b359a517c3b6
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
