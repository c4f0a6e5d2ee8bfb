/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 88fb2921d495c548bf5798e51105567e9fa3179fae6930e4871c5b5864eb3732
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
