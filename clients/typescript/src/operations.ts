/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 95f07c819b36c35bd245b113f9af01c60e1319e675f939efdd28eca3aaceed7c
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
