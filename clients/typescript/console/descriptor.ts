/**
 * Parses the schema of a server from an encoded `google.protobuf.FileDescriptorSet`. Names and comments come from the
 * server and are untrusted, so they are displayed only as text.
 */

import { Malformed, remaining, reader, takeText, takeVarint, takeView } from "../src/bytes.js";

/** Maximum nesting depth of type declarations. */
const NESTING_MAX = 64;

/** Field types, by protobuf's numbers. */
export const enum Kind {
  Double = 1,
  Float,
  Int64,
  Uint64,
  Int32,
  Fixed64,
  Fixed32,
  Bool,
  String,
  Group,
  Message,
  Bytes,
  Uint32,
  Enum,
  Sfixed32,
  Sfixed64,
  Sint32,
  Sint64,
}

export interface Field {
  readonly name: string;
  readonly jsonName: string;
  readonly number: number;
  readonly kind: Kind;
  /** Full name of the message or enum. */
  readonly type: string;
  readonly isRepeated: boolean;
  readonly isOptional: boolean;
  readonly isDeprecated: boolean;
  /** Index of the field's oneof in the message. Unset for the synthetic oneof of an `optional` field. */
  readonly oneof: number | undefined;
  readonly docs: string;
}

interface Declared {
  /** Full name of the type. */
  readonly name: string;
  readonly package: string;
  /** Names of the outer types and of the type itself. */
  readonly path: readonly string[];
  readonly docs: string;
}

export interface Message extends Declared {
  /** Fields in the order of declaration. */
  readonly fields: readonly Field[];
  readonly oneofs: readonly { readonly name: string; readonly docs: string }[];
  /** Whether the message is the entry type of a map. */
  readonly isEntry: boolean;
}

export interface EnumType extends Declared {
  readonly values: readonly { readonly name: string; readonly number: number; readonly docs: string }[];
}

/** All types of a server by their full names. */
export class Schema {
  readonly messages = new Map<string, Message>();
  readonly enums = new Map<string, EnumType>();

  /** Parses a set of files. Throws `Malformed` for invalid input. */
  constructor(set: Uint8Array) {
    for (const { number, bytes } of items(set)) if (number === 1) this.file(bytes);
  }

  message(name: string): Message {
    const found = this.messages.get(name);
    if (!found) throw new Error(`the schema has no message ${name}`);
    return found;
  }

  enumeration(name: string): EnumType {
    const found = this.enums.get(name);
    if (!found) throw new Error(`the schema has no enum ${name}`);
    return found;
  }

  /** Returns the entry message if the field is a map. */
  entry(field: Field): Message | undefined {
    const message = field.isRepeated && field.kind === Kind.Message ? this.messages.get(field.type) : undefined;
    return message?.isEntry ? message : undefined;
  }

  private file(bytes: Uint8Array): void {
    let name = "";
    const found: { number: number; bytes: Uint8Array }[] = [];
    let docs: ReadonlyMap<string, string> = new Map();
    for (const { number, bytes: value } of items(bytes)) {
      if (number === 2) name = text(value);
      else if (number === 4 || number === 5) found.push({ number, bytes: value });
      else if (number === 9) docs = comments(value);
    }
    const at: { [number: number]: number } = { 4: 0, 5: 0 };
    for (const { number, bytes: value } of found) {
      const index = at[number] ?? 0;
      at[number] = index + 1;
      const path = `${number},${index}`;
      if (number === 4) this.declare(value, name, [], path, docs, 0);
      else this.declareEnum(value, name, [], path, docs);
    }
  }

  private declare(bytes: Uint8Array, inPackage: string, around: readonly string[], path: string, docs: ReadonlyMap<string, string>, depth: number): void {
    if (depth > NESTING_MAX) throw new Malformed("types are nested too deeply");
    const fields: Uint8Array[] = [];
    const nested: Uint8Array[] = [];
    const enums: Uint8Array[] = [];
    const oneofs: { name: string; docs: string }[] = [];
    let own = "";
    let isEntry = false;
    for (const { number, bytes: value } of items(bytes)) {
      if (number === 1) own = text(value);
      else if (number === 2) fields.push(value);
      else if (number === 3) nested.push(value);
      else if (number === 4) enums.push(value);
      else if (number === 7) isEntry = flag(value, 7);
      else if (number === 8) oneofs.push({ name: named(value), docs: docs.get(`${path},8,${oneofs.length}`) ?? "" });
    }
    const names = [...around, own];
    const name = full(inPackage, names);
    const read = fields.map((field, at) => readField(field, docs.get(`${path},2,${at}`) ?? ""));
    this.messages.set(name, { name, package: inPackage, path: names, docs: docs.get(path) ?? "", fields: read, oneofs, isEntry });
    nested.forEach((value, at) => this.declare(value, inPackage, names, `${path},3,${at}`, docs, depth + 1));
    enums.forEach((value, at) => this.declareEnum(value, inPackage, names, `${path},4,${at}`, docs));
  }

  private declareEnum(bytes: Uint8Array, inPackage: string, around: readonly string[], path: string, docs: ReadonlyMap<string, string>): void {
    const values: { name: string; number: number; docs: string }[] = [];
    let own = "";
    for (const { number, bytes: value } of items(bytes)) {
      if (number === 1) own = text(value);
      if (number !== 2) continue;
      let is = 0;
      for (const item of items(value)) if (item.number === 2) is = item.low | 0;
      values.push({ name: named(value), number: is, docs: docs.get(`${path},2,${values.length}`) ?? "" });
    }
    const names = [...around, own];
    const name = full(inPackage, names);
    this.enums.set(name, { name, package: inPackage, path: names, docs: docs.get(path) ?? "", values });
  }
}

/** Returns whether fields of this kind refer to a message or enum type. */
export const isNamed = (kind: Kind): boolean => kind === Kind.Message || kind === Kind.Group || kind === Kind.Enum;

const full = (inPackage: string, names: readonly string[]): string => [...(inPackage ? [inPackage] : []), ...names].join(".");

function readField(bytes: Uint8Array, docs: string): Field {
  let name = "";
  let jsonName = "";
  let type = "";
  let [number, label, kind, oneof] = [0, 0, 0, -1];
  let isOptional = false;
  let isDeprecated = false;
  for (const item of items(bytes)) {
    if (item.number === 1) name = text(item.bytes);
    else if (item.number === 3) number = item.low;
    else if (item.number === 4) label = item.low;
    else if (item.number === 5) kind = item.low;
    else if (item.number === 6) type = text(item.bytes).replace(/^\./, "");
    else if (item.number === 8) isDeprecated = flag(item.bytes, 3);
    else if (item.number === 9) oneof = item.low;
    else if (item.number === 10) jsonName = text(item.bytes);
    else if (item.number === 17) isOptional = item.low !== 0;
  }
  if (kind < Kind.Double || kind > Kind.Sint64) throw new Malformed(`a field of the kind ${kind}`);
  return {
    name, number, kind, type, isOptional, isDeprecated, docs,
    jsonName: jsonName || name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    isRepeated: label === 3,
    oneof: oneof < 0 || isOptional ? undefined : oneof,
  };
}

/** A field of an encoded protobuf message. */
interface Item {
  readonly number: number;
  /** Contents of a length-delimited field. */
  readonly bytes: Uint8Array;
  /** Low 32 bits of a number. */
  readonly low: number;
}

const NOTHING = new Uint8Array();

const text = (bytes: Uint8Array): string => takeText(reader(bytes), bytes.length);

function* items(bytes: Uint8Array): Generator<Item> {
  const from = reader(bytes);
  while (remaining(from)) {
    const tag = takeVarint(from);
    const number = tag >>> 3;
    const type = tag & 7;
    if (type === 0) {
      // A negative number takes ten bytes, which is more than `varint` can return.
      let low = 0;
      let shift = 0;
      for (const byte of bytes.subarray(from.at, (takeVarint(from, 10), from.at))) {
        if (shift < 32) low |= (byte & 127) << shift;
        shift += 7;
      }
      yield { number, bytes: NOTHING, low: low >>> 0 };
    } else if (type === 2) yield { number, bytes: takeView(from, takeVarint(from)), low: 0 };
    else if (type === 1 || type === 5) takeView(from, type === 1 ? 8 : 4);
    else throw new Malformed(`a field of the wire type ${type}`);
  }
}

/** Returns the name of a declaration. The name is the first field. */
function named(bytes: Uint8Array): string {
  for (const { number, bytes: value } of items(bytes)) if (number === 1) return text(value);
  return "";
}

function flag(bytes: Uint8Array, wanted: number): boolean {
  for (const { number, low } of items(bytes)) if (number === wanted) return low !== 0;
  return false;
}

/** Returns the comments of a file, keyed by the paths of their declarations. */
function comments(bytes: Uint8Array): ReadonlyMap<string, string> {
  const docs = new Map<string, string>();
  for (const { number, bytes: location } of items(bytes)) {
    if (number !== 1) continue;
    let path = "";
    let leading = "";
    let trailing = "";
    for (const item of items(location)) {
      if (item.number === 1) {
        const from = reader(item.bytes);
        const parts: number[] = [];
        while (remaining(from)) parts.push(takeVarint(from));
        path = parts.join(",");
      } else if (item.number === 3) leading = text(item.bytes);
      else if (item.number === 4) trailing = text(item.bytes);
    }
    const comment = leading || trailing;
    if (comment) docs.set(path, cleanComment(comment));
  }
  return docs;
}

/** Returns a comment without the leading space of each line. */
export const cleanComment = (comment: string): string => comment.replace(/^ /gm, "").trim();
