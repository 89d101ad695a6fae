/**
 * Messages to bytes and back, by the tables of generated code. `bytes.ts` owns numbers and text, `prefix.ts` what stands
 * in front of a message.
 *
 * A table names the fields in the order of the wire: `name:spec` with a space between two. A spec is a letter for the
 * type (`b`ool, `i`32, `u`32, `l` i64, `w` u64, `f`32, `d` f64, `s`tring, b`y`tes, `e`num, `m`essage; `L` and `W` are
 * `l` and `w` as `number`), with `?` in front of an optional value, `*` in front of a list, `%` and the letter of the key
 * in front of a map, and `oneof/member/` in front of a member of a oneof.
 */

import { Malformed, Reader, SCRATCH, Writer, cutOff } from "./bytes.js";
import { Is, Status, notRun } from "./status.js";

/** How deep messages may nest, the outermost counted. The same as in Rust. */
const DEPTH_MAX = 100;

/**
 * How much memory the lists, maps and inner messages of one message may take, in bytes, and how many times the body if
 * that is more. The same as in Rust: a nil element is one byte on the wire and a whole message in memory.
 */
const MEMORY_MAX = 64 << 20;
const MEMORY_TIMES = 12;

/** About what objects take in V8: an element of a list or a field, and a message or an entry of a map. */
const SLOT = 8;
const OBJECT = 56;

/** The number of an enum value that this schema does not declare. */
export type UnknownValue = number & { readonly "~unknown": true };

/** What a field of bytes is: a name of its own, since a message may have the other. */
export type Bytes = Uint8Array;

/** The table of an enum: its values in the order of declaration. */
export type Enum = Readonly<Record<string, number>>;

type Ref = Type<unknown> | Enum;
type Value = unknown;
type Fields = Record<string, Value>;

/** A message with its table. */
export interface Type<T> {
  readonly name: string;
  /** Only for the type checker. */
  readonly "~message"?: T;
}

/**
 * What a message may be made from: every field may be left out, and is its default then. Lists may be read-only.
 */
export type Init<T> = T extends Uint8Array | string | number | bigint | boolean | undefined
  ? T
  : T extends ReadonlyMap<infer K, infer V>
    ? ReadonlyMap<K, Init<V>>
    : T extends readonly (infer E)[]
      ? readonly Init<E>[]
      : T extends { readonly case: infer C; readonly value: infer V }
        ? { readonly case: C; readonly value: Init<V> }
        : { readonly [K in keyof T]?: Init<T[K]> };

/** Makes the table of a message. For generated code. */
export const message = <T>(name: string, spec: string, refs?: () => readonly Ref[]): Type<T> => new Table(name, spec, refs) as Type<T>;

/** Returns the bytes of a message. Throws a `Status` of code `INVALID_ARGUMENT` for a value that its type cannot hold. */
export function encode<T>(type: Type<T>, value: Init<T>): Uint8Array {
  const writer = new Writer();
  write(writer, type, value);
  return writer.done();
}

/** Returns the message of `bytes`, whose memory it does not share. Throws a `Malformed` for anything else. */
export const decode = <T>(type: Type<T>, bytes: Uint8Array): T => read(new Reader(bytes), type, 0);

/** Writes a message in the rich form. */
export const write = <T>(to: Writer, type: Type<T>, value: Init<T>): void => writeMessage(to, type as Table, value as Fields, DEPTH_MAX);

/**
 * Reads a message in either form, of which the last `missing` fields may not be there, or the default message for a nil.
 * Bytes behind it are ignored: a newer schema may put fields there.
 */
export function read<T>(from: Reader, type: Type<T>, missing: number): T {
  const bounds = { depth: DEPTH_MAX, memory: Math.max(MEMORY_MAX, from.left * MEMORY_TIMES), missing };
  return (readMessage(from, type as Table, bounds) ?? blank(type as Table, {})) as T;
}

/** What a decoder may still use. */
interface Bounds {
  /** The levels of messages that may still begin. */
  depth: number;
  memory: number;
  /** How many fields at the end of the outermost message may be missing. */
  missing: number;
}

/** How the values of a field, or of its elements, stand on the wire. */
interface Codec {
  /** The number of the type on the wire. */
  readonly kind: number;
  /** The fewest bytes of a value. */
  readonly least: number;
  zero(): Value;
  /** Writes a value, or the default for `undefined`. */
  put(to: Writer, value: Value, depth: number): void;
  take(from: Reader, bounds: Bounds): Value;
}

interface Field extends Codec {
  /** The property of the message: for a member of a oneof that of the oneof. */
  readonly name: string;
  readonly member: Member | undefined;
}

/** A member of a oneof. */
interface Member extends Codec {
  readonly case: string;
  readonly number: number;
  /** All members of the oneof, of which the first is the first on the wire. */
  readonly all: Member[];
}

class Table {
  /** The fields, once they have been needed. */
  private known: readonly Field[] | undefined;

  constructor(
    readonly name: string,
    private readonly spec: string,
    private readonly refs: (() => readonly Ref[]) | undefined,
  ) {}

  get fields(): readonly Field[] {
    if (this.known) return this.known;
    const refs = this.refs?.() ?? [];
    const oneofs: Record<string, Member[]> = {};
    let next = 0;
    return (this.known = (this.spec && this.spec.split(" ") || []).map((field) => {
      const [, name, oneof, number, mark, key, letter] = /(\w+):(?:(\w+)\/(\d+)\/)?([?*%]?)(\w?)(\w)$/.exec(field) as unknown as [string, string, string | undefined, string, string, string, string];
      const ref = letter === "e" || letter === "m" ? refs[next++] : undefined;
      const one = ref instanceof Table ? inner(ref) : ref ? choice(ref as Enum) : (CODECS[letter] as Codec);
      const codec = mark === "?" ? optional(one) : mark === "*" ? list(one) : mark ? map(CODECS[key] as Codec, one) : one;
      if (!oneof) return shaped(codec, name);
      const all = (oneofs[oneof] ??= []);
      const member: Member = { ...one, case: name, number: +number, all };
      all.push(member);
      return shaped({ ...one, zero() {} }, oneof, member);
    }));
  }
}

/** One shape for all fields, since reading properties of many shapes is slow. */
const shaped = ({ kind, least, zero, put, take }: Codec, name: string, member?: Member): Field => ({ kind, least, zero, put, take, name, member });

function writeMessage(to: Writer, table: Table, value: Fields, depth: number): void {
  if (!depth) throw invalid(table.name, `nests deeper than ${DEPTH_MAX}`);
  to.byte(8);
  to.byte(0);
  let at = "";
  try {
    for (const field of table.fields) {
      const { name, member } = field;
      at = name;
      if (!member) field.put(to, value[name], depth);
      else if (member === member.all[0]) {
        to.byte(3);
        const is = value[name] as { case: string; value: Value } | undefined;
        const set = is && member.all.find((one) => one.case === is.case);
        if (is && !set) throw new Error(`has no member ${is.case}`);
        to.varint(set ? set.number : 0);
        set?.put(to, is?.value, depth);
      }
    }
  } catch (error) {
    throw error instanceof Status ? error : invalid(`${table.name}.${at}`, (error as Error).message);
  }
}

/** A message; `undefined` for a nil. */
function readMessage(from: Reader, table: Table, bounds: Bounds): Fields | undefined {
  const kind = from.byte();
  if (kind === 0) return;
  if (kind !== 8) throw new Malformed(`${table.name}: byte ${kind} begins no message`);
  from.byte(); // The flags are without meaning.
  const atRoot = bounds.depth === DEPTH_MAX;
  if (!bounds.depth--) throw new Malformed(`messages nest deeper than ${DEPTH_MAX}`);
  const { fields } = table;
  charge(bounds, OBJECT + SLOT * fields.length);
  const value: Fields = {};
  /** The oneofs in the rich form: their later members are not there. */
  let rich: string[] | undefined;
  for (const field of fields) {
    const { name, member } = field;
    if (!from.left && atRoot && bounds.missing > 0) {
      bounds.missing--;
      if (!Object.hasOwn(value, name)) value[name] = field.zero();
    } else if (!member) value[name] = field.take(from, bounds);
    else if (member === member.all[0] && from.next === 3) {
      from.at++;
      (rich ??= []).push(name);
      const number = from.varint();
      const set = member.all.find((one) => one.number === number);
      if (number && !set) throw new Malformed(`${table.name}.${name} has no member ${number}`);
      value[name] = set && { case: set.case, value: element(set, from, bounds) };
    } else if (!rich?.includes(name)) {
      // In the flat form each member stands in its place, and is set unless it is its default.
      const is = member.take(from, bounds);
      const isSet = is instanceof Uint8Array ? is.length > 0 : is !== "" && is !== 0n && is !== false && is !== undefined && !Object.is(is, 0);
      if (isSet) value[name] = { case: member.case, value: is };
      else if (!Object.hasOwn(value, name)) value[name] = undefined;
    }
  }
  bounds.depth++;
  return value;
}

/** Adds the defaults. */
function blank(table: Table, value: Fields): Fields {
  for (const { name, zero } of table.fields) value[name] = zero();
  return value;
}

function charge(bounds: Bounds, bytes: number): void {
  if ((bounds.memory -= bytes) < 0) throw new Malformed("it takes too much memory");
}

function expect(from: Reader, kind: number): void {
  const found = from.byte();
  if (found !== kind) throw new Malformed(`kind ${found} stands in the place of ${kind}`);
}

// What fields are made of.

/** A field of a message that may be nil. */
const inner = (table: Table): Codec => ({
  kind: 3,
  least: 1,
  zero() {},
  put: (to, value, depth) => (value === undefined ? to.byte(0) : writeMessage(to, table, value as Fields, depth - 1)),
  take: (from, bounds) => readMessage(from, table, bounds),
  table,
} as Codec);

/** A value that is not a field: a nil counts as a message with defaults. */
function element(codec: Codec & { readonly table?: Table }, from: Reader, bounds: Bounds): Value {
  const is = codec.take(from, bounds);
  if (is !== undefined || !codec.table) return is;
  charge(bounds, OBJECT + SLOT * codec.table.fields.length);
  return blank(codec.table, {});
}

const optional = (of: Codec): Codec => ({
  ...of,
  zero() {},
  put: (to, value, depth) => (value === undefined ? to.byte(0) : of.put(to, value, depth)),
  take: (from, bounds) => (from.next === 0 ? void from.at++ : of.take(from, bounds)),
});

/** Writes the head of a list or map. */
function head(to: Writer, kinds: readonly number[], count: number): void {
  for (const kind of kinds) to.byte(kind);
  to.varint(count);
}

/** Reads it, and returns the number of elements, which the rest has room for. */
function count(from: Reader, bounds: Bounds, kinds: readonly number[], least: number, memory: number): number {
  for (const kind of kinds) expect(from, kind);
  const count = from.varint();
  if (count * least > from.left) cutOff();
  charge(bounds, count * memory);
  return count;
}

function list(of: Codec): Codec {
  const kinds = [1, of.kind, 10];
  return {
    ...of,
    zero: () => [],
    put(to, value = [], depth) {
      head(to, kinds, (value as Value[]).length);
      for (const one of value as Value[]) of.put(to, one, depth);
    },
    take(from, bounds) {
      const list: Value[] = [];
      for (let left = count(from, bounds, kinds, of.least, SLOT); left > 0; left--) list.push(element(of, from, bounds));
      return list;
    },
  };
}

function map(of: Codec, to: Codec): Codec {
  const kinds = [2, of.kind, to.kind, 10];
  return {
    ...to,
    zero: () => new Map(),
    put(out, value = new Map(), depth) {
      head(out, kinds, (value as Map<Value, Value>).size);
      for (const [key, entry] of value as Map<Value, Value>) {
        of.put(out, key, depth);
        to.put(out, entry, depth);
      }
    },
    take(from, bounds) {
      const map = new Map<Value, Value>();
      if (from.next === 0) from.at++;
      else for (let left = count(from, bounds, kinds, of.least + to.least, OBJECT); left > 0; left--) map.set(of.take(from, bounds), element(to, from, bounds));
      return map;
    },
  };
}

/** Values that are no messages: their kind stands in front. */
const scalar = <T>(kind: number, least: number, zero: () => T, put: (to: Writer, value: T) => void, take: (from: Reader) => T): Codec => ({
  kind,
  least,
  zero,
  put(to, value = zero()) {
    to.byte(kind);
    put(to, value as T);
  },
  take(from) {
    expect(from, kind);
    return take(from);
  },
});

function choice(of: Enum): Codec {
  const numbers = Object.values(of);
  // Of two names for one number the first goes out. An index that the schema does not know is kept above -2^31.
  return scalar(10, 2, () => numbers[0] as number, (to, number) => {
    const index = numbers.indexOf(number);
    const kept = number + 0x8000_0000;
    check(index >= 0 || (number === (number | 0) && number < 0 && kept >= numbers.length), number);
    to.varint(index < 0 ? kept : index);
  }, (from) => {
    const index = from.varint() >>> 0;
    const kept = index - 0x8000_0000;
    if (index >= numbers.length && (kept >= 0 || numbers.includes(kept))) throw new Malformed(`an enum has the index ${index}`);
    return numbers[index] ?? kept;
  });
}

/** Integers of 64 bits. Most are small, and the arithmetic of `bigint` is slow. */
const wide = (isSigned: boolean, asNumber: boolean): Codec =>
  scalar<bigint | number>(isSigned ? 13 : 11, 2, () => (asNumber ? 0 : 0n), (to, value) => {
    const whole = BigInt(value);
    const number = Number(whole);
    const small = isSigned ? (number < 0 ? -2 * number - 1 : 2 * number) : number;
    if (Number.isSafeInteger(small) && small >= 0) return to.varint(small);
    check((isSigned ? BigInt.asIntN : BigInt.asUintN)(64, whole) === whole, value);
    let raw = isSigned ? (whole << 1n) ^ (whole >> 63n) : whole;
    for (; raw >> 53n; raw >>= 7n) to.byte(Number(raw & 127n) | 128);
    to.varint(Number(raw));
  }, (from) => {
    let { at } = from;
    let whole: number | bigint = from.varint(10);
    if (whole <= Number.MAX_SAFE_INTEGER) {
      if (isSigned) whole = whole % 2 ? (whole + 1) / -2 : whole / 2;
    } else {
      let raw = 0n;
      for (let shift = 0n; at < from.at; shift += 7n) raw |= BigInt((from.bytes[at++] as number) & 127) << shift;
      raw = BigInt.asUintN(64, raw);
      whole = isSigned ? (raw >> 1n) ^ -(raw & 1n) : raw;
    }
    if (!asNumber) return BigInt(whole);
    if (!Number.isSafeInteger(Number(whole))) throw new Malformed("an integer is beyond 2^53");
    return Number(whole);
  });

const float = (kind: number, length: number, of: "Float32" | "Float64"): Codec =>
  scalar(kind, length + 1, () => 0, (to, value) => {
    SCRATCH[`set${of}`](0, value);
    for (let at = 0; at < length; at++) to.byte(SCRATCH.getUint8(at));
  }, (from) => {
    for (let at = 0; at < length; at++) SCRATCH.setUint8(at, from.byte());
    return SCRATCH[`get${of}`](0);
  });

/** The letters of tables. */
const CODECS: Readonly<Record<string, Codec>> = {
  "b": scalar(7, 2, () => false, (to, value) => to.byte(+value), (from) => {
    const byte = from.byte();
    if (byte > 1) throw new Malformed(`a bool is ${byte}`);
    return byte > 0;
  }),
  "i": scalar(12, 2, () => 0, (to, value) => {
    check(value === (value | 0), value);
    to.varint(((value << 1) ^ (value >> 31)) >>> 0);
  }, (from) => {
    const zigzag = from.varint();
    return (zigzag >>> 1) ^ -(zigzag & 1);
  }),
  "u": scalar(10, 2, () => 0, (to, value) => {
    check(value === value >>> 0, value);
    to.varint(value);
  }, (from) => from.varint() >>> 0),
  "l": wide(true, false),
  "w": wide(false, false),
  "L": wide(true, true),
  "W": wide(false, true),
  "f": float(14, 4, "Float32"),
  "d": float(15, 8, "Float64"),
  "s": scalar(5, 3, () => "", (to, value) => {
    check(typeof value === "string", value);
    to.byte(10);
    to.text(value);
  }, (from) => {
    expect(from, 10);
    return from.text();
  }),
  "y": scalar(4, 3, () => new Uint8Array(), (to, value) => {
    to.byte(10);
    to.sized(value);
  }, (from) => {
    expect(from, 10);
    return from.view().slice(); // A copy: a view would keep all that came with it.
  }),
};

const invalid = (name: string, problem: string): Status => notRun(Is.INVALID_ARGUMENT, `${name} ${problem}`);

function check(fits: boolean, value: Value): void {
  if (!fits) throw new Error(`cannot be ${String(value)}`);
}
