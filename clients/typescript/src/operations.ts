/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 3c46188b02b1ef6a4c75c0779bb4b4dbb27cb2b0ed0622b736605e8537deab7c
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
