/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 32c6c1168d35287d4060ff3aaaabd4ec1b7e49c2bdea7568497c56e44f8152b4
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
