/** The committed vectors, by which all implementations of the wire are measured, and bodies that are wrong. */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { Malformed, decode, encode, type Type } from "frisbee-rpc";
import * as interop from "../../../crates/frpc-build/tests/golden/typescript/interop.js";
import * as presence from "../../../crates/frpc-build/tests/golden/typescript/presence.js";
import * as vec from "../../../crates/frpc-build/tests/golden/typescript/vec.js";
import * as vecopt from "../../../crates/frpc-build/tests/golden/typescript/vecopt.js";
import * as desk from "./generated/desk.js";
import * as numbers from "./generated/desk.numbers.js";

interface Encoding {
  readonly name: string;
  readonly message: string;
  readonly value: unknown;
  readonly hex: string;
  readonly encode_exact: boolean;
}
interface Decoding {
  readonly name: string;
  readonly message: string;
  readonly hex: string;
  readonly go: string;
}
const REPOSITORY = "../../";
const vectors = JSON.parse(readFileSync(`${REPOSITORY}tests/wire/vectors.json`, "utf8")) as { encode: Encoding[]; decode: Decoding[] };

const MODULES = { vec, vecopt, interop } as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
const typeOf = (name: string): Type<object> => {
  const [module = "", message = ""] = name.split(".");
  return MODULES[module]?.[message] as Type<object>;
};
const bytes = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, "hex"));
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** What a value of the vectors is in a decoded message. */
function same(found: unknown, told: unknown, path: string): void {
  if (told === null) return assert.ok(found === undefined || typeof found === "object", path);
  if (typeof told !== "object") {
    if (typeof found === "bigint") return assert.equal(String(found), String(told), path);
    return assert.equal(found, told, path);
  }
  if (Array.isArray(told)) {
    if (found instanceof Map) {
      const entries = new Map([...found].map(([key, value]) => [String(key), value as unknown]));
      for (const [key, value] of told as [unknown, unknown][]) same(entries.get(String(key)), value, `${path}[${String(key)}]`);
      return;
    }
    assert.equal((found as unknown[]).length, told.length, path);
    return told.forEach((value, at) => same((found as unknown[])[at], value, `${path}[${at}]`));
  }
  const fields = told as Readonly<Record<string, unknown>>;
  if ("wire" in fields && "proto_number" in fields) return assert.equal(found, fields["proto_number"], path);
  if ("bits" in fields) {
    const bits = String(fields["bits"]);
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, BigInt(`0x${bits}`) << (bits.length === 8 ? 32n : 0n));
    const number = bits.length === 8 ? view.getFloat32(0) : view.getFloat64(0);
    return assert.ok(Object.is(found, number), `${path}: ${String(found)}`);
  }
  if ("hex" in fields && found instanceof Uint8Array) return assert.equal(hex(found), fields["hex"], path);
  for (const [name, value] of Object.entries(fields)) {
    const camel = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    const message = found as Readonly<Record<string, unknown>>;
    if (camel in message) same(message[camel], value, `${path}.${camel}`);
  }
}

/** Bodies that Go takes and this refuses, or that cannot be said in JavaScript. */
const REFUSED = ["string invalid UTF-8"];

test("every measured body is read as the value that was sent", () => {
  let count = 0;
  for (const { name, message, value, hex } of vectors.encode) {
    const type = typeOf(message);
    // The numbering of methods across files, which has no messages of its own.
    if (message.startsWith("vectwo.")) continue;
    if (REFUSED.includes(name)) {
      assert.throws(() => decode(type, bytes(hex)), Malformed, name);
      continue;
    }
    same(decode(type, bytes(hex)), value ?? {}, name);
    count++;
  }
  assert.ok(count > 190, `${count}`);
});

test("values that were read go out as the same bytes where both forms are the same", () => {
  let count = 0;
  for (const { name, message, hex: expected, encode_exact } of vectors.encode) {
    // These differ in the rich form, have nil elements, two names for a number, or a NaN whose payload JavaScript drops.
    const differs = message === "vec.OneOf" || /^(vecopt|vectwo)\./.test(message) || /nil|UNO|invalid|NaN/.test(name);
    if (!encode_exact || differs) continue;
    const type = typeOf(message);
    assert.equal(hex(encode(type, decode(type, bytes(expected)))), expected, name);
    count++;
  }
  assert.ok(count > 150, `${count}`);
});

test("bodies that are cut off or wrong are refused, and no other error leaves the decoder", () => {
  let refused = 0;
  for (const { name, message, hex, go } of vectors.decode) {
    const type = typeOf(message);
    try {
      decode(type, bytes(hex));
      assert.notEqual(go, "error", name);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      assert.ok(error instanceof Malformed, `${name}: ${String(error)}`);
      refused++;
    }
  }
  assert.ok(refused > 20, `${refused}`);
});

test("presence is exact in the rich form", () => {
  for (const value of [
    { number: 0, word: "", data: new Uint8Array(), color: presence.Color.RED, inner: undefined, plain: false },
    { number: undefined, word: undefined, data: undefined, color: undefined, inner: undefined, plain: true },
  ]) {
    assert.deepEqual(decode(presence.Optionals, encode(presence.Optionals, value)), value);
  }
  const choices: presence.Choices["first"][] = [
    undefined,
    { case: "number", value: 0 },
    { case: "data", value: new Uint8Array() },
    { case: "mood", value: presence.Choices_Mood.WILD },
    { case: "nested", value: decode(presence.Choices, bytes("00")) },
  ];
  for (const first of choices) {
    const value: presence.Choices = { first, from: ["a"], type: { case: "flag", value: false }, last: -1n };
    assert.deepEqual(decode(presence.Choices, encode(presence.Choices, value)), value);
  }
});

test("an enum value that the schema does not declare survives", () => {
  const body = bytes("08000a05");
  const { v } = decode(vec.VSparse, body);
  assert.equal(v, -0x8000_0000 + 5);
  assert.equal(hex(encode(vec.VSparse, { v })), hex(body));
  assert.throws(() => encode(vec.VSparse, { v: 4711 as vec.Sparse }), { code: 3 });
});

test("values that their types cannot hold are refused with the name of the field", () => {
  for (const [field, value] of [["i", 2 ** 31], ["i", 0.5], ["u", -1], ["l", 1n << 63n], ["w", -1n], ["s", 7]] as const) {
    assert.throws(() => encode(desk.All, { [field]: value }), { code: 3 }, `${field} = ${value}`);
  }
});

test("integers of 64 bits are exact to their ends, and numbers only as far as they are exact", () => {
  for (const [l, w] of [[-(1n << 63n), (1n << 64n) - 1n], [(1n << 63n) - 1n, 0n], [-1n, 1n << 53n]] as const) {
    const { l: readL, w: readW } = decode(desk.All, encode(desk.All, { l, w }));
    assert.deepEqual([readL, readW], [l, w]);
  }
  for (const l of [0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
    assert.equal(decode(numbers.All, encode(numbers.All, { l })).l, l);
  }
  assert.throws(() => decode(numbers.All, encode(desk.All, { l: 1n << 60n })), Malformed);
});

test("text of every length and script survives, with its byte order mark", () => {
  for (const s of ["", "a".repeat(39), "a".repeat(41), "ä".repeat(30), "\uFEFFmark", "😀".repeat(100), "a".repeat(70_000), "x\0y"]) {
    assert.equal(decode(desk.All, encode(desk.All, { s })).s, s);
  }
});

test("bytes are copied out of the body", () => {
  const body = encode(desk.Chunk, { data: new Uint8Array([1, 2, 3]) });
  const { data } = decode(desk.Chunk, body);
  body.fill(9);
  assert.deepEqual(data, new Uint8Array([1, 2, 3]));
});

test("messages nest a hundred deep and no deeper", () => {
  let deep: vec.VDeep = {};
  for (let level = 0; level < 99; level++) deep = { next: deep };
  const body = encode(vec.VDeep, deep);
  decode(vec.VDeep, body);
  assert.throws(() => encode(vec.VDeep, { next: deep }), { code: 3 });
  assert.throws(() => decode(vec.VDeep, bytes("0800".repeat(101) + "00")), Malformed);
  assert.throws(() => decode(vec.VDeep, new Uint8Array(1 << 20).map((_, at) => (at % 2 ? 0 : 8))), Malformed);
});

test("a body of nil elements is refused before it takes gigabytes", () => {
  const count = 5_000_000;
  const head = bytes("080001030ac096b102");
  const body = new Uint8Array(head.length + count);
  body.set(head);
  assert.throws(() => decode(vec.RMessage, body), /memory/);
  assert.throws(() => decode(vec.RString, bytes("080001050affffffff0f")), /beyond the end/);
});

test("the decoder returns or refuses for all bytes of the corpus", () => {
  const types = [...Object.values(vec), ...Object.values(vecopt), ...Object.values(interop), ...Object.values(presence), ...Object.values(desk)].filter(
    (value): value is Type<object> => typeof value === "object" && "spec" in value,
  );
  assert.ok(types.length > 80, `${types.length}`);
  let read = 0;
  let bodies = 0;
  for (const folder of ["messages", "values", "client", "frames"]) {
    for (const name of readdirSync(`${REPOSITORY}fuzz/corpus/${folder}`)) {
      const input = new Uint8Array(readFileSync(`${REPOSITORY}fuzz/corpus/${folder}/${name}`));
      for (const start of [0, 1, 2, 10]) {
        const body = input.subarray(start);
        bodies++;
        for (const type of types) {
          try {
            const value = decode(type, body);
            // What was read can be written, and is the same when it is read again.
            assert.deepEqual(decode(type, encode(type, value)), value);
            read++;
          } catch (error) {
            if (!(error instanceof Malformed)) throw error;
          }
        }
      }
    }
  }
  assert.ok(bodies > 1000 && read > 1000, `${bodies}, ${read}`);
});

test("random changes of good bodies are read or refused", () => {
  let state = 1;
  const random = (below: number): number => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) % below;
  const good = encode(desk.All, {
    flag: true, i: -1, u: 7, l: 1n << 40n, s: "text ä", y: new Uint8Array(9), names: ["a", "b"], pairs: [{ a: 1n }],
    ages: new Map([["x", 1]]), byNumber: new Map([[3n, { b: 2n }]]), choice: { case: "both", value: { a: 3n } }, inner: { maybe: 0 },
  });
  let read = 0;
  for (let round = 0; round < 20_000; round++) {
    const body = good.slice(0, random(8) ? good.length : random(good.length));
    for (let change = random(4) + 1; change > 0; change--) body[random(body.length)] = random(256);
    try {
      decode(desk.All, body);
      read++;
    } catch (error) {
      assert.ok(error instanceof Malformed, String(error));
    }
  }
  assert.ok(read > 0 && read < 20_000, `${read}`);
});
