/**
 * Creates forms for messages from a schema. The value of a form is the JSON of its message, as `json.ts` accepts it.
 */

import { Kind, type Field, type Message, type Schema } from "./descriptor.js";
import { fill, freshId, h } from "./dom.js";
import { emptyOf, type Editor } from "./editor.js";
import { bytesEditor, enumEditor, freeFormEditor, scalarEditor } from "./inputs.js";
import { isSpecial, object, type Json } from "./json.js";

/** Maximum nesting depth of examples. */
const EXAMPLE_DEPTH = 3;

/** A form that edits a message. */
export class Form {
  readonly element: HTMLElement;
  private readonly editor: Editor;

  constructor(private readonly schema: Schema, private readonly name: string, changed: () => void) {
    this.editor = messageEditor(schema, name);
    this.element = h("div", { className: "form", oninput: changed, onchange: changed, onclick: changed }, this.editor.element);
  }

  get(): Json {
    return this.editor.get() ?? object();
  }

  set(json: Json): void {
    this.editor.set(json);
  }

  /** Fills the form with an example. */
  example(): void {
    this.set(exampleOf(this.schema, this.name, []));
  }
}

/** Returns an example of a message. */
export function exampleOf(schema: Schema, name: string, around: readonly string[]): Json {
  switch (name) {
    case "google.protobuf.Timestamp":
      return new Date().toISOString().replace(/\.\d+/, "");
    case "google.protobuf.Duration":
      return "1.500s";
    case "google.protobuf.FieldMask":
      return "name";
    case "google.protobuf.Struct":
      return { key: "value" };
    case "google.protobuf.Value":
      return "value";
    case "google.protobuf.ListValue":
      return ["value"];
  }
  const message = schema.message(name);
  const first = message.fields[0];
  if (isSpecial(name) && first) return exampleOfOne(schema, first, around);
  const json = object();
  const deeper = [...around, name];
  for (const field of message.fields) {
    const entry = schema.entry(field);
    const of = entry?.fields[1] ?? field;
    const isFirst = field.oneof === undefined || message.fields.find((other) => other.oneof === field.oneof) === field;
    const isTooDeep = of.kind === Kind.Message && (deeper.includes(of.type) || deeper.length > EXAMPLE_DEPTH);
    if (!isFirst || isTooDeep || of.kind === Kind.Group || field.isDeprecated) continue;
    const one = exampleOfOne(schema, of, deeper);
    const key = entry?.fields[0];
    if (key) json[field.jsonName] = Object.assign(object(), { [key.kind === Kind.String ? "key" : key.kind === Kind.Bool ? "true" : "1"]: one });
    else json[field.jsonName] = field.isRepeated ? [one] : one;
  }
  return json;
}

function exampleOfOne(schema: Schema, field: Field, around: readonly string[]): Json {
  switch (field.kind) {
    case Kind.Message:
      return exampleOf(schema, field.type, around);
    case Kind.Enum: {
      const { values } = schema.enumeration(field.type);
      return (values.find(({ number }) => number !== 0) ?? values[0])?.name ?? 0;
    }
    case Kind.Bool:
      return true;
    case Kind.String:
      return field.name.replace(/_/g, " ");
    case Kind.Bytes:
      return btoa("bytes");
    case Kind.Double:
    case Kind.Float:
      return 1.5;
    case Kind.Int64:
    case Kind.Uint64:
    case Kind.Fixed64:
    case Kind.Sfixed64:
    case Kind.Sint64:
      return "1";
    default:
      return 1;
  }
}

/** Returns the type of a field as text. */
export function typeText(schema: Schema, field: Field): string {
  const entry = schema.entry(field);
  const [key, of] = entry?.fields ?? [];
  if (key && of) return `map<${plainType(key)}, ${plainType(of)}>`;
  return `${field.isRepeated ? "repeated " : field.isOptional ? "optional " : ""}${plainType(field)}`;
}

const NAMES = ["", "double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "group", "", "bytes", "uint32", "", "sfixed32", "sfixed64", "sint32", "sint64"];

const plainType = (field: Field): string => NAMES[field.kind] || (field.type.split(".").pop() ?? "");

/** Creates an editor for the singular value of a field, or for a list element. */
function oneEditor(schema: Schema, field: Field): Editor {
  if (field.kind === Kind.Enum) return enumEditor(schema.enumeration(field.type));
  if (field.kind === Kind.Bytes) return bytesEditor();
  if (field.kind !== Kind.Message) return scalarEditor(field);
  return valueEditor(schema, field.type);
}

/** Creates an editor for a message that cannot be absent. */
function valueEditor(schema: Schema, name: string): Editor {
  switch (name) {
    case "google.protobuf.Timestamp":
      return freeFormEditor("text", "2030-01-31T12:00:00Z", { label: "Now", json: () => new Date().toISOString() });
    case "google.protobuf.Duration":
      return freeFormEditor("text", "1.5s");
    case "google.protobuf.FieldMask":
      return freeFormEditor("text", "name,homeAddress.city");
    case "google.protobuf.Struct":
      return freeFormEditor("json", '{ "key": "value" }');
    case "google.protobuf.Value":
      return freeFormEditor("json", "any JSON");
    case "google.protobuf.ListValue":
      return freeFormEditor("json", "[1, 2]");
  }
  const wrapped = isSpecial(name) ? schema.message(name).fields[0] : undefined;
  if (!wrapped) return messageEditor(schema, name);
  const editor = oneEditor(schema, wrapped);
  // A wrapper that holds the default value is different from an absent wrapper.
  return { ...editor, get: () => editor.get() ?? defaultOf(wrapped) };
}

const defaultOf = (field: Field): Json => (field.kind === Kind.Bool ? false : field.kind === Kind.String || field.kind === Kind.Bytes ? "" : 0);

/** Creates the rows of a message. */
function messageEditor(schema: Schema, name: string): Editor {
  const message = schema.message(name);
  const rows: { readonly editor: Editor; readonly names: readonly string[]; put(json: { [name: string]: Json }): void; take(json: { [name: string]: Json }): void }[] = [];
  const element = h("div", { className: "fields" });
  const seen = new Set<number>();
  for (const field of message.fields) {
    if (field.oneof !== undefined) {
      if (seen.has(field.oneof)) continue;
      seen.add(field.oneof);
      const oneof = oneofRow(schema, message, field.oneof);
      element.append(oneof.element);
      rows.push({ editor: oneof, names: [], put: (json) => Object.assign(json, oneof.get()), take: (json) => oneof.set(json) });
      continue;
    }
    const editor = fieldEditor(schema, field);
    element.append(row(field.name, typeText(schema, field), field.docs, editor, field.isDeprecated));
    rows.push({
      editor,
      names: [field.jsonName],
      put: (json) => {
        const is = editor.get();
        if (is !== undefined) json[field.jsonName] = is;
      },
      take: (json) => editor.set(json[field.jsonName] ?? json[field.name]),
    });
  }
  if (message.fields.length === 0) element.append(h("p", { className: "muted" }, `${name} has no fields.`));
  return {
    element,
    get() {
      const json = object();
      for (const { put } of rows) put(json);
      return json;
    },
    set(json) {
      const from = typeof json === "object" && json !== null && !Array.isArray(json) ? json : object();
      for (const { take } of rows) take(from);
    },
  };
}

function row(name: string, type: string, docs: string, editor: Editor, isDeprecated: boolean): HTMLElement {
  const label = editor.id
    ? h("label", { htmlFor: editor.id, className: "name" }, name)
    : h("span", { className: "name" }, name);
  if (!editor.id) {
    editor.element.setAttribute("role", "group");
    editor.element.setAttribute("aria-label", name);
  }
  return h("div", { className: "row" },
    h("div", { className: "about" }, label, h("span", { className: "type" }, type), isDeprecated && h("span", { className: "tag" }, "deprecated")),
    h("div", { className: "value" }, editor.element, docs && h("p", { className: "docs" }, docs)));
}

/** Creates an editor for a field that belongs to no oneof. */
function fieldEditor(schema: Schema, field: Field): Editor {
  const entry = schema.entry(field);
  if (entry) return mapEditor(schema, entry);
  if (field.isRepeated) return listEditor(() => oneEditor(schema, field));
  if (field.isOptional || field.kind === Kind.Message) {
    return presence(() => oneEditor(schema, field), () => (field.kind === Kind.Message ? object() : defaultOf(field)));
  }
  return oneEditor(schema, field);
}

/**
 * Creates an editor for a value that may be absent. The inner editor is created on demand, because messages may be
 * recursive.
 */
function presence(make: () => Editor, empty: () => Json): Editor {
  const id = freshId();
  let editor: Editor | undefined;
  const box = h("input", { type: "checkbox", id, "aria-label": "set", onchange: () => setPresent(box.checked) });
  const inside = h("div", { className: "inside" });
  const element = h("div", { className: "presence" }, box, inside);
  const setPresent = (isSet: boolean): void => {
    box.checked = isSet;
    if (!isSet) fill(inside, h("span", { className: "muted" }, "not set"));
    else fill(inside, (editor ??= make()).element);
  };
  setPresent(false);
  return {
    element,
    get: () => (box.checked ? (editor?.get() ?? empty()) : undefined),
    set(json) {
      setPresent(json !== undefined && json !== null);
      if (box.checked) editor?.set(json);
    },
  };
}

const remover = (remove: () => void): HTMLElement => h("button", { type: "button", className: "icon", "aria-label": "Remove", title: "Remove", onclick: remove }, "×");

function listEditor(make: () => Editor): Editor {
  let editors: Editor[] = [];
  const items = h("div", { className: "items" });
  const add = (json?: Json): Editor => {
    const editor = make();
    if (json !== undefined) editor.set(json);
    editors.push(editor);
    const item = h("div", { className: "item" }, editor.element, remover(() => {
      editors = editors.filter((other) => other !== editor);
      item.remove();
    }));
    items.append(item);
    return editor;
  };
  const button = h("button", { type: "button", className: "quiet", onclick: () => focusIn(add().element) }, "Add");
  return {
    element: h("div", { className: "list" }, items, button),
    get: () => (editors.length > 0 ? editors.map((editor) => editor.get() ?? emptyOf(editor)) : undefined),
    set(json) {
      editors = [];
      fill(items);
      for (const one of Array.isArray(json) ? json : []) add(one);
    },
  };
}

const focusIn = (element: HTMLElement): void => (element.matches("input, textarea, select") ? element : element.querySelector<HTMLElement>("input, textarea, select"))?.focus();

function mapEditor(schema: Schema, entry: Message): Editor {
  const [key, of] = entry.fields;
  if (!key || !of) throw new Error(`${entry.name} is not a map entry`);
  let entries: { readonly key: Editor; readonly value: Editor }[] = [];
  const items = h("div", { className: "items" });
  const add = (name?: string, json?: Json): Editor => {
    const pair = { key: scalarEditor({ ...key, kind: key.kind === Kind.Bool ? Kind.String : key.kind }), value: oneEditor(schema, of) };
    pair.key.element.classList.add("key");
    pair.key.element.setAttribute("aria-label", "key");
    if (name !== undefined) pair.key.set(name);
    if (json !== undefined) pair.value.set(json);
    entries.push(pair);
    const item = h("div", { className: "item" }, pair.key.element, pair.value.element, remover(() => {
      entries = entries.filter((other) => other !== pair);
      item.remove();
    }));
    items.append(item);
    return pair.key;
  };
  const button = h("button", { type: "button", className: "quiet", onclick: () => focusIn(add().element) }, "Add");
  return {
    element: h("div", { className: "list" }, items, button),
    get() {
      if (entries.length === 0) return undefined;
      const json = object();
      for (const { key: name, value } of entries) json[String(name.get() ?? emptyOf(name))] = value.get() ?? emptyOf(value);
      return json;
    },
    set(json) {
      entries = [];
      fill(items);
      if (typeof json === "object" && json !== null) for (const [name, one] of Object.entries(json)) add(name, one);
    },
  };
}

/** Creates an editor for a oneof, which shows one member at a time. Its value is an object with only that member. */
function oneofRow(schema: Schema, message: Message, oneof: number): Editor {
  const members = message.fields.filter((field) => field.oneof === oneof);
  const id = freshId();
  const inside = h("div", { className: "inside" });
  const editors = new Map<string, Editor>();
  const select = h("select", { id, onchange: () => selectMember(select.value) },
    h("option", { value: "" }, "not set"),
    ...members.map((field) => h("option", { value: field.jsonName }, `${field.name}: ${plainType(field)}`)));
  const selectMember = (name: string): Editor | undefined => {
    select.value = name;
    const field = members.find((one) => one.jsonName === name);
    if (!field) return void fill(inside);
    const editor = editors.get(name) ?? oneEditor(schema, field);
    editors.set(name, editor);
    if (editor.id) document.getElementById(editor.id)?.setAttribute("aria-label", field.name);
    fill(inside, editor.element, field.docs && h("p", { className: "docs" }, field.docs));
    return editor;
  };
  const { name, docs } = message.oneofs[oneof] ?? { name: "oneof", docs: "" };
  const editor: Editor = { element: h("div", { className: "oneof" }, select, inside), id, get: () => undefined, set() {} };
  return {
    element: row(name, "oneof", docs, editor, false),
    get() {
      const is = editors.get(select.value);
      return select.value && is ? Object.assign(object(), { [select.value]: is.get() ?? emptyOf(is) }) : object();
    },
    set(json) {
      const from = json as { [name: string]: Json };
      const field = members.find((one) => (from[one.jsonName] ?? from[one.name]) !== undefined);
      selectMember(field?.jsonName ?? "")?.set(field && (from[field.jsonName] ?? from[field.name]));
    },
  };
}
