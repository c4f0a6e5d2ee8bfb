/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 37c33c1701156ec693328de1aec904e5c98b4910154f894398a9c9bce93478b6
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
