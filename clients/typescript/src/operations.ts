/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 02e402654e95ad50ac2b3bd667c7f98caece79b50e0a650ea7ac23cdaa67b856
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
