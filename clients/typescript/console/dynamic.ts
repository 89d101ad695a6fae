/**
 * Creates the tables of the codec from a schema, for messages and services without generated code. `json.ts` converts
 * their values from and to JSON.
 *
 * A value's properties are named by field number, such as `f3`, or `o1` for a oneof. Names from the schema are not
 * used, because they come from the server and are untrusted.
 */

import { message, service, type AnyService, type Enum, type Method, type Type } from "frisbee-rpc";
import { Kind, isNamed, type EnumType, type Field, type Message, type Schema } from "./descriptor.js";

/** A message in the representation of the codec. */
export type Fields = Record<string, unknown>;

export const property = (field: Field): string => `f${field.number}`;
export const oneofProperty = (oneof: number): string => `o${oneof}`;

/** Type letters in tables, by field type. */
const LETTERS: Readonly<Record<Kind, string>> = {
  [Kind.Double]: "d",
  [Kind.Float]: "f",
  [Kind.Int64]: "l",
  [Kind.Uint64]: "w",
  [Kind.Int32]: "i",
  [Kind.Fixed64]: "w",
  [Kind.Fixed32]: "u",
  [Kind.Bool]: "b",
  [Kind.String]: "s",
  [Kind.Group]: "m",
  [Kind.Message]: "m",
  [Kind.Bytes]: "y",
  [Kind.Uint32]: "u",
  [Kind.Enum]: "e",
  [Kind.Sfixed32]: "i",
  [Kind.Sfixed64]: "l",
  [Kind.Sint32]: "i",
  [Kind.Sint64]: "l",
};

/** Tables of a schema, created on demand. */
export class Tables {
  private readonly types = new Map<string, Type<Fields>>();
  private readonly enums = new Map<string, Enum>();

  constructor(private readonly schema: Schema) {}

  of(name: string): Type<Fields> {
    const known = this.types.get(name);
    if (known) return known;
    const declared = this.schema.message(name);
    const ordered = inWireOrder(this.schema, declared);
    const spec = ordered.map((field) => `${property(field)}:${this.spec(declared, field)}`).join(" ");
    const referred = ordered.map((field) => this.schema.entry(field)?.fields[1] ?? field).filter((field) => isNamed(field.kind));
    const type = message<Fields>(name, spec, () => referred.map((field) => (field.kind === Kind.Enum ? this.choice(field.type) : this.of(field.type))));
    this.types.set(name, type);
    return type;
  }

  private spec(within: Message, field: Field): string {
    const entry = this.schema.entry(field);
    const letter = LETTERS[field.kind];
    if (entry) {
      const [key, value] = entry.fields;
      if (!key || !value) throw new Error(`${entry.name} is not a map entry`);
      return `%${LETTERS[key.kind]}${LETTERS[value.kind]}`;
    }
    if (field.isRepeated) return `*${letter}`;
    if (field.oneof !== undefined) {
      const members = within.fields.filter((other) => other.oneof === field.oneof);
      return `${oneofProperty(field.oneof)}/${members.indexOf(field) + 1}/${letter}`;
    }
    return field.isOptional && letter !== "m" ? `?${letter}` : letter;
  }

  private choice(name: string): Enum {
    let known = this.enums.get(name);
    if (!known) {
      known = numbersOf(this.schema.enumeration(name));
      this.enums.set(name, known);
    }
    return known;
  }
}

const numbersOf = (of: EnumType): Enum => Object.fromEntries(of.values.map(({ number }, at) => [`v${at}`, number]));

/**
 * Returns fields in wire order: singular scalars, then lists, then messages and maps. Each group is in the order of
 * declaration.
 */
function inWireOrder(schema: Schema, of: Message): readonly Field[] {
  const group = (field: Field): number => {
    if (schema.entry(field)) return 2;
    if (field.isRepeated) return 1;
    return field.kind === Kind.Message || field.kind === Kind.Group ? 2 : 0;
  };
  return [0, 1, 2].flatMap((wanted) => of.fields.filter((field) => group(field) === wanted));
}

/** What is needed to call a method. */
export interface Callable {
  readonly service: AnyService;
  readonly method: Method<Fields, Fields>;
}

/** A method as the server's reflection lists it. */
export interface Listed {
  readonly operation: number;
  readonly request: string;
  readonly response: string;
  readonly sends: boolean;
  readonly receives: boolean;
  readonly isIdempotent: boolean;
}

/** Returns the methods of a service in a form that can be called, with the layout that the server reports. */
export function callables(tables: Tables, name: string, fingerprint: string, listed: readonly Listed[]): readonly Callable[] {
  const methods = listed.map(({ operation, request, response, sends, receives, isIdempotent }): Method<Fields, Fields> => ({
    operation,
    request: tables.of(request),
    reply: tables.of(response),
    sends,
    receives,
    idempotent: isIdempotent,
  }));
  const all = service(name, fingerprint, "", Object.fromEntries(methods.map((method, at) => [`m${at}`, method])));
  return methods.map((method) => ({ service: all, method }));
}
