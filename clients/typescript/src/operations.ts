/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 800b1c7703d5ed9a0eed290a55ae9f283df06a4da70e628715a8e71a341a436d
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
