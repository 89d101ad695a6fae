/** Creates the inputs of forms, each for a single value. */

import { Kind, type EnumType, type Field } from "./descriptor.js";
import { freshId, h } from "./dom.js";
import { withDefault, type Editor } from "./editor.js";
import { asText, fromBase64, isInteger, scalarFromJson, toBase64, toHex, type Json } from "./json.js";

/** Maximum size of an uploaded file in bytes. By default, the server accepts 5 MiB. */
const FILE_MAX = 16 << 20;

/** Creates a text area that grows with its text. */
const area = (set: Readonly<Record<string, unknown>>): HTMLTextAreaElement => h("textarea", { rows: 1, spellcheck: false, ...set });

/** Marks an input as invalid if `check` throws. */
function validate(input: HTMLInputElement | HTMLTextAreaElement, check: () => void): void {
  let problem = "";
  try {
    check();
  } catch (error) {
    problem = (error as Error).message;
  }
  input.setAttribute("aria-invalid", String(problem !== ""));
  input.title = problem;
}

/** Creates an input for text, a number or a boolean. */
export function scalarEditor(field: Pick<Field, "kind">): Editor {
  const id = freshId();
  const { kind } = field;
  if (kind === Kind.Bool) {
    const box = h("input", { type: "checkbox", id });
    return withDefault({ element: box, id, get: () => box.checked || undefined, set: (json) => (box.checked = json === true) }, false);
  }
  if (kind === Kind.String) {
    const input = area({ id });
    return withDefault({ element: input, id, get: () => input.value || undefined, set: (json) => (input.value = json === undefined ? "" : String(json)) }, "");
  }
  const revalidate = (): void => validate(input, () => void (input.value.trim() && scalarFromJson(field, typed())));
  const input = h("input", { type: "text", id, className: "number", inputMode: isInteger(kind) ? "numeric" : "decimal", autocomplete: "off", placeholder: "0", oninput: () => revalidate() });
  /** Returns a JSON number if it represents the entered value exactly, and text otherwise. */
  const typed = (): Json => {
    const text = input.value.trim();
    return Number.isSafeInteger(Number(text)) && !isWideText(kind) ? Number(text) : /^-?[\d.]+(e[+-]?\d+)?$/i.test(text) && !isInteger(kind) ? Number(text) : text;
  };
  return withDefault({
    element: input,
    id,
    get: () => (input.value.trim() ? zeroIsNothing(typed()) : undefined),
    set(json) {
      input.value = json === undefined || json === null ? "" : String(json);
      revalidate();
    },
  }, 0);
}

const isWideText = (kind: Kind): boolean => kind === Kind.Int64 || kind === Kind.Uint64 || kind === Kind.Fixed64 || kind === Kind.Sfixed64 || kind === Kind.Sint64;

const zeroIsNothing = (json: Json): Json | undefined => (json === 0 && !Object.is(json, -0) ? undefined : json === "0" ? undefined : json);

export function enumEditor(of: EnumType): Editor {
  const id = freshId();
  const select = h("select", { id }, ...of.values.map(({ name, number, docs }) => h("option", { value: name, title: docs }, `${name} = ${number}`)));
  const [first] = of.values;
  return withDefault({
    element: select,
    id,
    get: () => (select.value === first?.name ? undefined : select.value),
    set: (json) => (select.value = of.values.find(({ name, number }) => name === json || number === json)?.name ?? first?.name ?? ""),
  }, first?.name ?? 0);
}

/** Creates an input for bytes, entered as text, base64 or hexadecimal digits, or read from a file. */
export function bytesEditor(): Editor {
  const id = freshId();
  let file: Uint8Array | undefined;
  const input = area({ id, oninput: () => revalidate() });
  const form = h("select", { "aria-label": "written as", onchange: () => convert() }, ...["text", "base64", "hex"].map((name) => h("option", {}, name)));
  let before = form.value;
  const name = h("span", { className: "muted" });
  const picker = h("input", { type: "file", hidden: true, "aria-label": "file", onchange: async () => {
    const picked = picker.files?.[0];
    if (!picked) return;
    if (picked.size > FILE_MAX) {
      name.textContent = `${picked.name} has more than ${FILE_MAX >> 20} MiB`;
      return;
    }
    file = new Uint8Array(await picked.arrayBuffer());
    name.textContent = `${picked.name}, ${file.length} bytes`;
    input.disabled = form.disabled = true;
    clear.hidden = false;
    element.dispatchEvent(new Event("change", { bubbles: true }));
  } });
  const clear = h("button", { type: "button", className: "icon", "aria-label": "No file", hidden: true, onclick: () => drop() }, "×");
  const drop = (): void => {
    file = undefined;
    name.textContent = picker.value = "";
    input.disabled = form.disabled = false;
    clear.hidden = true;
  };
  const read = (as: string): Uint8Array => {
    if (as === "text") return new TextEncoder().encode(input.value);
    if (as === "base64") return fromBase64(input.value.replace(/\s/g, ""));
    const digits = input.value.replace(/\s/g, "");
    if (!/^([\da-f]{2})*$/i.test(digits)) throw new Error("not pairs of hexadecimal digits");
    return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  };
  const show = (bytes: Uint8Array, as: string): void => {
    const text = as === "text" ? asText(bytes) : undefined;
    form.value = before = as === "text" && text === undefined ? "base64" : as;
    input.value = form.value === "text" ? (text ?? "") : form.value === "hex" ? toHex(bytes) : toBase64(bytes);
    revalidate();
  };
  const convert = (): void => {
    try {
      show(read(before), form.value);
    } catch {
      before = form.value;
      revalidate();
    }
  };
  const revalidate = (): void => validate(input, () => void read(form.value));
  const element = h("div", { className: "bytes" }, input, form, h("button", { type: "button", className: "quiet", onclick: () => picker.click() }, "File…"), picker, name, clear);
  return withDefault({
    element,
    id,
    get() {
      const bytes = file ?? read(form.value);
      return bytes.length > 0 ? toBase64(bytes) : undefined;
    },
    set(json) {
      drop();
      show(typeof json === "string" ? fromBase64(json) : new Uint8Array(), form.value);
    },
  }, "");
}

/** Creates an input for text in a special format, or for any JSON. */
export function freeFormEditor(as: "text" | "json", placeholder: string, filler?: { readonly label: string; json(): string }): Editor {
  const id = freshId();
  const input = area({ id, placeholder, oninput: () => validate(input, () => void (as === "json" && input.value && JSON.parse(input.value))) });
  const button = filler && h("button", { type: "button", className: "quiet", onclick: () => (input.value = filler.json()) }, filler.label);
  return {
    element: h("div", { className: "free" }, input, button),
    id,
    get: () => (!input.value.trim() ? undefined : as === "json" ? (JSON.parse(input.value) as Json) : input.value.trim()),
    set: (json) => (input.value = json === undefined ? "" : as === "json" ? JSON.stringify(json) : String(json)),
  };
}
