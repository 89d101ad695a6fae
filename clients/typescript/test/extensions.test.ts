/** Tests the extensions of native peers. The Rust tests use the same vectors. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Status, decode, encode } from "frisbee-rpc";
import { putItem, putRaw, putText, reader, writer, written } from "../src/bytes.js";
import { makeLink, type Owner, type TransportEvents } from "../src/link.js";
import { readItems, readPrefix, readTrailers } from "../src/prefix.js";
import { frame } from "./frame.js";
import * as vec from "../../../crates/frpc-languages/tests/golden/typescript/vec.js";

interface Vector {
  readonly meaning: string;
  readonly hex: string;
  readonly error?: string;
  readonly reply?: string;
  readonly number?: number;
  readonly metadata?: readonly string[];
  readonly timeout_us?: number;
  readonly code?: number;
  readonly text?: string;
  readonly may_have_run?: boolean;
}

const vectors = JSON.parse(readFileSync("../../tests/wire/extensions.json", "utf8")) as Record<"packets" | "hello" | "prefix" | "headers" | "trailers" | "enums", readonly Vector[]>;
const bytes = ({ hex }: Vector): Buffer => Buffer.from(hex, "hex");

/** Returns why the connection is closed after the server has sent these bytes, or `undefined` if it stays open. */
function closing(...received: readonly Uint8Array[]): string | undefined {
  let events: TransportEvents | undefined;
  let reason: string | undefined;
  const owner: Owner = { closing: (_, text) => (reason ??= text), answered() {}, room() {}, replied() {}, expired() {}, lost() {} };
  const link = makeLink((its) => ((events = its), { send() {}, close() {}, buffered: () => 0 }), owner, [], undefined, []);
  for (const part of received) events?.data(part);
  const found = reason;
  events?.close("the test is over");
  assert.equal(link.isUp, false);
  return found;
}

for (const vector of vectors.packets) {
  test(`packet of operation 3: ${vector.meaning}`, () => {
    const reason = closing(bytes(vectors.packets[0] as Vector), bytes(vector));
    if (vector.error) assert.match(reason ?? "", new RegExp(vector.error));
    else assert.equal(reason, undefined);
  });
}

for (const vector of vectors.hello) {
  test(`HELLO: ${vector.meaning}`, () => {
    const reason = closing(frame(0, 3, bytes(vector)));
    if (vector.error) assert.match(reason ?? "", new RegExp(vector.error.startsWith("item") ? vector.error : "HELLO|truncated"));
    else assert.equal(reason, undefined);
  });
}

for (const vector of vectors.prefix) {
  test(`prefix: ${vector.meaning}`, () => {
    if (vector.reply === "OK") {
      const { timeout, metadata } = readPrefix(reader(bytes(vector)), true);
      assert.equal(timeout, vector.timeout_us === undefined ? undefined : vector.timeout_us / 1000);
      assert.deepEqual([metadata["k"] ?? []].flat(), vector.metadata ?? []);
    } else if (vector.reply === "UNIMPLEMENTED") {
      assert.throws(() => readPrefix(reader(bytes(vector)), true), (error: Status) => error.code === 12 && !error.mayHaveRun);
      assert.throws(() => readPrefix(reader(bytes(vector))), { name: "Malformed" });
    } else assert.throws(() => readPrefix(reader(bytes(vector)), true), { name: "Malformed" });
  });
}

for (const vector of vectors.headers) {
  test(`HEADERS: ${vector.meaning}`, () => {
    const read = (): unknown => readItems(reader(bytes(vector))).metadata["k"];
    if (vector.error) assert.throws(read, { name: "Malformed" });
    else assert.deepEqual([read() ?? []].flat(), vector.metadata ?? []);
  });
}

/** Returns an item with a metadata entry of this total length, which includes eight bytes. */
function entry(length: number): Uint8Array {
  const to = writer();
  putItem(to, 2, () => {
    putText(to, "k");
    putRaw(to, new Uint8Array(length - 9).fill(0x61));
  });
  return written(to);
}

test("metadata of HEADERS has a limit", () => {
  assert.equal(readItems(reader(entry(61_440))).metadata["k"]?.length, 61_431);
  assert.throws(() => readItems(reader(entry(61_441))), { name: "Malformed" });
});

for (const vector of vectors.trailers) {
  test(`TRAILERS: ${vector.meaning}`, () => {
    const read = (): Status | undefined => readTrailers(reader(bytes(vector)));
    if (vector.code === 13) return void assert.throws(read, { name: "Malformed" });
    const status = read();
    assert.equal(status?.code, vector.code);
    assert.equal(status?.message, vector.text);
    assert.equal(status?.mayHaveRun, vector.may_have_run);
  });
}

for (const vector of vectors.enums) {
  test(`enum: ${vector.meaning}`, () => {
    const message = decode(vec.VSparse, bytes(vector));
    assert.equal(message.v, vector.number);
    assert.equal(Buffer.from(encode(vec.VSparse, message)).toString("hex"), vector.hex);
  });
}
