/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 4946af97c754601c7a5b2ef153df1822fb6276906bc7ebde63ef3704bacb2f1d
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
