/**
 * Converts messages from and to JSON by the proto3 mapping. 64-bit integers and bytes become text, bytes as base64, and
 * enum values become names. Timestamps, durations, field masks, wrappers and free-form values have their special forms.
 * `Any` remains a message with two fields, because its content is encoded with protobuf.
 */

import { Kind, type Field, type Message, type Schema } from "./descriptor.js";
import { oneofProperty, property, type Fields } from "./dynamic.js";

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type JsonObject = { [name: string]: Json };

/** An error in a JSON document, with the path to the invalid value. */
export class Misfit extends Error {
  constructor(path: string, problem: string) {
    super(path ? `${path}: ${problem}` : problem);
  }
}

/** Creates an empty object for keys that come from the server or the user. */
export const object = (): JsonObject => Object.create(null) as JsonObject;

const isObject = (json: Json): json is JsonObject => typeof json === "object" && json !== null && !Array.isArray(json);

/** Names of the wrapper messages. Their JSON is the wrapped value. */
const WRAPPER = /^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/;

/** Returns whether the JSON of a message is something else than an object with its fields. */
export const isSpecial = (name: string): boolean =>
  WRAPPER.test(name) || /^google\.protobuf\.(Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/.test(name);

/** Parses JSON text. Throws a `Misfit` with the position of an error. */
export function parse(text: string): Json {
  try {
    return JSON.parse(text || "{}") as Json;
  } catch (error) {
    throw new Misfit("", (error as Error).message);
  }
}

// From JSON.

/** Converts JSON to a message. Throws a `Misfit` if it is invalid. */
export function fromJson(schema: Schema, name: string, json: Json, path = ""): Fields {
  const special = specialFromJson(schema, name, json, path);
  if (special) return special;
  if (!isObject(json)) throw new Misfit(path, `${name} is an object`);
  const message = schema.message(name);
  const value: Fields = {};
  for (const [key, is] of Object.entries(json)) {
    const field = message.fields.find((one) => one.jsonName === key || one.name === key);
    const here = path ? `${path}.${key}` : key;
    if (!field) throw new Misfit(here, `${name} has no such field${known(message)}`);
    if (is === null && field.type !== "google.protobuf.Value") continue;
    const made = fieldFromJson(schema, field, is, here);
    if (field.oneof === undefined) value[property(field)] = made;
    else {
      const oneof = oneofProperty(field.oneof);
      if (value[oneof]) throw new Misfit(here, `${message.oneofs[field.oneof]?.name} has two members`);
      value[oneof] = { case: property(field), value: made };
    }
  }
  return value;
}

const known = (message: Message): string => (message.fields.length > 0 ? `; it has: ${message.fields.map((field) => field.jsonName).join(", ")}` : "");

function fieldFromJson(schema: Schema, field: Field, json: Json, path: string): unknown {
  const entry = schema.entry(field);
  const [key, of] = entry?.fields ?? [];
  if (key && of) {
    if (!isObject(json)) throw new Misfit(path, "a map is an object");
    return new Map(Object.entries(json).map(([name, is]) => [keyFromJson(key, name, path), oneFromJson(schema, of, is, `${path}[${JSON.stringify(name)}]`)]));
  }
  if (!field.isRepeated) return oneFromJson(schema, field, json, path);
  if (!Array.isArray(json)) throw new Misfit(path, "a list is an array");
  return json.map((is, at) => oneFromJson(schema, field, is, `${path}[${at}]`));
}

function keyFromJson(key: Field, name: string, path: string): unknown {
  if (key.kind !== Kind.Bool) return scalarFromJson(key, name, path);
  if (name !== "true" && name !== "false") throw new Misfit(path, `${name} is not true or false`);
  return name === "true";
}

/** Returns the range of an integer type. */
const RANGES: { readonly [K in Kind]?: readonly [bigint, bigint] } = (() => {
  const signed = (bits: bigint): readonly [bigint, bigint] => [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n];
  const unsigned = (bits: bigint): readonly [bigint, bigint] => [0n, (1n << bits) - 1n];
  return {
    [Kind.Int32]: signed(32n), [Kind.Sint32]: signed(32n), [Kind.Sfixed32]: signed(32n),
    [Kind.Int64]: signed(64n), [Kind.Sint64]: signed(64n), [Kind.Sfixed64]: signed(64n),
    [Kind.Uint32]: unsigned(32n), [Kind.Fixed32]: unsigned(32n),
    [Kind.Uint64]: unsigned(64n), [Kind.Fixed64]: unsigned(64n),
  };
})();

export const isWide = (kind: Kind): boolean => [Kind.Int64, Kind.Uint64, Kind.Fixed64, Kind.Sfixed64, Kind.Sint64].includes(kind);
export const isInteger = (kind: Kind): boolean => kind in RANGES;

function oneFromJson(schema: Schema, field: Field, json: Json, path: string): unknown {
  if (field.kind === Kind.Message) return fromJson(schema, field.type, json, path);
  if (field.kind !== Kind.Enum) return scalarFromJson(field, json, path);
  const { name, values } = schema.enumeration(field.type);
  if (typeof json === "number" && Number.isInteger(json)) return json;
  const found = values.find((value) => value.name === json);
  if (!found) throw new Misfit(path, `${name} has no value ${shown(json)}; it has: ${values.map((value) => value.name).join(", ")}`);
  return found.number;
}

const shown = (json: Json): string => JSON.stringify(json).slice(0, 60);

/** Converts the JSON of a field that is neither a message nor an enum. */
export function scalarFromJson(field: Pick<Field, "kind">, json: Json, path = ""): unknown {
  const { kind } = field;
  const range = RANGES[kind];
  if (range) {
    const isWhole = typeof json === "number" ? Number.isInteger(json) : typeof json === "string" && /^-?\d{1,20}$/.test(json);
    if (!isWhole) throw new Misfit(path, `${shown(json)} is not an integer`);
    if (typeof json === "number" && !Number.isSafeInteger(json)) throw new Misfit(path, "an integer of this size is written as text, in quotes");
    const whole = BigInt(json as number | string);
    if (whole < range[0] || whole > range[1]) throw new Misfit(path, `${whole} is not from ${range[0]} to ${range[1]}`);
    return isWide(kind) ? whole : Number(whole);
  }
  if (kind === Kind.Double || kind === Kind.Float) {
    const isNumber = typeof json === "number" || json === "NaN" || json === "Infinity" || json === "-Infinity" || (typeof json === "string" && /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(json));
    if (!isNumber) throw new Misfit(path, `${shown(json)} is not a number`);
    return Number(json);
  }
  if (kind === Kind.Bool) {
    if (typeof json !== "boolean") throw new Misfit(path, `${shown(json)} is not true or false`);
    return json;
  }
  if (typeof json !== "string") throw new Misfit(path, `${shown(json)} is not a string`);
  return kind === Kind.Bytes ? fromBase64(json, path) : json;
}

/** Converts the JSON of a well-known type. Returns `undefined` for other messages. */
function specialFromJson(schema: Schema, name: string, json: Json, path: string): Fields | undefined {
  const wrapped = WRAPPER.test(name) && schema.message(name).fields[0];
  if (wrapped) return { f1: scalarFromJson(wrapped, json, path) };
  switch (name) {
    case "google.protobuf.Timestamp":
      return instant(json, path);
    case "google.protobuf.Duration": {
      const parts = typeof json === "string" && /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(json);
      if (!parts) throw new Misfit(path, 'a duration is written as "1.5s"');
      const [, sign, whole = "", rest = ""] = parts;
      const nanos = Number(rest.padEnd(9, "0"));
      return { f1: BigInt(`${sign}${whole}`), f2: sign ? -nanos : nanos };
    }
    case "google.protobuf.FieldMask":
      if (typeof json !== "string") throw new Misfit(path, 'a mask is written as "name,homeAddress.city"');
      return { f1: json === "" ? [] : json.split(",").map((one) => one.trim().replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)) };
    case "google.protobuf.Struct":
      if (!isObject(json)) throw new Misfit(path, "a Struct is an object");
      return { f1: new Map(Object.entries(json).map(([key, is]) => [key, freeForm(is, 0)])) };
    case "google.protobuf.ListValue":
      if (!Array.isArray(json)) throw new Misfit(path, "a ListValue is an array");
      return { f1: json.map((is) => freeForm(is, 0)) };
    case "google.protobuf.Value":
      return freeForm(json, 0);
  }
  return undefined;
}

function instant(json: Json, path: string): Fields {
  const parts = typeof json === "string" && /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.exec(json);
  const millis = parts ? Date.parse(`${parts[1]}${parts[3]?.toUpperCase()}`) : NaN;
  if (!parts || Number.isNaN(millis)) throw new Misfit(path, 'an instant is written as "2030-01-31T12:00:00Z"');
  return { f1: BigInt(millis / 1000), f2: Number((parts[2] ?? "").padEnd(9, "0")) };
}

/** Converts JSON to a `google.protobuf.Value`. */
function freeForm(json: Json, depth: number): Fields {
  if (depth > 90) throw new Misfit("", "nests too deep");
  const is = (number: number, value: unknown): Fields => ({ o0: { case: `f${number}`, value } });
  if (json === null) return is(1, 0);
  if (typeof json === "number") return is(2, json);
  if (typeof json === "string") return is(3, json);
  if (typeof json === "boolean") return is(4, json);
  if (Array.isArray(json)) return is(6, { f1: json.map((one) => freeForm(one, depth + 1)) });
  return is(5, { f1: new Map(Object.entries(json).map(([key, one]) => [key, freeForm(one, depth + 1)])) });
}

// To JSON.

/**
 * Converts a message to JSON. The fields are in the order of declaration. A field without presence is included even if
 * it has the default value.
 */
export function toJson(schema: Schema, name: string, value: Fields): Json {
  const special = specialToJson(schema, name, value);
  if (special !== undefined) return special;
  const json = object();
  for (const field of schema.message(name).fields) {
    const set = field.oneof === undefined ? undefined : (value[oneofProperty(field.oneof)] as { case: string; value: unknown } | undefined);
    const is = field.oneof === undefined ? value[property(field)] : set?.case === property(field) ? set.value : undefined;
    if (is === undefined) continue;
    const made = fieldToJson(schema, field, is);
    const isEmpty = (Array.isArray(is) && is.length === 0) || (is instanceof Map && is.size === 0);
    if (!isEmpty) json[field.jsonName] = made;
  }
  return json;
}

function fieldToJson(schema: Schema, field: Field, is: unknown): Json {
  const of = schema.entry(field)?.fields[1];
  if (of && is instanceof Map) {
    const json = object();
    for (const [key, one] of is) json[String(key)] = oneToJson(schema, of, one);
    return json;
  }
  return Array.isArray(is) ? is.map((one) => oneToJson(schema, field, one)) : oneToJson(schema, field, is);
}

function oneToJson(schema: Schema, field: Field, is: unknown): Json {
  if (field.kind === Kind.Message) return toJson(schema, field.type, is as Fields);
  if (field.kind === Kind.Enum) return schema.enumeration(field.type).values.find(({ number }) => number === is)?.name ?? (is as number);
  if (is instanceof Uint8Array) return toBase64(is);
  if (typeof is === "bigint") return String(is);
  if (typeof is === "number" && !Number.isFinite(is)) return String(is);
  return field.kind === Kind.Float ? shortest(is as number) : (is as Json);
}

/** Returns the shortest number that is equal to the value in 32-bit precision. */
function shortest(is: number): number {
  for (let digits = 6; digits < 10; digits++) {
    const short = Number(is.toPrecision(digits));
    if (Math.fround(short) === is) return short;
  }
  return is;
}

function specialToJson(schema: Schema, name: string, value: Fields): Json | undefined {
  const wrapped = WRAPPER.test(name) && schema.message(name).fields[0];
  if (wrapped) return oneToJson(schema, wrapped, value["f1"]);
  switch (name) {
    case "google.protobuf.Timestamp": {
      const seconds = Number(value["f1"]);
      const date = new Date(seconds * 1000);
      // A timestamp that JavaScript or JSON cannot represent is shown as a message with two fields.
      if (Number.isNaN(date.getTime()) || seconds < -62_135_596_800 || seconds > 253_402_300_799) return undefined;
      return `${date.toISOString().slice(0, 19)}${fraction(value["f2"] as number)}Z`;
    }
    case "google.protobuf.Duration": {
      const [seconds, nanos] = [value["f1"] as bigint, value["f2"] as number];
      const sign = seconds < 0n || nanos < 0 ? "-" : "";
      return `${sign}${seconds < 0n ? -seconds : seconds}${fraction(Math.abs(nanos))}s`;
    }
    case "google.protobuf.FieldMask":
      return (value["f1"] as string[]).map((path) => path.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())).join(",");
    case "google.protobuf.Struct":
      return structToJson(value);
    case "google.protobuf.ListValue":
      return (value["f1"] as Fields[]).map(freeFormToJson);
    case "google.protobuf.Value":
      return freeFormToJson(value);
  }
  return undefined;
}

function structToJson(value: Fields): Json {
  const json = object();
  for (const [key, is] of value["f1"] as Map<string, Fields>) json[key] = freeFormToJson(is);
  return json;
}

function freeFormToJson(value: Fields): Json {
  const set = value["o0"] as { case: string; value: unknown } | undefined;
  if (!set || set.case === "f1") return null;
  if (set.case === "f5") return structToJson(set.value as Fields);
  if (set.case === "f6") return ((set.value as Fields)["f1"] as Fields[]).map(freeFormToJson);
  return typeof set.value === "number" && !Number.isFinite(set.value) ? String(set.value) : (set.value as Json);
}

const fraction = (nanos: number): string => {
  const digits = String(nanos).padStart(9, "0");
  return nanos === 0 ? "" : `.${digits.replace(/(000){1,2}$/, "")}`;
};

// Bytes.

export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}

export function fromBase64(text: string, path = ""): Uint8Array {
  try {
    return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
  } catch {
    throw new Misfit(path, "it is no base64");
  }
}

/** Returns bytes as text, or `undefined` if they are not text. */
export function asText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return /[\0-\x08\x0e-\x1f\x7f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

export const toHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
