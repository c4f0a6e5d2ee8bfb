/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * ca421eceb410545ece68df2cd83b0f941ca89c498d0514784ec706320984fc6e
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
