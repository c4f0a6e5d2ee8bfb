/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 0e53309830d3036fd0a520e69d86dad9f9bff6112576cd0cff6e5714dd97310a
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
