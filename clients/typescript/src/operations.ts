/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * ba2960eb2f0dc6d4cf67aea7b34a6c588c8cc40622ecb0d632798f09ddc375ff
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
