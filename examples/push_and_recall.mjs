// Pushes turns over HTTP, then asks a question. It needs Node 18 or newer and no package.
//
// Run it beside `cardlog up --data data`:
//
//     node examples/push_and_recall.mjs data/ready.json

import { readFile } from "node:fs/promises";

async function post(url, document) {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify(document),
    signal: AbortSignal.timeout(30_000),
  });
  const body = await answer.json();
  // Every error is a problem document (RFC 9457). `detail` names the field and the remedy.
  if (!answer.ok) throw new Error(`${answer.status}: ${body.detail}`);
  return body;
}

// `cardlog up` writes its addresses here. An app in production has them among its own settings.
const addresses = JSON.parse(await readFile(process.argv[2] ?? "data/ready.json", "utf8"));
// Both services want an API key. The last word of the key file is one that may push, read and write.
const key = (await readFile(addresses.key_file, "utf8")).trim().split(/\s+/).at(-1);
const user = "example-mei";

const pushed = await post(`${addresses.write_url}/v1/turns`, [
  { user_id: user, text: "我住在台北。", said_at: "2026-03-02T10:00:00+08:00", timezone: "Asia/Taipei", turn_id: "m1" },
  { user_id: user, text: "我搬到台南了。", said_at: "2026-06-05T18:30:00+08:00", timezone: "Asia/Taipei", turn_id: "m2" },
]);

// With the token the question waits, for at most 5 s, until the turns have become cards.
const query = "我住在哪裡?";
const answer = await post(`${addresses.read_url}/v1/recall`, { user_id: user, query, k: 1, wait_for: pushed.token });
for (const card of answer.cards) console.log(`${query} ${card.value} (${card.source_span.text})`);
for (const warning of answer.warnings) console.error(warning);
