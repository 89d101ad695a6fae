/**
 * Messages to bytes and back, by the tables of generated code. `bytes.ts` owns numbers and text, `prefix.ts` what stands
 * in front of a message.
 *
 * A table names the fields in the order of the wire: `name:spec` with a space between two. A spec is a letter for the
 * type (`b`ool, `i`32, `u`32, `l` i64, `w` u64, `f`32, `d` f64, `s`tring, b`y`tes, `e`num, `m`essage; `L` and `W` are
 * `l` and `w` as `number`), with `?` in front of an optional value, `*` in front of a list, `%` and the letter of the key
 * in front of a map, and `oneof/member/` in front of a member of a oneof.
 */

import { Malformed, Reader, SCRATCH, Writer } from "./bytes.js";
import { Code, Status, notRun } from "./status.js";

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

type Letter = "b" | "i" | "u" | "l" | "w" | "L" | "W" | "f" | "d" | "s" | "y" | "e" | "m";

/** The kinds of values on the wire. */
const KINDS: Readonly<Record<Letter, number>> = {
  b: 7, i: 12, u: 10, l: 13, w: 11, L: 13, W: 11, f: 14, d: 15, s: 5, y: 4, e: 10, m: 3,
};

/** The fewest bytes of a value, by its kind. A message may be nil. */
const least = (kind: number): number => (kind === 3 ? 1 : kind === 15 ? 9 : kind === 14 ? 5 : kind < 6 ? 3 : 2);

interface EnumTable {
  readonly numbers: readonly number[];
  readonly indexes: ReadonlyMap<number, number>;
}

type Ref = AnyType | Enum;
type Value = unknown;
type Fields = Record<string, Value>;

const enum Shape {
  Single,
  Optional,
  List,
  Map,
  Member,
}

interface Field {
  readonly name: string;
  readonly shape: Shape;
  readonly letter: Letter;
  readonly kind: number;
  /** The letter of the keys of a map. */
  readonly key: Letter;
  readonly type: Table | undefined;
  readonly values: EnumTable | undefined;
  /** For a member of a oneof. */
  readonly oneof: string;
  readonly member: number;
  /** Whether it is the first member of its oneof on the wire. */
  readonly first: boolean;
}

/** A message with its table. */
export interface Type<T> {
  readonly name: string;
  /** Only for the type checker. */
  readonly "~message"?: T;
}

type AnyType = Type<unknown>;

class Table implements AnyType {
  /** The fields, once they have been needed. */
  private read: readonly Field[] | undefined;

  constructor(
    readonly name: string,
    private readonly spec: string,
    private readonly refs: (() => readonly Ref[]) | undefined,
  ) {}

  get fields(): readonly Field[] {
    return (this.read ??= this.parse());
  }

  private parse(): readonly Field[] {
    const refs = this.refs?.() ?? [];
    const oneofs = new Set<string>();
    let next = 0;
    return (this.spec ? this.spec.split(" ") : []).map((field) => {
      const [name = "", spec = ""] = field.split(":");
      const parts = spec.split("/");
      const last = parts[parts.length - 1] as string;
      const letter = last[last.length - 1] as Letter;
      const [oneof = "", member = ""] = parts.length > 1 ? parts : [];
      const first = oneof !== "" && !oneofs.has(oneof);
      oneofs.add(oneof);
      const mark = last.length > 1 ? last[0] : "";
      const shape = oneof ? Shape.Member : mark === "?" ? Shape.Optional : mark === "*" ? Shape.List : mark ? Shape.Map : Shape.Single;
      const ref = letter === "e" || letter === "m" ? refs[next++] : undefined;
      return {
        name, shape, letter, kind: KINDS[letter], key: last[1] as Letter,
        type: ref instanceof Table ? ref : undefined,
        values: letter === "e" ? enumTable(ref as Enum) : undefined,
        oneof, member: +member, first,
      };
    });
  }
}

const ENUMS = /* @__PURE__ */ new WeakMap<Enum, EnumTable>();

function enumTable(of: Enum): EnumTable {
  let table = ENUMS.get(of);
  if (!table) {
    const numbers = Object.values(of);
    const indexes = new Map<number, number>();
    // Of two names for one number the first goes out.
    for (let index = numbers.length; index-- > 0; ) indexes.set(numbers[index] as number, index);
    ENUMS.set(of, (table = { numbers, indexes }));
  }
  return table;
}

/** Makes the table of a message. For generated code. */
export const message = <T>(name: string, spec: string, refs?: () => readonly Ref[]): Type<T> => new Table(name, spec, refs);

/** Returns the bytes of a message. Throws a `Status` of code `INVALID_ARGUMENT` for a value that its type cannot hold. */
export function encode<T>(type: Type<T>, value: Init<T>): Uint8Array {
  const writer = new Writer();
  write(writer, type, value);
  return writer.done();
}

/** Returns the message of `bytes`, whose memory it does not share. Throws a `Malformed` for anything else. */
export function decode<T>(type: Type<T>, bytes: Uint8Array): T {
  return read(new Reader(bytes), type, 0);
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

/** Writes a message in the rich form. */
export function write<T>(to: Writer, type: Type<T>, value: Init<T>): void {
  writeMessage(to, type as Table, value as Fields, DEPTH_MAX);
}

function writeMessage(to: Writer, table: Table, value: Fields, depth: number): void {
  if (depth === 0) throw invalid(table.name, `nests deeper than ${DEPTH_MAX}`);
  to.byte(8);
  to.byte(0);
  const { fields } = table;
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index] as Field;
    const is = value[field.shape === Shape.Member ? field.oneof : field.name];
    try {
      switch (field.shape) {
        case Shape.Single:
          if (field.kind === 3 && is === undefined) to.byte(0);
          else writeValue(to, field, field.letter, is, depth);
          break;
        case Shape.Optional:
          if (is === undefined) to.byte(0);
          else writeValue(to, field, field.letter, is, depth);
          break;
        case Shape.List: {
          const list = (is ?? []) as readonly Value[];
          to.byte(1);
          to.byte(field.kind);
          to.byte(10);
          to.varint(list.length);
          for (let at = 0; at < list.length; at++) writeValue(to, field, field.letter, list[at], depth);
          break;
        }
        case Shape.Map: {
          const map = (is ?? new Map()) as ReadonlyMap<Value, Value>;
          to.byte(2);
          to.byte(KINDS[field.key]);
          to.byte(field.kind);
          to.byte(10);
          to.varint(map.size);
          for (const [key, entry] of map) {
            writeValue(to, field, field.key, key, depth);
            writeValue(to, field, field.letter, entry, depth);
          }
          break;
        }
        case Shape.Member:
          if (field.first) writeOneof(to, fields, field.oneof, is as { case: string; value: Value } | undefined, depth);
      }
    } catch (error) {
      throw error instanceof Status ? error : invalid(`${table.name}.${field.name}`, (error as Error).message);
    }
  }
}

function writeOneof(to: Writer, fields: readonly Field[], oneof: string, is: { case: string; value: Value } | undefined, depth: number): void {
  to.byte(3);
  if (!is) return to.byte(0);
  const field = fields.find((field) => field.oneof === oneof && field.name === is.case);
  if (!field) throw invalid(oneof, `has no member ${is.case}`);
  to.varint(field.member);
  writeValue(to, field, field.letter, is.value, depth);
}

/** A value, or the default of its type for `undefined`. */
function writeValue(to: Writer, { type, values }: Field, letter: Letter, value: Value, depth: number): void {
  if (letter === "m") return writeMessage(to, type as Table, (value ?? {}) as Fields, depth - 1);
  to.byte(KINDS[letter]);
  switch (letter) {
    case "s":
      if (value !== undefined && typeof value !== "string") throw invalid("a field", "is not a string");
      to.byte(10);
      return to.text(value ?? "");
    case "b":
      return to.byte(value ? 1 : 0);
    case "i": {
      const number = (value ?? 0) as number;
      if (number !== (number | 0)) throw range(value);
      return to.varint(((number << 1) ^ (number >> 31)) >>> 0);
    }
    case "u": {
      const number = (value ?? 0) as number;
      if (number !== number >>> 0) throw range(value);
      return to.varint(number);
    }
    case "e":
      return to.varint(indexOf(values as EnumTable, (value ?? 0) as number));
    case "w":
    case "W":
      if (value === undefined) return to.byte(0);
      SCRATCH.setBigUint64(0, BigInt(value as bigint));
      if (SCRATCH.getBigUint64(0) !== BigInt(value as bigint)) throw range(value);
      return to.varint64(SCRATCH.getUint32(4), SCRATCH.getUint32(0));
    case "l":
    case "L": {
      if (value === undefined) return to.byte(0);
      SCRATCH.setBigInt64(0, BigInt(value as bigint));
      if (SCRATCH.getBigInt64(0) !== BigInt(value as bigint)) throw range(value);
      const high = SCRATCH.getInt32(0);
      const low = SCRATCH.getUint32(4);
      const sign = high >> 31;
      return to.varint64(((low << 1) ^ sign) >>> 0, (((high << 1) | (low >>> 31)) ^ sign) >>> 0);
    }
    case "f":
    case "d": {
      const length = letter === "f" ? 4 : 8;
      if (length === 4) SCRATCH.setFloat32(0, (value ?? 0) as number);
      else SCRATCH.setFloat64(0, (value ?? 0) as number);
      for (let at = 0; at < length; at++) to.byte(SCRATCH.getUint8(at));
      return;
    }
    case "y":
      to.byte(10);
      return to.sized((value ?? new Uint8Array()) as Uint8Array);
  }
}

function indexOf({ numbers, indexes }: EnumTable, number: number): number {
  const index = indexes.get(number);
  if (index !== undefined) return index;
  // An index that the schema does not know is kept above -2^31.
  const kept = number + 0x8000_0000;
  if (number !== (number | 0) || number >= 0 || kept < numbers.length) throw range(number);
  return kept;
}

const invalid = (name: string, problem: string): Status => notRun(Code.INVALID_ARGUMENT, `${name} ${problem}`);
const range = (value: Value): Error => new Error(`cannot be ${String(value)}`);

/** What a decoder may still use. */
class Bounds {
  /** The levels of messages that may still begin. */
  depth = DEPTH_MAX;

  constructor(
    public memory: number,
    /** How many fields at the end of the outermost message may be missing. */
    public missing: number,
  ) {}

  take(bytes: number): void {
    if ((this.memory -= bytes) < 0) throw new Malformed("it takes too much memory");
  }
}

/**
 * Reads a message in either form, of which the last `missing` fields may not be there, or the default message for a nil.
 * Bytes behind it are ignored: a newer schema may put fields there.
 */
export function read<T>(from: Reader, type: Type<T>, missing: number): T {
  const bounds = new Bounds(Math.max(MEMORY_MAX, (from.end - from.at) * MEMORY_TIMES), missing);
  return (readMessage(from, type as Table, bounds) ?? blank(type as Table)) as T;
}

/** The default message. */
function blank(table: Table): Fields {
  const value: Fields = {};
  for (const field of table.fields) {
    if (field.shape === Shape.Single) value[field.name] = zero(field);
    else if (field.shape === Shape.List) value[field.name] = [];
    else if (field.shape === Shape.Map) value[field.name] = new Map();
    else value[field.shape === Shape.Member ? field.oneof : field.name] = undefined;
  }
  return value;
}

function zero({ letter, values }: Field): Value {
  switch (letter) {
    case "s":
      return "";
    case "b":
      return false;
    case "l":
    case "w":
      return 0n;
    case "y":
      return new Uint8Array();
    case "m":
      return undefined;
    default:
      return values ? values.numbers[0] : 0;
  }
}

/** A message; `undefined` for a nil. */
function readMessage(from: Reader, table: Table, bounds: Bounds): Fields | undefined {
  const kind = from.byte();
  if (kind === 0) return undefined;
  if (kind !== 8) throw new Malformed(`${table.name}: byte ${kind} begins no message`);
  from.byte(); // The flags are without meaning.
  if (bounds.depth-- === 0) throw new Malformed(`messages nest deeper than ${DEPTH_MAX}`);
  const { fields } = table;
  const atRoot = bounds.depth === DEPTH_MAX - 1;
  bounds.take(OBJECT + SLOT * fields.length);
  const value: Fields = {};
  let rich: Set<string> | undefined;
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index] as Field;
    const { name, shape } = field;
    if (from.at === from.end && atRoot && bounds.missing > 0) {
      bounds.missing--;
      if (shape !== Shape.Member || !(field.oneof in value)) {
        value[shape === Shape.Member ? field.oneof : name] =
          shape === Shape.List ? [] : shape === Shape.Map ? new Map() : shape === Shape.Single ? zero(field) : undefined;
      }
      continue;
    }
    switch (shape) {
      case Shape.Single:
        value[name] = field.kind === 3 ? readMessage(from, field.type as Table, bounds) : readValue(from, field, field.letter, bounds);
        break;
      case Shape.Optional:
        if (from.bytes[from.at] === 0 && from.at < from.end) {
          from.at++;
          value[name] = undefined;
        } else value[name] = readValue(from, field, field.letter, bounds);
        break;
      case Shape.List:
        value[name] = readList(from, field, bounds);
        break;
      case Shape.Map:
        value[name] = readMap(from, field, bounds);
        break;
      case Shape.Member:
        if (field.first) value[field.oneof] = undefined;
        if (field.first && from.at < from.end && from.bytes[from.at] === 3) {
          from.at++;
          (rich ??= new Set()).add(field.oneof);
          const member = from.varint();
          if (member !== 0) {
            const set = fields.find((other) => other.oneof === field.oneof && other.member === member);
            if (!set) throw new Malformed(`${table.name}.${field.oneof} has no member ${member}`);
            value[field.oneof] = { case: set.name, value: readValue(from, set, set.letter, bounds) };
          }
        } else if (!rich?.has(field.oneof)) {
          const is = field.kind === 3 ? readMessage(from, field.type as Table, bounds) : readValue(from, field, field.letter, bounds);
          if (!isDefault(is)) value[field.oneof] = { case: name, value: is };
        }
    }
  }
  bounds.depth++;
  return value;
}

/** Whether the flat form means by this value that a member is not set. */
const isDefault = (value: Value): boolean =>
  value === undefined || value === "" || value === false || value === 0n || Object.is(value, 0) ||
  (value instanceof Uint8Array && value.length === 0);

/** The head of a list or map, and the number of elements, which the rest has room for. */
function count(from: Reader, kinds: readonly number[]): number {
  let smallest = 0;
  for (const kind of kinds.slice(1)) smallest += least(kind);
  for (const kind of kinds) expect(from, kind);
  expect(from, 10);
  const count = from.varint();
  if (count * smallest > from.end - from.at) throw new Malformed("a count is beyond the end");
  return count;
}

function readList(from: Reader, field: Field, bounds: Bounds): Value[] {
  const length = count(from, [1, field.kind]);
  bounds.take(length * SLOT);
  const list: Value[] = [];
  for (let at = 0; at < length; at++) list.push(readValue(from, field, field.letter, bounds));
  return list;
}

function readMap(from: Reader, field: Field, bounds: Bounds): Map<Value, Value> {
  const map = new Map<Value, Value>();
  if (from.at < from.end && from.bytes[from.at] === 0) {
    from.at++;
    return map;
  }
  const size = count(from, [2, KINDS[field.key], field.kind]);
  bounds.take(size * OBJECT);
  for (let at = 0; at < size; at++) {
    const key = readValue(from, field, field.key, bounds);
    map.set(key, readValue(from, field, field.letter, bounds));
  }
  return map;
}

function expect(from: Reader, kind: number): void {
  const found = from.byte();
  if (found !== kind) throw new Malformed(`kind ${found} stands in the place of ${kind}`);
}

/** A value of a kind. A nil counts as a message with defaults. */
function readValue(from: Reader, { type, values }: Field, letter: Letter, bounds: Bounds): Value {
  if (letter === "m") {
    const is = readMessage(from, type as Table, bounds);
    if (is) return is;
    bounds.take(OBJECT + SLOT * (type as Table).fields.length);
    return blank(type as Table);
  }
  expect(from, KINDS[letter]);
  switch (letter) {
    case "s":
      expect(from, 10);
      return from.text(from.varint());
    case "b": {
      const byte = from.byte();
      if (byte > 1) throw new Malformed(`a bool is ${byte}`);
      return byte === 1;
    }
    case "i": {
      const zigzag = from.varint();
      return (zigzag >>> 1) ^ -(zigzag & 1);
    }
    case "u":
      return from.varint();
    case "e": {
      const index = from.varint();
      const { numbers, indexes } = values as EnumTable;
      const kept = index - 0x8000_0000;
      if (index >= numbers.length && (kept >= 0 || indexes.has(kept))) throw new Malformed(`an enum has the index ${index}`);
      return numbers[index] ?? kept;
    }
    case "w":
    case "W": {
      const low = from.varint64();
      return whole(letter === "W", low, from.high);
    }
    case "l":
    case "L": {
      const low = from.varint64();
      const { high } = from;
      const sign = -(low & 1);
      return whole(letter === "L", (((low >>> 1) | (high << 31)) ^ sign) >>> 0, (high >>> 1) ^ sign);
    }
    case "f":
    case "d": {
      const length = letter === "f" ? 4 : 8;
      if (from.end - from.at < length) throw new Malformed("it is cut off");
      for (let at = 0; at < length; at++) SCRATCH.setUint8(at, from.byte());
      return length === 4 ? SCRATCH.getFloat32(0) : SCRATCH.getFloat64(0);
    }
    case "y":
      expect(from, 10);
      return new Uint8Array(from.view(from.varint())); // A copy: a view would keep all that came with it.
  }
}

/** The number with these halves, of which the upper one has the sign. */
function whole(asNumber: boolean, low: number, high: number): number | bigint {
  if (!asNumber) {
    SCRATCH.setInt32(0, high);
    SCRATCH.setUint32(4, low);
    return high < 0 ? SCRATCH.getBigInt64(0) : SCRATCH.getBigUint64(0);
  }
  const number = high * 0x1_0000_0000 + low;
  if (!Number.isSafeInteger(number)) throw new Malformed("an integer is beyond 2^53");
  return number;
}
