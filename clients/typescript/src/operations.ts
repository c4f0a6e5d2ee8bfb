/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 2e1c1ec72f7c7a2d7e4ffa414b7f5d8809b4770a093163d3d017696e00cadc7e
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
