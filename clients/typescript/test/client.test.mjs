// Against a running Cardlog, whose addresses and key are in the environment, and against a troubled service.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { Cardlog, RefusedError, UnavailableError, answerOf } from "../dist/index.js";

const { CARDLOG_WRITE_URL: writeUrl, CARDLOG_READ_URL: readUrl, CARDLOG_API_KEY: apiKey } = process.env;

async function troubled(answers, use) {
  const seen = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    seen.push({ key: request.headers["idempotency-key"], body: JSON.parse(body) });
    const [status, document] = answers.shift();
    if (status === 0) return request.socket.destroy();
    response.writeHead(status, { "content-type": "application/json", "retry-after": "0" });
    response.end(JSON.stringify(document));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  try {
    await use(new Cardlog({ writeUrl: url, readUrl: url, apiKey: "k", retries: 2 }));
  } finally {
    server.close();
    server.closeAllConnections();
  }
  return seen;
}

test("what is pushed is recalled, and put into a prompt", { skip: !writeUrl }, async () => {
  const memory = new Cardlog({ writeUrl, readUrl, apiKey });
  const pushed = await memory.push({ user_id: "nora", text: "I have a dog called Rex." });
  const { cards } = await memory.recall("nora", "what is my dog called?", { wait_for: pushed.token });
  assert.match(JSON.stringify(cards), /Rex/);
  assert.match((await memory.context("nora", "what is my dog called?")).text, /Rex/);
  const command = { body: { user_id: "nora", key: "groceries" }, params: { path: { kind: "todo_list" } } };
  assert.equal((await answerOf(memory.write.POST("/v1/references/{kind}", command))).version, 1);
  await assert.rejects(memory.recall("nora", "x", { k: 0 }), (error) => {
    assert.ok(error instanceof RefusedError);
    assert.deepEqual([error.status, error.field], [422, "k"]);
    return true;
  });
});

test("a push is repeated under the same id until it is taken", async () => {
  const seen = await troubled([[503, { status: 503 }], [0], [202, { token: "t" }]], async (memory) => {
    assert.equal((await memory.push({ user_id: "u", text: "once" })).token, "t");
  });
  assert.equal(seen.length, 3);
  assert.equal(new Set(seen.map(({ body }) => body[0].turn_id)).size, 1);
  assert.ok(seen[0].body[0].turn_id);
});

test("a command is repeated under the same key, or under the key of the app", async () => {
  const path = { kind: "todo_list", key: "x" };
  const body = { user_id: "u", op: "add" };
  const seen = await troubled([[503, {}], [200, {}], [200, {}], [503, {}], [200, {}]], async (memory) => {
    const change = (header) => memory.write.PATCH("/v1/references/{kind}/{key}", { params: { path, header }, body });
    await change();
    await change({ "idempotency-key": "mine" });
    const card = { params: { path: { card_id: "c" } }, body: { user_id: "u" } };
    await memory.write.POST("/v1/cards/{card_id}/verify", card);
  });
  const [first, again, given, verified, repeated] = seen;
  assert.ok(first.key);
  assert.equal(first.key, again.key);
  assert.equal(given.key, "mine");
  assert.ok(verified.body.request_id);
  assert.equal(verified.body.request_id, repeated.body.request_id);
});

test("a service that stays away is an error with its reason, and a wrong request is not repeated", async () => {
  const busy = [503, { status: 503, detail: "Redis cannot take turns now" }];
  await troubled([busy, busy, busy], async (memory) => {
    await assert.rejects(memory.recall("u", "x"), (error) => {
      assert.ok(error instanceof UnavailableError);
      assert.deepEqual([error.status, error.message], [503, "Redis cannot take turns now"]);
      return true;
    });
  });
  const seen = await troubled([[422, { status: 422, detail: "k: is 0", field: "k" }]], async (memory) => {
    await assert.rejects(memory.recall("u", "x"), RefusedError);
  });
  assert.equal(seen.length, 1);
});
