/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * bc60765d7fb80cbb9685eeeffbafba1a45c44b8fe37db0cc646febfc7f14f6cf
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
