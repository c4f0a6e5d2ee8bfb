/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 4921c946b49b14b1fd810beeee9236d089a438f51e8c5ffae3f7b236c43c9418
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
