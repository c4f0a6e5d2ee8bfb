/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 61c554364319887f8a2a33829450e10424ad825f8f35cfe1f45547c9681c904a
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
