/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 9cf6c829f070d2a432b06d455377168e731e6eca14d0f3c3dd32c6990e230d19
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
