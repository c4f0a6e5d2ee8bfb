/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 17fe606bbee1c01c02f177ad05a1992fb0c8c0f6bd18ab2939378082e9625682
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
