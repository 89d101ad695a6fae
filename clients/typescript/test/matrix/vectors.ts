/** Tests the committed vectors, which all implementations of the wire format share. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Malformed, decode, encode, type Type } from "frisbee-rpc";
import * as interop from "../../../../crates/frpc-languages/tests/golden/typescript/interop.js";
import * as vec from "../../../../crates/frpc-languages/tests/golden/typescript/vec.js";
import * as vecopt from "../../../../crates/frpc-languages/tests/golden/typescript/vecopt.js";
import measured from "../../../../tests/wire/vectors.json" with { type: "json" };

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
const { encode: encodings, decode: decodings } = measured as unknown as { encode: readonly Encoding[]; decode: readonly Decoding[] };

const MODULES = { vec, vecopt, interop } as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
const typeOf = (name: string): Type<object> => {
  const [module = "", message = ""] = name.split(".");
  return MODULES[module]?.[message] as Type<object>;
};
export const bytes = (hex: string): Uint8Array => Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
export const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Converts a value of the vectors to its representation in a decoded message. */
function same(found: unknown, expected: unknown, path: string): void {
  if (expected === null) return assert.ok(found === undefined || typeof found === "object", path);
  if (typeof expected !== "object") {
    if (typeof found === "bigint") return assert.equal(String(found), String(expected), path);
    return assert.equal(found, expected, path);
  }
  if (Array.isArray(expected)) {
    if (found instanceof Map) {
      const entries = new Map([...found].map(([key, value]) => [String(key), value as unknown]));
      for (const [key, value] of expected as [unknown, unknown][]) same(entries.get(String(key)), value, `${path}[${String(key)}]`);
      return;
    }
    assert.equal((found as unknown[]).length, expected.length, path);
    return expected.forEach((value, at) => same((found as unknown[])[at], value, `${path}[${at}]`));
  }
  const fields = expected as Readonly<Record<string, unknown>>;
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

/** Bodies that Go accepts but this implementation rejects, because JavaScript cannot represent them. */
const REFUSED = ["string invalid UTF-8"];

/** Defines the tests. */
export function vectors(): void {
  test("every measured body is read as the value that was sent", () => {
    let count = 0;
    for (const { name, message, value, hex } of encodings) {
      const type = typeOf(message);
      // These vectors cover the numbering of methods across files and contain no messages.
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
    for (const { name, message, hex: expected, encode_exact } of encodings) {
      // Some vectors do not yield the same bytes again: those that the extended form encodes differently, nil elements,
      // two names for one number, and NaNs with a payload, which JavaScript drops.
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
    for (const { name, message, hex, go } of decodings) {
      const type = typeOf(message);
      try {
        decode(type, bytes(hex));
        // A native peer writes an enum number that its schema does not declare as an int32.
        if (name !== "enum as int32") assert.notEqual(go, "error", name);
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        assert.ok(error instanceof Malformed, `${name}: ${String(error)}`);
        refused++;
      }
    }
    assert.ok(refused > 20, `${refused}`);
  });
}
