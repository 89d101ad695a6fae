/**
 * Converts a call to a shell command or to code. All names come from the server and are untrusted, so each is quoted
 * for the shell or compiler that reads it.
 */

import type { Metadata } from "frisbee-rpc";
import { Kind, type Field, type Message, type Schema } from "./descriptor.js";
import { oneofProperty, property, type Fields } from "./dynamic.js";
import { fromBase64, fromJson, isSpecial, toBase64, type Json } from "./json.js";
import { entriesOf } from "./metadata.js";
import { pathOf, type MethodInfo } from "./server.js";

/** A call with its options. */
export interface CallText {
  readonly schema: Schema;
  readonly method: MethodInfo;
  /** The request messages. Exactly one unless the method has a request stream. */
  readonly requests: readonly Json[];
  readonly metadata: Metadata;
  /** Timeout of the call in ms. */
  readonly timeout: number | undefined;
  /** The origin of the page. */
  readonly origin: string;
}

/** Converts JSON to text. Escapes characters that would change how the surrounding text is displayed. */
const compact = (json: Json): string => escaped(JSON.stringify(json));
const escaped = (text: string): string => text.replace(/[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Quotes an argument of a shell command. */
const word = (text: string): string => (/^[\w./:=@%+-]+$/.test(text) ? text : `'${escaped(text).replace(/'/g, "'\\''")}'`);

const metadataText = (metadata: Metadata): [string, string][] =>
  entriesOf(metadata).map(([key, value]) => [key, typeof value === "string" ? value : toBase64(value)]);

/** Returns a curl command that uses the Connect protocol. The messages of streams are sent in envelopes. */
export function curl({ method, requests, metadata, timeout, origin }: CallText): string {
  const isStream = method.sends || method.receives;
  const parts = [isStream ? "curl -sN" : "curl", `-H 'content-type: application/${isStream ? "connect+json" : "json"}'`];
  if (timeout !== undefined) parts.push(`-H ${word(`connect-timeout-ms: ${Math.round(timeout)}`)}`);
  for (const [key, value] of metadataText(metadata)) parts.push(`-H ${word(`${key}: ${value}`)}`);
  const url = word(`${origin}/${pathOf(method)}`);
  if (!isStream) return [...parts, `-d ${word(compact(requests[0] ?? {}))}`, url].join(" \\\n  ");
  const bodies = requests.map(compact);
  const envelopes = bodies.map((body) => `\\0${octal(new TextEncoder().encode(body).length)}%s`).join("");
  return [`printf '${envelopes}' ${bodies.map(word).join(" ")} | ${parts[0]}`, ...parts.slice(1), "--data-binary @-", url].join(" \\\n  ");
}

/** Returns a length as four octal escapes for `printf`. */
const octal = (length: number): string => [24, 16, 8, 0].map((shift) => `\\${((length >>> shift) & 255).toString(8).padStart(3, "0")}`).join("");

/** Returns a command line for the program `frpc`. */
export function frpc({ method, requests, metadata, timeout, origin }: CallText): string {
  const { host, protocol } = new URL(origin);
  const server = protocol === "https:" ? `wss://${host}/` : host;
  const parts = [`frpc call --server ${word(server)}`, word(pathOf(method))];
  for (const json of requests) parts.push(word(compact(json)));
  for (const [key, value] of metadataText(metadata)) parts.push(`-H ${word(`${key}=${value}`)}`);
  if (timeout !== undefined) parts.push(`--deadline ${Math.round(timeout)}ms`);
  return parts.join(" \\\n  ");
}

// Names.

/** Replaces all characters except letters, digits and underscores, so that a name in the schema cannot inject code. */
const ident = (name: string): string => name.replace(/\W/g, "_") || "_";
/** Returns the text of a number or a boolean. */
const digits = (text: string): string => ident(text).replace(/^_(?=\d)/, "-");
const words = (name: string): string[] => ident(name).replace(/([a-z\d])([A-Z])/g, "$1_$2").replace(/([A-Z])([A-Z][a-z])/g, "$1_$2").split("_").filter(Boolean);
const snake = (name: string): string => words(name).map((one) => one.toLowerCase()).join("_") || "_";
const upperCamel = (name: string): string => words(name).map((one) => one[0]?.toUpperCase() + one.slice(1).toLowerCase()).join("") || "_";
const lowerCamel = (name: string): string => upperCamel(name).replace(/^./, (letter) => letter.toLowerCase());

const RUST_WORDS = new Set("as break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return static struct super trait true type unsafe use where while async await abstract become box do final macro override priv try typeof unsized virtual yield gen".split(" "));
const rustName = (name: string): string => (RUST_WORDS.has(snake(name)) ? (/^(self|super|crate)$/.test(snake(name)) ? `${snake(name)}_` : `r#${snake(name)}`) : snake(name));

// Rust.

const rustText = (text: string): string => escaped(JSON.stringify(text)).replace(/\\u([\da-f]{4})/gi, "\\u{$1}").replace(/\\[bf]/g, (letter) => (letter === "\\b" ? "\\u{8}" : "\\u{c}"));

/** Returns Rust code that calls the method with a client generated by frpc-build. */
export function rust(text: CallText): string {
  const { schema, method, requests, metadata, timeout, origin } = text;
  const service = ident(method.service.name.split(".").pop() ?? "");
  const messages = requests.map((json) => rustMessage(schema, method.request, json, 0));
  const call = rustName(method.name);
  const lines = [`let client = ${service}Client::connect(${rustText(new URL(origin).host)}).await?;`];
  let argument = messages[0] ?? `${upperCamel(method.request)}::default()`;
  if (method.sends) {
    lines.push(`let (requests, source) = frpc::RequestStream::channel(16);`);
    argument = "source";
  }
  const terms = [
    ...(timeout === undefined ? [] : [`request.set_timeout(Duration::from_millis(${Math.round(timeout)}));`]),
    ...entriesOf(metadata).map(([key, value]) =>
      typeof value === "string"
        ? `request.metadata_mut().insert(${rustText(key)}, ${rustText(value)})?;`
        : `request.metadata_mut().insert_bin(${rustText(key)}, &[${[...value].join(", ")}][..])?;`),
  ];
  if (terms.length > 0) {
    lines.push(`let mut request = frpc::Request::new(${argument});`, ...terms);
    argument = "request";
  }
  if (method.receives) {
    lines.push(`let mut replies = client.${call}(${argument}).await?.into_inner();`);
    lines.push(...messages.slice(0, method.sends ? undefined : 0).map((one) => `requests.send(${one}).await?;`), ...(method.sends ? ["drop(requests);"] : []));
    lines.push("while let Some(reply) = replies.message().await? {", '    println!("{reply:?}");', "}");
  } else if (method.sends) {
    lines.push(`let call = client.${call}(${argument});`, "let sending = async {", ...messages.map((one) => `    requests.send(${one}).await?;`), "    drop(requests);", "    Ok(())", "};");
    lines.push("let (reply, ()) = tokio::try_join!(call, sending)?;", 'println!("{:?}", reply.into_inner());');
  } else lines.push(`let reply = client.${call}(${argument}).await?.into_inner();`, 'println!("{reply:?}");');
  return lines.join("\n");
}

/**
 * Returns the path of a type: the modules of its outer types, followed by its name. A type of another package is
 * preceded by that package's modules.
 */
function rustPath({ path, package: of }: { readonly path: readonly string[]; readonly package: string }): string {
  const own = [...path.slice(0, -1).map(rustName), upperCamel(path[path.length - 1] ?? "")].join("::");
  return of === "google.protobuf" ? `frpc::prost_types::${own}` : own;
}

const indent = (text: string, depth: number): string => `${"    ".repeat(depth)}${text}`;

function rustMessage(schema: Schema, name: string, json: Json, depth: number): string {
  const message = schema.message(name);
  const path = rustPath(message);
  const is = typeof json === "object" && json !== null && !Array.isArray(json) ? json : {};
  const lines: string[] = [];
  const printed = new Set<string>();
  for (const field of message.fields) {
    const value = is[is[field.jsonName] === undefined ? field.name : field.jsonName];
    if (value === undefined || (value === null && field.type !== "google.protobuf.Value")) continue;
    const oneof = field.oneof === undefined ? undefined : message.oneofs[field.oneof];
    const one = rustField(schema, message, field, value, depth + 1);
    const key = oneof ? oneof.name : field.name;
    printed.add(key);
    const module = [...message.path.map(rustName), upperCamel(oneof?.name ?? "")].join("::");
    lines.push(indent(`${rustName(key)}: ${oneof ? `Some(${module}::${upperCamel(field.name)}(${one}))` : one},`, depth + 1));
  }
  const all = new Set(message.fields.map((field) => (field.oneof === undefined ? field.name : message.oneofs[field.oneof]?.name)));
  if (lines.length === 0) return `${path}${all.size === 0 ? " {}" : "::default()"}`;
  if (printed.size < all.size) lines.push(indent(`..${path}::default()`, depth + 1));
  const short = `${path} { ${lines.map((line) => line.trim().replace(/,$/, "")).join(", ")} }`;
  return short.length < 90 && !short.includes("\n") ? short : `${path} {\n${lines.join("\n")}\n${indent("}", depth)}`;
}

function rustField(schema: Schema, within: Message, field: Field, json: Json, depth: number): string {
  const [key, of] = schema.entry(field)?.fields ?? [];
  if (key && of) {
    const entries = Object.entries(json as { [name: string]: Json });
    const pairs = entries.map(([name, one]) => `(${key.kind === Kind.String ? `${rustText(name)}.to_owned()` : digits(name)}, ${rustOne(schema, of, one, depth)})`);
    return `HashMap::from([${pairs.join(", ")}])`;
  }
  if (field.isRepeated) return `vec![${(json as Json[]).map((one) => rustOne(schema, field, one, depth)).join(", ")}]`;
  const one = rustOne(schema, field, json, depth);
  const boxed = field.kind === Kind.Message && !isSpecial(field.type) && contains(schema, field.type, within.name, new Set()) ? `Box::new(${one})` : one;
  return field.oneof === undefined && (field.isOptional || field.kind === Kind.Message) ? `Some(${boxed})` : boxed;
}

/**
 * Returns whether a message contains another one through singular fields at any depth. The field is then boxed in Rust.
 */
function contains(schema: Schema, name: string, wanted: string, seen: Set<string>): boolean {
  if (name === wanted) return true;
  if (seen.has(name)) return false;
  seen.add(name);
  return schema.messages.get(name)?.fields.some((field) => field.kind === Kind.Message && !field.isRepeated && contains(schema, field.type, wanted, seen)) ?? false;
}

function rustOne(schema: Schema, field: Field, json: Json, depth: number): string {
  if (field.kind === Kind.Message) {
    const [first] = schema.message(field.type).fields;
    if (field.type === "google.protobuf.Timestamp" || field.type === "google.protobuf.Duration") return `${rustText(String(json))}.parse()?`;
    if (isSpecial(field.type) && first && /Value$/.test(field.type) && first.name === "value") return rustOne(schema, first, json, depth);
    if (isSpecial(field.type)) return rustSpecial(field.type, json);
    return rustMessage(schema, field.type, json, depth);
  }
  if (field.kind === Kind.Enum) {
    const declared = schema.enumeration(field.type);
    const found = declared.values.find(({ name }) => name === json);
    if (!found) return String(Number(json) | 0);
    const own = upperCamel(declared.path[declared.path.length - 1] ?? "");
    const variant = upperCamel(found.name);
    return `${rustPath(declared)}::${variant.startsWith(own) && variant.length > own.length ? variant.slice(own.length) : variant}.into()`;
  }
  if (field.kind === Kind.Bytes) return `vec![${[...fromBase64(String(json))].join(", ")}]`;
  if (field.kind === Kind.String) return `${rustText(String(json))}.to_owned()`;
  if (field.kind === Kind.Double || field.kind === Kind.Float) return rustFloat(Number(json), field.kind === Kind.Double ? "f64" : "f32");
  return digits(String(json));
}

const PROST = "frpc::prost_types::";

/** Returns the code for a free-form value or a field mask. */
function rustSpecial(name: string, json: Json): string {
  if (name === "google.protobuf.FieldMask") {
    const paths = String(json).split(",").filter(Boolean).map((path) => path.trim().replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
    return `${PROST}FieldMask { paths: vec![${paths.map((path) => `${rustText(path)}.to_owned()`).join(", ")}] }`;
  }
  if (name === "google.protobuf.Struct") return `${PROST}Struct { fields: ${rustEntries(json)} }`;
  return name === "google.protobuf.ListValue" ? `${PROST}ListValue { values: ${rustList(json)} }` : rustFree(json);
}

function rustFree(json: Json): string {
  if (json === null) return `${PROST}Value::from(${PROST}value::Kind::NullValue(0))`;
  const is = typeof json === "string" ? rustText(json) : typeof json === "number" ? rustFloat(json, "f64") : typeof json === "boolean" ? String(json) : Array.isArray(json) ? rustList(json) : rustEntries(json);
  return `${PROST}Value::from(${is})`;
}

const rustList = (json: Json): string => `vec![${(json as Json[]).map(rustFree).join(", ")}]`;
const rustEntries = (json: Json): string =>
  `BTreeMap::from([${Object.entries(json as { [name: string]: Json }).map(([key, one]) => `(${rustText(key)}.to_owned(), ${rustFree(one)})`).join(", ")}])`;

const rustFloat = (is: number, type: string): string =>
  Object.is(is, -0) ? "-0.0" : Number.isFinite(is) ? (Number.isInteger(is) && Math.abs(is) < 1e15 ? is.toFixed(1) : String(is)) : Number.isNaN(is) ? `${type}::NAN` : is < 0 ? `${type}::NEG_INFINITY` : `${type}::INFINITY`;

// TypeScript.

/** Returns TypeScript code that calls the method with a client generated by `protoc-gen-frpc generate lang=ts`. */
export function typescript(text: CallText): string {
  const { schema, method, requests, metadata, timeout, origin } = text;
  const service = ident(method.service.name.split(".").pop() ?? "");
  const messages = requests.map((json) => tsMessage(schema, method.request, fromJson(schema, method.request, json)));
  const options = [
    ...(timeout === undefined ? [] : [`timeout: ${timeout}`]),
    ...(Object.keys(metadata).length === 0 ? [] : [`metadata: { ${entriesOf(metadata).map(([key, value]) => `${compact(key)}: ${typeof value === "string" ? compact(value) : tsBytes(value)}`).join(", ")} }`]),
  ];
  const request = method.sends ? `[${messages.join(", ")}]` : (messages[0] ?? "{}");
  const call = `client.${lowerCamel(method.name)}(${request}${options.length > 0 ? `, { ${options.join(", ")} }` : ""})`;
  const connected = `const client = new ${service}Client(connect(${compact(`${origin.replace(/^http/, "ws")}/`)}));`;
  return `${connected}\n${method.receives ? `for await (const reply of ${call}) console.log(reply);` : `console.log(await ${call});`}`;
}

const tsBytes = (bytes: Uint8Array): string => `new Uint8Array([${[...bytes].join(", ")}])`;

/**
 * Converts a message of the console to the names of generated code. The console's messages use field numbers as
 * property names.
 */
function tsMessage(schema: Schema, name: string, is: Fields): string {
  const { fields, oneofs } = schema.message(name);
  const parts: string[] = [];
  for (const field of fields) {
    const own = property(field);
    if (field.oneof === undefined) {
      if (is[own] !== undefined) parts.push(`${lowerCamel(field.name)}: ${tsField(schema, field, is[own])}`);
      continue;
    }
    const set = is[oneofProperty(field.oneof)] as { readonly case: string; readonly value: unknown } | undefined;
    if (set?.case !== own) continue;
    parts.push(`${lowerCamel(oneofs[field.oneof]?.name ?? "")}: { case: "${lowerCamel(field.name)}", value: ${tsOne(schema, field, set.value)} }`);
  }
  return parts.length > 0 ? `{ ${parts.join(", ")} }` : "{}";
}

function tsField(schema: Schema, field: Field, is: unknown): string {
  const [key, of] = schema.entry(field)?.fields ?? [];
  if (key && of) return `new Map([${[...(is as Map<unknown, unknown>)].map(([name, one]) => `[${tsOne(schema, key, name)}, ${tsOne(schema, of, one)}]`).join(", ")}])`;
  return field.isRepeated ? `[${(is as unknown[]).map((one) => tsOne(schema, field, one)).join(", ")}]` : tsOne(schema, field, is);
}

function tsOne(schema: Schema, field: Field, is: unknown): string {
  if (is instanceof Uint8Array) return tsBytes(is);
  if (typeof is === "bigint") return `${is}n`;
  if (typeof is === "object") return tsMessage(schema, field.type, is as Fields);
  if (Object.is(is, -0)) return "-0";
  return typeof is === "string" ? compact(is) : String(is);
}
