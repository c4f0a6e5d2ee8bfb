/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 356e5551227738295372247d9281b8945f51ed593112a8148a14f73e0e7db62c
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
