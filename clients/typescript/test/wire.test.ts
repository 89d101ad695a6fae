/** Encoding of messages: the committed vectors, values at their limits, and invalid bodies. */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { Malformed, decode, encode, message, type Init, type Type } from "frisbee-rpc";
import * as interop from "../../../crates/frpc-languages/tests/golden/typescript/interop.js";
import * as presence from "../../../crates/frpc-languages/tests/golden/typescript/presence.js";
import * as vec from "../../../crates/frpc-languages/tests/golden/typescript/vec.js";
import * as vecopt from "../../../crates/frpc-languages/tests/golden/typescript/vecopt.js";
import * as desk from "./generated/desk.js";
import * as numbers from "./generated/desk.numbers.js";
import { bytes, hex, vectors } from "./matrix/vectors.js";

const REPOSITORY = "../../";

vectors();

test("decoded message shares no memory with its bytes", () => {
  const body = encode(desk.Chunk, { data: new Uint8Array([1, 2]) });
  for (const bytes of [body, Buffer.from(body)]) {
    const { data } = decode(desk.Chunk, bytes);
    bytes.fill(0);
    assert.deepEqual(data, new Uint8Array([1, 2]));
  }
});

test("presence is exact in the extended form", () => {
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
  // Other undeclared numbers are sent unchanged, so that a reader whose schema declares them can decode them.
  for (const [number, expected] of [[7, "08000c0e"], [-7, "08000c0d"], [-0x8000_0000 + 2, "08000cfbffffff0f"]] as const) {
    const other = encode(vec.VSparse, { v: number as vec.Sparse });
    assert.equal(hex(other), expected);
    assert.equal(decode(vec.VSparse, other).v, number);
  }
  assert.equal(decode(vec.VSparse, bytes("08000cd00f")).v, 1000);
  assert.throws(() => encode(vec.VSparse, { v: 0.5 as vec.Sparse }), { code: 3 });
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
  // Values near the largest number that needs no bigint arithmetic.
  for (let bits = 50n; bits < 64n; bits++) {
    for (const near of [-2n, -1n, 0n, 1n, 2n]) {
      const w = (1n << bits) + near;
      for (const l of [BigInt.asIntN(64, w), BigInt.asIntN(64, -w)]) {
        const { l: readL, w: readW } = decode(desk.All, encode(desk.All, { l, w }));
        assert.deepEqual([readL, readW], [l, w]);
      }
    }
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

test("messages nest a hundred deep and no deeper", () => {
  let deep: vec.VDeep = {};
  for (let level = 0; level < 99; level++) deep = { next: deep };
  const body = encode(vec.VDeep, deep);
  decode(vec.VDeep, body);
  assert.throws(() => encode(vec.VDeep, { next: deep }), { code: 3 });
  assert.throws(() => decode(vec.VDeep, bytes("0800".repeat(101) + "00")), Malformed);
  assert.throws(() => decode(vec.VDeep, new Uint8Array(1 << 20).map((_, at) => (at % 2 ? 0 : 8))), Malformed);
});

test("excess bits of counts and lengths are dropped, as in Rust", () =>
  assert.deepEqual(decode(vec.RString, bytes("080001050a8180808010050a818080801061")), { v: ["a"] }));

test("a body of nil elements is refused before it takes gigabytes", () => {
  const count = 5_000_000;
  const head = bytes("080001030ac096b102");
  const body = new Uint8Array(head.length + count);
  body.set(head);
  assert.throws(() => decode(vec.RMessage, body), /memory/);
  assert.throws(() => decode(vec.RString, bytes("080001050affffffff0f")), /truncated/);
});

/** Regression test: the types of such a message were those of a oneof's member. */
test("message with fields case and value may omit them", () => {
  interface Odd {
    case: string;
    value: string;
    more: number;
  }
  const odd: Init<Odd> = { more: 1 };
  const type = message<Odd>("a.Odd", "case:s value:s more:i");
  assert.deepEqual(decode(type, encode(type, odd)), { case: "", value: "", more: 1 });
});

/** Regression test: an empty map or `Uint8Array` was charged as 8 bytes, and takes almost 200. */
test("empty maps and bytes are charged with their memory", () => {
  const list = (spec: string): Type<object> => {
    const inner = message<object>("a.Inner", Array.from({ length: 10 }, (_, at) => `f${at}:${spec}`).join(" "));
    return message<object>("a.List", "all:*m", () => [inner]);
  };
  // 100 000 nil elements, and messages whose maps are nil.
  for (const [spec, element] of [["%si", "00"], ["y", "00"], ["%si", `0800${"00".repeat(10)}`]] as const) {
    assert.throws(() => decode(list(spec), bytes(`080001030aa08d06${element.repeat(100_000)}`)), /memory/);
  }
  // 400 000 elements of no bytes.
  const all = message<object>("a.Bytes", "all:*y");
  assert.throws(() => decode(all, bytes(`080001040a80b518${"040a00".repeat(400_000)}`)), /memory/);
});

test("the decoder returns or refuses for all bytes of the corpus", () => {
  const types = [...Object.values(vec), ...Object.values(vecopt), ...Object.values(interop), ...Object.values(presence), ...Object.values(desk)].filter(
    (value): value is Type<object> => typeof value === "object" && value !== null && "fields" in value,
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
            // A decoded message can be encoded again. Decoding the result yields the same message.
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
