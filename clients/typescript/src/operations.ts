/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 91fc9c1eacbfa102c8b7e58d5c18bd9d805c4e65cfce5c315990b6323397efed
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
