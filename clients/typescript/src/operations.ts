/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * dc26142f3a9d389190d385fcba37c7fcea0620b9e1d6ebf69719a3a724744b80
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
