/**
 * Calls to compat peers: Go programs with both header forms, and a Rust server that treats the client as a compat peer.
 */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { Code, encode } from "frisbee-rpc";
import { connect, type HeaderForm } from "frisbee-rpc/node";
import { desk, folder } from "./desk.js";
import { frame, idOf, operationOf, splitter } from "./frame.js";
import { All, Color, Desk, DeskClient, Text } from "./generated/desk.js";
import { Color as GoColor, InteropClient } from "./generated/interop.js";
import { listening } from "./ports.js";
import { WINDOW_CHUNKS, failed, until } from "./transports.js";

const host = "127.0.0.1";
const FORMS: readonly HeaderForm[] = ["current", "old"];

/** Starts a Go server if Go is installed. */
async function go(context: TestContext, form: HeaderForm): Promise<number | undefined> {
  if (spawnSync("go", ["version"]).error) {
    if (process.env["FRISBEE_REQUIRE_GO"]) throw new Error("Go is required here and is not installed");
    context.skip("Go is not installed");
    return;
  }
  const program = `${folder()}/peer`;
  const [at, path] = form === "current" ? ["../../tests/interop/go", "./cmd/peer"] : ["../../tests/interop/go/v0_10_2", "./cmd/peer-old"];
  const built = spawnSync("go", ["build", "-o", program, path], { cwd: at, encoding: "utf8" });
  assert.equal(built.status, 0, built.stderr);
  // The server ends when its standard input is closed.
  const child = spawn(program, ["serve", "127.0.0.1:0"], { stdio: ["pipe", "pipe", "inherit"] });
  context.after(() => child.stdin.end());
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return Number(line.split(":").pop());
}

async function all<T>(messages: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const message of messages) found.push(message);
  return found;
}

for (const form of FORMS) {
  test(`server in Go is called with the ${form} header`, async (context) => {
    const port = await go(context, form);
    if (port === undefined) return;
    const channel = connect({ host, port }, { compat: form, metadata: { token: "is not sent" } });
    const peer = new InteropClient(channel);
    assert.deepEqual(await peer.add({ a: 2n, b: 40n }, { timeout: 20_000 }), { total: 42n, count: 2n });
    const nested = { first: { id: 1, name: "a" }, label: "b", middle: { inner: { id: 2, name: "" }, weight: 3n }, absent: undefined };
    assert.deepEqual(await peer.echoNested(nested), nested);
    const scalars = await peer.describe({ i32: -1, u64: 1n, text: "ä", raw: new Uint8Array([0, 255]), color: GoColor.BLUE });
    assert.match(scalars.value, /i32=-1 .*text=c3a4 raw=00ff color=3/);
    const status = await failed(peer.fail({ value: "no luck" }));
    assert.deepEqual([status.code, status.message], [Code.UNKNOWN, "no luck"]);
    const data = new Uint8Array(3 << 20).fill(7);
    assert.deepEqual((await peer.echoPayload({ seq: 1, data })).data, data);
    // These calls run at the same time as streams of each kind.
    const sums = Array.from({ length: 500 }, (_, n) => peer.add({ a: BigInt(n), b: 1n }));
    const [counts, sum, chat] = await Promise.all([
      all(peer.countUp({ from: 1n, count: 20_000n })),
      peer.sumUp(Array.from({ length: 20_000 }, (_, n) => ({ value: BigInt(n) }))),
      all(peer.chat([{ value: "a" }, { value: "b" }])),
    ]);
    assert.deepEqual([counts.length, counts.at(-1)?.value], [20_000, 20_000n]);
    assert.deepEqual(sum, { total: 199_990_000n, count: 20_000n });
    assert.deepEqual(chat.map(({ value }) => value), ["re:a", "re:b"]);
    assert.deepEqual((await Promise.all(sums)).map(({ total }) => total), Array.from({ length: 500 }, (_, n) => BigInt(n + 1)));
    const negative = await failed(all(peer.countUp({ from: 1n, count: -1n })));
    assert.deepEqual([negative.code, negative.message], [Code.UNKNOWN, "negative count"]);
    // Leaving the loop closes the stream, but not the connection.
    for await (const { value } of peer.countUp({ from: 1n, count: 1_000n })) if (value === 10n) break;
    assert.equal((await peer.add({ a: 1n, b: 1n })).total, 2n);
    channel.close();
  });

  test(`server in Rust answers a compat client with the ${form} header`, async () => {
    const server = await desk();
    const channel = connect({ host, port: server.port }, { compat: form });
    const client = new DeskClient(channel);
    const given = { flag: true, s: "ä", choice: { case: "both", value: { a: 1n, b: 2n } }, tint: Color.RED, ages: new Map([["a", 1]]) } as const;
    const echoed = await client.echo(given);
    assert.deepEqual([echoed.choice, echoed.tint, echoed.s, echoed.ages], [given.choice, given.tint, given.s, given.ages]);
    // The flat form cannot distinguish absent values from defaults.
    assert.deepEqual([(await client.echo({})).choice, (await client.echo({})).word], [undefined, ""]);
    assert.equal((await failed(client.fail({ code: 5, text: "none" }))).message, "none");
    assert.equal((await all(client.count({ from: 1n, count: 3 }))).length, 3);
    assert.equal((await client.total(Array.from({ length: 100 }, () => ({ value: 1n })))).total, 100n);
    channel.close();
    await server.stop();
  });
}

test("slow reader of a compat stream gets every message", async (context) => {
  const port = await go(context, "current");
  if (port === undefined) return;
  const channel = connect({ host, port }, { compat: "current" });
  let count = 0n;
  for await (const { value } of new InteropClient(channel).countUp({ from: 1n, count: 30_000n })) {
    assert.equal(value, ++count);
    // The pause lets more data arrive than the flow-control window permits.
    if (count === 1n) await new Promise((resolve) => setTimeout(resolve, 300));
  }
  assert.equal(count, 30_000n);
  channel.close();
});

test("a flood of tiny messages is counted with their cost", async () => {
  let isClosed = false;
  const hostile = createServer((socket) => {
    let received = Buffer.alloc(0);
    socket.on("error", () => {}).on("data", (data) => {
      if (!received.length) socket.write(Buffer.concat(Array<Buffer>(300_000).fill(frame(1, 2, encode(Desk.methods.count.reply, {})))));
      received = Buffer.concat([received, data]);
      isClosed ||= received.includes(frame(1, 2));
    });
  });
  const port = await listening(hostile);
  const channel = connect({ host, port }, { compat: "current" });
  const counts = new DeskClient(channel).count({});
  await until("the stream is closed", () => isClosed);
  assert.equal((await failed(all(counts))).code, Code.RESOURCE_EXHAUSTED);
  channel.close();
  hostile.close();
});

test("requests end when the server closes their stream", async () => {
  const packets: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {}).on("data", splitter((packet) => {
      if (operationOf(packet) !== 2) return;
      packets.push(packet);
      // The server ends its direction and closes the stream at the first request.
      if (packets.length === 2) socket.write(Buffer.concat([frame(1, 2, [6, 5, 10, 3, ...Buffer.from("EOF")]), frame(1, 2)]));
    }));
  });
  const port = await listening(server);
  const channel = connect({ host, port }, { compat: "current" });
  let isStopped = false;
  async function* requests(): AsyncGenerator<{ value: string }> {
    try {
      for (;;) {
        yield { value: "a" };
        await new Promise(setImmediate);
      }
    } finally {
      isStopped = true;
    }
  }
  const replies = new DeskClient(channel).chat(requests());
  await until("the requests end", () => isStopped);
  assert.deepEqual(await replies.next(), { done: true, value: undefined });
  // No request follows the packet that closes the stream at this end, because it would open another stream.
  await until("the stream is closed", () => packets.at(-1)?.length === 10);
  assert.equal(packets.filter((packet) => packet.length === 10).length, 1);
  channel.close();
  server.close();
});

/** Regression test: a request in the same chunk as the credit for the last message opened another stream. */
test("no request follows the end of its stream", async () => {
  const packets: Buffer[] = [];
  const reply = frame(1, 2, encode(Text, { value: "a".repeat(10_000) }));
  const server = createServer((socket) => {
    socket.on("error", () => {}).on("data", splitter((packet) => {
      packets.push(packet);
      // The credit of the client does not suffice for the last message.
      if (packet[10] === 9) socket.write(Buffer.concat([...Array<Buffer>(WINDOW_CHUNKS + 1).fill(reply), frame(1, 2)]));
      if (operationOf(packet) >= 10) socket.write(frame(idOf(packet), operationOf(packet), [8, 0, 13, 6, 10, 1]));
    }));
  });
  const port = await listening(server);
  const channel = connect({ host, port }, { compat: "current" });
  const client = new DeskClient(channel);
  const replies = client.chat((async function* () { await new Promise(() => {}); })());
  const link = await channel.connected();
  // The reply to this call follows the messages of the stream.
  await client.add({});
  const write = (operation: number, bytes: readonly number[]): void => link.write(1, operation, (to) => bytes.forEach((byte) => (to.bytes[to.at++] = byte)));
  write(5, [0x80, 0x80, 0x10]);
  write(2, [8, 0, 5, 10, 0]);
  await client.add({});
  assert.deepEqual(packets.filter((packet) => operationOf(packet) === 2).map((packet) => packet.length), [12, 10]);
  await failed(all(replies));
  channel.close();
  server.close();
});

test("server that breaks the base protocol loses its connection", async () => {
  for (const [bytes, problem] of [["010203040506070809", /header without its magic/], ["000f0001000affffffff", /packet of 4294967295 bytes exceeds/]] as const) {
    const hostile = createServer((socket) => void socket.on("error", () => {}).write(Buffer.from(`${bytes}00`, "hex")));
    const port = await listening(hostile);
    const channel = connect({ host, port }, { compat: "current", reconnectTimeout: 100 });
    const status = await failed(new DeskClient(channel).add({}, { timeout: 2000 }));
    assert.match(status.message, problem);
    channel.close();
    hostile.close();
  }
});

test("native server without the option is no compat peer", async () => {
  const server = await desk();
  const channel = connect({ host, port: server.port });
  const echoed = await new DeskClient(channel).echo({});
  assert.deepEqual(echoed, { ...echoed, word: undefined, choice: undefined } satisfies All);
  channel.close();
  await server.stop();
});
