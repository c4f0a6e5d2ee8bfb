/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 2efa587db040b705b25ea8039a7be2aae3f8a7fb889a87d7d5afd001e65668c4
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
