/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 91217e01a798753d58508a323433aba29251645ea5069ed2d74b9d2c0022f7a3
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
