/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * c353658358064e0c4e25da6c1dd3c932e8157f7fdcf80c2eba98916d5f36202e
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
