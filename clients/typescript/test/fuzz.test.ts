/**
 * Feeds the fuzzers' corpus and damaged packets to a connection. The connection must accept or reject them, and all
 * pending calls must end.
 */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { Channel, Topics, serve, type TransportEvents } from "frisbee-rpc";
import { frame } from "./frame.js";
import { Desk, DeskClient, Page } from "./generated/desk.js";

const CORPUS = "../../fuzz/corpus";
/** Corpus folders that contain the bytes of a connection or of a packet. */
const FOLDERS = ["broker", "client", "connection", "frames", "hand_off", "header", "hello", "messages", "server", "subscriber", "two_way"];

const page = serve(Page, {
  ask: (text) => text,
  feed: ({ count }) => Array.from({ length: Math.min(Math.max(count, 0), 10) }, () => ({})),
  gather: async (numbers) => {
    let count = 0;
    for await (const _ of numbers) count++;
    return { count };
  },
  slow: () => new Promise(() => {}),
});

const joined = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));
const HELLO = frame(0, 3, [...Buffer.from("fris\x01"), 4, 3, 0x80, 0x80, 0x10]);

/**
 * Feeds these bytes to a connection, in pieces of this length. Returns the packets that the connection sent and the
 * number of calls that ended.
 */
async function connection(bytes: Uint8Array, length: number): Promise<{ sent: number; ended: number }> {
  let events: TransportEvents | undefined;
  let sent = 0;
  const channel = new Channel((to) => {
    events ??= to;
    return { send: (bytes) => void (sent += bytes.length), close() {}, buffered: () => 0 };
  }, { serve: page });
  const client = new DeskClient(channel);
  const topics = new Topics(channel);
  const calls = [
    client.add({}),
    client.count({ count: 1 }).next(),
    client.chat((async function* () {
      await new Promise(() => {});
    })()).next(),
    topics.subscribe("a.>").then((messages) => messages.next()),
    topics.sync(),
  ].map((call) => call.then(() => {}, () => {}));
  assert.ok(events);
  events.open();
  for (let at = 0; at < bytes.length; at += length) {
    // Copied, because the receiver may keep the bytes and requires that they do not change.
    events.data(bytes.slice(at, at + length));
    if (at === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await new Promise((resolve) => setImmediate(resolve));
  events.close("the end of the test");
  channel.close();
  return { sent, ended: (await Promise.all(calls)).length };
}

test("a connection takes or refuses all bytes of the corpus, in pieces of any length", async () => {
  let inputs = 0;
  for (const folder of FOLDERS) {
    for (const name of readdirSync(`${CORPUS}/${folder}`)) {
      const input = new Uint8Array(readFileSync(`${CORPUS}/${folder}/${name}`));
      inputs++;
      for (const [bytes, length] of [
        [input, input.length],
        [joined(HELLO, input), 7],
        [joined(HELLO, frame(1, 2, input), frame(0x8000, 2, input), frame(0x4000, Desk.methods.add.operation, input), frame(1, 0xff02, input), frame(0, 0xff04, input), frame(1, 7, input)), 1 << 20],
      ] as const) {
        const { sent, ended } = await connection(bytes, Math.max(length, 1));
        assert.ok(sent < 1 << 16, `${sent} bytes were sent for ${folder}/${name}`);
        assert.equal(ended, 5);
      }
    }
  }
  assert.ok(inputs > 900, `${inputs}`);
});

test("damaged packets of a good connection are taken or refused", async () => {
  let state = 1;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  const { add, count } = Desk.methods;
  const good = joined(
    HELLO,
    frame(1, 1, []),
    frame(0x4000, add.operation, [16, 4, 2, 2, 1, 0x61, 8, 0, 13, 6, 10, 1]),
    frame(1, 2, [8, 0, 13, 2]),
    frame(1, 5, [0x80, 1]),
    frame(1, 7, []),
    frame(2, 7, [3, 0x6e, 0x6f]),
    frame(0x8000, 2, [9, Page.methods.gather.operation]),
    frame(0x8000, 2, [8, 0, 13, 2]),
    frame(0x8000, 7, []),
    frame(1, Page.methods.ask.operation, [16, 2, 4, 0, 8, 0, 5, 10, 1, 0x61]),
    frame(1, 6, [Page.methods.slow.operation]),
    frame(1, 0xff00, []),
    frame(0, 0xff02, [3, 0x61, 0x2e, 0x62, 1]),
    frame(2, 0xff05, [3, 0x6e, 0x6f]),
    frame(0, count.operation, [6, 5, 10, 1, 0xff]),
    frame(0, 4, []),
  );
  for (let round = 0; round < 2000; round++) {
    const bytes = good.slice();
    for (let change = random(4) + 1; change > 0; change--) bytes[random(bytes.length)] = random(256);
    const { sent, ended } = await connection(bytes, random(60) + 1);
    assert.ok(sent < 1 << 16, `${sent}`);
    assert.equal(ended, 5);
  }
});

test("source that fails while it is stopped leaves the outcome of its call", async () => {
  let events: TransportEvents | undefined;
  const channel = new Channel((to) => {
    events ??= to;
    return { send() {}, close() {}, buffered: () => 0 };
  });
  let isStopped = false;
  const call = new DeskClient(channel).chat((async function* () {
    try {
      for (;;) yield { value: "a" };
    } finally {
      isStopped = true;
      throw new Error("the source fails");
    }
  })()).next().then(() => undefined, (error: unknown) => error);
  assert.ok(events);
  events.open();
  events.data(HELLO);
  await new Promise((resolve) => setImmediate(resolve));
  events.close("gone");
  channel.close();
  assert.match(String(await call), /gone/);
  // An unhandled rejection would end the process here.
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(isStopped);
});
