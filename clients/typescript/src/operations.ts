/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * a3e6bd00240459c33942a10d419dc43a96baa0b58f734b207e461e67e89efadd
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
