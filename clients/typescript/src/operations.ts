/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * ec77d9d4112872da7c1880d50de46cc3692d84470c8c8af480f6acc81894f2f8
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
