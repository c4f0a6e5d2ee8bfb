/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 541b4eebeca182626aa3025f9b3c366bd77c86d5ba2da3ac31e29b13b13f67fd
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
