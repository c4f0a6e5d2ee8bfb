/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 5e778d8b5f51d940f68b4bd48223cbab1184e610a4915e9a8b0fb25ff2a50275
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
