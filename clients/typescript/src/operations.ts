/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 07627e1acfcde915598b53aabc679f3d53a512dadeacc12b75a3cc0f650a9150
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
