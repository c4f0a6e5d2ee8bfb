/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * c3497fa1ffb81e1de296cd6f20e14bac43448c6903679ea9f139c82b042b35c7
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
