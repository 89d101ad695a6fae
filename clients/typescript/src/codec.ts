/**
 * Encodes and decodes messages with the tables in generated code. `bytes.ts` encodes numbers and text, and `prefix.ts`
 * the prefix of a message.
 *
 * A table is a string that lists the fields in wire order, as `name:spec` separated by spaces. A name may contain any
 * characters except space, `:` and `/`. A spec ends with the letter of the type: `b`ool, `i`32, `u`32, `l` for i64, `w`
 * for u64, `f`32, `d` for f64, `s`tring, b`y`tes, `e`num, `m`essage. `L` and `W` are 64-bit integers represented as
 * `number`. Before the letter, `?` marks an optional value, `*` a list, `%` with the letter of the key type a map, and
 * `oneof/member/` a member of a oneof.
 */

import { expect, isBytes, remaining, malformed, peek, putByte, putSized, putText, putVarint, reader, takeByte, takeHex, takeText, takeVarint, takeView, writer, written, type Cursor } from "./bytes.js";
import { Is, Status, notRun } from "./status.js";

/** Maximum nesting depth of messages, including the root. Equal to the limit in Rust. */
const DEPTH_MAX = 100;

/**
 * Limit on the memory of lists, maps and nested messages in one message: this many bytes, or this multiple of the
 * body's length if that is larger. Both equal the limits in Rust.
 *
 * Limiting the body is not enough, because a nil element takes one byte on the wire but a whole message in memory.
 */
const MEMORY_MAX = 64 << 20;
const MEMORY_TIMES = 12;

/**
 * Approximate sizes in V8: of a list element or field, of an empty list, of a message or map entry, and of an empty map
 * or `Uint8Array`.
 */
const SLOT = 8;
const LIST = 32;
const OBJECT = 56;
const CONTAINER = 184;

/** Scratch space to convert between numbers and their bits. */
const SCRATCH = /* @__PURE__ */ new Uint8Array(8);
const NUMBERS = /* @__PURE__ */ new DataView(SCRATCH.buffer);

/** The number of an enum value that the schema does not declare. */
export type UnknownValue = number & { readonly "~unknown": true };

/** The type of bytes fields. This alias exists because a schema may declare a message named `Uint8Array`. */
export type Bytes = Uint8Array;

/** The table of an enum: the numbers of its values, by name and in order of declaration. */
export type Enum = Readonly<Record<string, number>>;

type Ref = Type<unknown> | Enum;
type Value = unknown;
type Fields = Record<string, Value>;

/** A message with its table. */
export interface Type<T> {
  readonly name: string;
  /** Carries the message type for the type checker. Never set at run time. */
  readonly "~message"?: T;
}

/** Input for a message. Every field may be omitted to use its default, and lists may be read-only. */
export type Init<T> = T extends Uint8Array | string | number | bigint | boolean | undefined
  ? T
  : T extends ReadonlyMap<infer K, infer V>
    ? ReadonlyMap<K, Init<V>>
    : T extends readonly (infer E)[]
      ? readonly Init<E>[]
      : T extends { readonly case: infer C extends string; readonly value: infer V }
        ? string extends C ? InitFields<T> : { readonly case: C; readonly value: Init<V> }
        : InitFields<T>;

/** Input for a message, which may itself have fields named `case` and `value`, unlike the member of a oneof. */
type InitFields<T> = { readonly [K in keyof T]?: Init<T[K]> | undefined };

/** Creates the table of a message. For generated code. */
export function message<T>(name: string, spec: string, refs?: () => readonly Ref[]): Type<T> {
  let known: readonly Field[] | undefined;
  return { name, fields: () => (known ??= parsed(spec, refs?.() ?? [])) } as Table;
}

/** Encodes a message. Throws a `Status` with code `INVALID_ARGUMENT` if a value does not fit its field's type. */
export function encode<T>(type: Type<T>, value: Init<T>): Uint8Array {
  const to = writer(256);
  write(to, type, value);
  return written(to);
}

/**
 * Decodes a message. The result does not share memory with `bytes`. Throws `Malformed` for invalid input, and for a
 * message with the fingerprint of its layout, because it may have been encoded with another version of the schema.
 */
export function decode<T>(type: Type<T>, bytes: Uint8Array): T {
  if (bytes[0] === 0x12) malformed(`${type.name} has the layout ${takeHex(reader(bytes.subarray(1)))}, which is unknown`);
  return read(reader(bytes), type);
}

/**
 * Writes a message in the extended form, or in the flat form if the cursor requires it. The flat form cannot
 * distinguish an absent optional value from its default.
 */
export function write<T>(to: Cursor, type: Type<T>, value: Init<T>): void {
  to.depth = DEPTH_MAX;
  putMessage(to, type as Table, value as Fields);
}

/**
 * Reads a message in either form. A nil is decoded as the default message. Trailing bytes are ignored, because a newer
 * schema may have appended fields.
 */
export function read<T>(from: Cursor, type: Type<T>): T {
  from.depth = DEPTH_MAX;
  from.memory = Math.max(MEMORY_MAX, remaining(from) * MEMORY_TIMES);
  return (takeMessage(from, type as Table) ?? blank(from, type as Table)) as T;
}

interface Table extends Type<never> {
  /** Returns the fields. They are parsed on first use. */
  fields(): readonly Field[];
}

/** A type of values, with their encoding. Values are read and written without their kind byte. */
interface Kind {
  /** The kind byte of the type on the wire. */
  readonly wire: number;
  zero(): Value;
  put(to: Cursor, value: Value): void;
  /** Reads a value. Returns `undefined` for a nil, which only messages allow. */
  take(from: Cursor): Value;
  readonly table?: Table | undefined;
  /** Whether an int32 is accepted in place of the value. */
  readonly isEnum?: boolean;
}

interface Field {
  /** The property of the message. For a member of a oneof, the property of the oneof. */
  readonly name: string;
  readonly of: Kind;
  readonly isOptional: boolean;
  /** The key type of a map. */
  readonly key: Kind | undefined;
  /** The kind bytes before a list or a map. */
  readonly head: readonly number[] | undefined;
  /** For a member of a oneof: its name, its number, and all members in wire order. */
  readonly case: string;
  readonly number: number;
  readonly all: Field[] | undefined;
}

/** Parses the fields of a table. */
function parsed(spec: string, refs: readonly Ref[]): readonly Field[] {
  const oneofs = new Map<string, Field[]>();
  let next = 0;
  return (spec ? spec.split(" ") : []).map((entry) => {
    const found = /^([^:/]+):(?:([^:/]+)\/(\d+)\/)?([?*]?|%\w)(\w)$/.exec(entry);
    if (!found) throw new Error(`invalid entry: ${entry}`);
    const [, name, oneof, number, mark, letter] = found as unknown as [string, string, string | undefined, string, string, string];
    const of = letter === "m" ? inner(refs[next++] as Table) : letter === "e" ? choice(refs[next++] as Enum) : (KINDS[letter] as Kind);
    const key = KINDS[mark[1] ?? ""];
    const head = key ? [2, key.wire, of.wire, 10] : mark === "*" ? [1, of.wire, 10] : undefined;
    let all = oneof ? oneofs.get(oneof) : undefined;
    if (oneof && !all) oneofs.set(oneof, (all = []));
    const field = { name: oneof ?? name, of, isOptional: mark === "?", key, head, case: name, number: +number, all };
    all?.push(field);
    return field;
  });
}

const zero = ({ head, key, isOptional, of }: Field): Value => (key ? new Map() : head ? [] : isOptional ? undefined : of.zero());

function putMessage(to: Cursor, table: Table, value: Fields): void {
  if (!to.depth--) throw invalid(table.name, `nests deeper than ${DEPTH_MAX}`);
  putByte(to, 8);
  putByte(to, 0);
  let at = "";
  try {
    for (const field of table.fields()) {
      const { all, name } = field;
      const is = value[(at = name)];
      if (!all) putField(to, field, is);
      else if (to.isFlat || field === all[0]) {
        const set = is as { case: string; value: Value } | undefined;
        const member = all.find((one) => one.case === set?.case);
        if (set && !member) throw new Error(`has no member ${set.case}`);
        if (!to.isFlat) {
          putByte(to, 3);
          putVarint(to, member ? member.number : 0);
        }
        const put = to.isFlat ? field : member;
        if (put) putOne(to, put.of, put === member ? set?.value : undefined);
      }
    }
  } catch (error) {
    throw error instanceof Status ? error : invalid(`${table.name}.${at}`, (error as Error).message);
  }
  to.depth++;
}

function putField(to: Cursor, field: Field, value: Value): void {
  const { head, key, of } = field;
  if (value === undefined && (head || field.isOptional)) value = zero(field);
  if (head) {
    const map = value as ReadonlyMap<Value, Value>;
    const list = value as readonly Value[];
    const count = key ? map.size : list.length;
    check(count >= 0, value);
    for (const wire of head) putByte(to, wire);
    putVarint(to, count);
    if (key) {
      for (const [name, one] of map) {
        putOne(to, key, name);
        putOne(to, of, one);
      }
    } else for (const one of list) putOne(to, of, one);
  } else if (value === undefined && field.isOptional && !to.isFlat) putByte(to, 0);
  else putOne(to, of, value);
}

/** Writes a value, or the default of its type for `undefined`. */
function putOne(to: Cursor, of: Kind, value: Value): void {
  if (!of.table) putByte(to, of.wire);
  of.put(to, value === undefined ? of.zero() : value);
}

/** Reads a message. Returns `undefined` for a nil. */
function takeMessage(from: Cursor, table: Table): Fields | undefined {
  if (peek(from) === 0) return void from.at++;
  expect(from, 8);
  takeByte(from); // The flags are reserved.
  if (!from.depth--) malformed(`${table.name} nests deeper than ${DEPTH_MAX}`);
  const fields = table.fields();
  charge(from, OBJECT + SLOT * fields.length);
  const value: Fields = {};
  /**
   * The names of oneofs read in the extended form. It encodes one member at the position of the first, so later members
   * are skipped.
   */
  let rich = "";
  for (const field of fields) {
    const { name, all, of } = field;
    const isFirst = all && all[0] === field;
    if (isFirst) value[name] = undefined;
    if (!all) value[name] = takeField(from, field);
    else if (isFirst && peek(from) === 3) {
      from.at++;
      rich += ` ${name} `;
      const number = takeVarint(from);
      const set = all.find((one) => one.number === number);
      if (set) value[name] = { case: set.case, value: takeElement(from, set.of) };
      else if (number) malformed(`${table.name}.${name} has no member ${number}`);
    } else if (!rich.includes(` ${name} `)) {
      // In the flat form every member has a position. A member is set if its value differs from the default.
      const is = takeOne(from, of);
      if (is instanceof Uint8Array ? is.length : !Object.is(is, of.zero())) value[name] = { case: field.case, value: is };
    }
  }
  from.depth++;
  return value;
}

function takeField(from: Cursor, field: Field): Value {
  const { head, key, of } = field;
  // A nil is an empty map or an absent value.
  if ((key || field.isOptional) && peek(from) === 0) {
    from.at++;
    return empty(from, field);
  }
  if (!head) return takeOne(from, of);
  for (const wire of head) expect(from, wire);
  let count = takeVarint(from);
  const all = empty(from, field) as Map<Value, Value> & Value[];
  while (count-- > 0) {
    charge(from, key ? OBJECT : SLOT);
    if (key) all.set(takeOne(from, key), takeElement(from, of));
    else all.push(takeElement(from, of));
  }
  return all;
}

function takeOne(from: Cursor, { wire, table, take, isEnum }: Kind): Value {
  if (isEnum && peek(from) === 12) return takeOne(from, KINDS["i"] as Kind);
  if (!table) expect(from, wire);
  return take(from);
}

/** Reads a list element or map value. A nil is decoded as the default message. */
const takeElement = (from: Cursor, of: Kind): Value => takeOne(from, of) ?? blank(from, of.table as Table);

/** Returns a default message. */
function blank(from: Cursor, table: Table): Fields {
  const value: Fields = {};
  const fields = table.fields();
  charge(from, OBJECT + SLOT * fields.length);
  for (const field of fields) value[field.name] = field.all ? undefined : empty(from, field);
  return value;
}

/** Returns the default of a field, and charges its memory. */
function empty(from: Cursor, field: Field): Value {
  const value = zero(field);
  if (typeof value === "object") charge(from, Array.isArray(value) ? LIST : CONTAINER);
  return value;
}

function charge(from: Cursor, bytes: number): void {
  if ((from.memory -= bytes) < 0) malformed("exceeds the memory limit");
}

// Types of values.

const kind = <T>(wire: number, zero: () => T, put: (to: Cursor, value: T) => void, take: (from: Cursor) => T, table?: Table): Kind =>
  ({ wire, zero, put, take, table }) as Kind;

const inner = (table: Table): Kind =>
  kind<Fields | undefined>(3, () => undefined, (to, value) => (value ? putMessage(to, table, value) : putByte(to, 0)), (from) => takeMessage(from, table), table);

/**
 * Unknown enum indexes that exceed the schema's largest index by less than this number are written as indexes. Equal to
 * the limit in Rust.
 */
const KEPT_INDEXES = 1 << 16;

function choice(of: Enum): Kind {
  const numbers = Object.values(of);
  // If two names share a number, the first one is written. An index that the schema does not declare is represented as
  // a number counted from -2^31.
  const indexes = kind(10, () => numbers[0] as number, (to, number) => {
    const index = numbers.indexOf(number);
    const kept = number + 0x8000_0000;
    const isKept = number < 0 && kept >= numbers.length;
    check(index >= 0 || (number === (number | 0) && (isKept || !to.isFlat)), number);
    if (index >= 0 || (isKept && (to.isFlat || kept < KEPT_INDEXES))) putVarint(to, index < 0 ? kept : index);
    else {
      // Any other undeclared number is written as an int32.
      to.at--;
      putOne(to, KINDS["i"] as Kind, number);
    }
  }, (from) => {
    const index = takeVarint(from);
    const kept = index - 0x8000_0000;
    if (index >= numbers.length && (kept >= 0 || numbers.includes(kept))) malformed(`an enum has the index ${index}`);
    return numbers[index] ?? kept;
  });
  return { ...indexes, isEnum: true };
}

/**
 * Creates the type of 64-bit integers. Small values avoid `bigint` arithmetic, because it is slow and most values are
 * small.
 */
const wide = (isSigned: boolean, asNumber: boolean): Kind =>
  kind<bigint | number>(isSigned ? 13 : 11, () => (asNumber ? 0 : 0n), (to, value) => {
    const whole = BigInt(value);
    const number = Number(whole);
    const small = isSigned ? (number < 0 ? -2 * number - 1 : 2 * number) : number;
    if (Number.isSafeInteger(small) && small >= 0) return putVarint(to, small);
    check((isSigned ? BigInt.asIntN : BigInt.asUintN)(64, whole) === whole, value);
    let raw = isSigned ? (whole << 1n) ^ (whole >> 63n) : whole;
    for (; raw >> 53n; raw >>= 7n) putByte(to, Number(raw & 127n) | 128);
    putVarint(to, Number(raw));
  }, (from) => {
    let { at } = from;
    let whole: number | bigint = takeVarint(from, 10);
    if (whole <= Number.MAX_SAFE_INTEGER) {
      if (isSigned) whole = whole % 2 ? (whole + 1) / -2 : whole / 2;
    } else {
      let raw = 0n;
      for (let shift = 0n; at < from.at; shift += 7n) raw |= BigInt((from.bytes[at++] as number) & 127) << shift;
      raw = BigInt.asUintN(64, raw);
      whole = isSigned ? (raw >> 1n) ^ -(raw & 1n) : raw;
    }
    if (!asNumber) return BigInt(whole);
    if (!Number.isSafeInteger(Number(whole))) malformed("an integer is beyond 2^53");
    return Number(whole);
  });

const float = (wire: number, length: 4 | 8): Kind =>
  kind(wire, () => 0, (to, value) => {
    check(typeof value === "number", value);
    NUMBERS[length > 4 ? "setFloat64" : "setFloat32"](0, value);
    for (let at = 0; at < length; at++) putByte(to, SCRATCH[at] as number);
  }, (from) => {
    for (let at = 0; at < length; at++) SCRATCH[at] = takeByte(from);
    return NUMBERS[length > 4 ? "getFloat64" : "getFloat32"](0);
  });

/** The types by their letters in tables. */
const KINDS: Readonly<Record<string, Kind>> = {
  "b": kind(7, () => false, (to, value) => {
    check(typeof value === "boolean", value);
    putByte(to, +value);
  }, (from) => {
    const byte = takeByte(from);
    if (byte > 1) malformed(`a bool is ${byte}`);
    return byte > 0;
  }),
  "i": kind(12, () => 0, (to, value) => {
    check(value === (value | 0), value);
    putVarint(to, ((value << 1) ^ (value >> 31)) >>> 0);
  }, (from) => {
    const zigzag = takeVarint(from);
    return (zigzag >>> 1) ^ -(zigzag & 1);
  }),
  "u": kind(10, () => 0, (to, value) => {
    check(value === value >>> 0, value);
    putVarint(to, value);
  }, (from) => takeVarint(from)),
  "l": wide(true, false),
  "w": wide(false, false),
  "L": wide(true, true),
  "W": wide(false, true),
  "f": float(14, 4),
  "d": float(15, 8),
  "s": kind(5, () => "", (to, value) => {
    check(typeof value === "string", value);
    putByte(to, 10);
    putText(to, value);
  }, (from) => {
    expect(from, 10);
    return takeText(from);
  }),
  "y": kind(4, () => new Uint8Array(), (to, value) => {
    check(isBytes(value), value);
    putByte(to, 10);
    putSized(to, value);
  }, (from) => {
    expect(from, 10);
    charge(from, CONTAINER);
    return new Uint8Array(takeView(from)); // A copy, because a view would keep the whole packet alive.
  }),
};

const invalid = (name: string, problem: string): Status => notRun(Is.INVALID_ARGUMENT, `${name} ${problem}`);

function check(fits: boolean, value: Value): void {
  if (!fits) throw new Error(`cannot be the ${typeof value} ${String(value)}`);
}
