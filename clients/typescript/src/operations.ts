/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 779cec4731973af89fc6527becb5ca97185cb62f98a698bf8844ee08f7d51eb0
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
