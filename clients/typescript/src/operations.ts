/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 47b4aaf0abebb982b303cb47b77f338209964ae95eea3dc566ceee120ab483d3
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
