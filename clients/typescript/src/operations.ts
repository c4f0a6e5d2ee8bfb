/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 26153b44692187e95a121a19f4d1daa888d2aeff3b55970539400568400c3cdb
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
