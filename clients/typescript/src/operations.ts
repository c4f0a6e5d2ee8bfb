/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.
 * 540e62ddbf7072a3ccdea148ca701fda21111b399981f9660100910616ba1052
 */

/** The paths of commands whose body holds the id of the request. */
export const REQUEST_ID: ReadonlySet<string> = new Set(["/v1/cards/{card_id}/verify", "/v1/cards/{card_id}/mode"]);
