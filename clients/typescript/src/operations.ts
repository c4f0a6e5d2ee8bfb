/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 81eb8898ccf91e2175524d2c99f2788723942dea1c63c7f69cb2bba67843bdd3
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
