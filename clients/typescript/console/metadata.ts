/** A table in which the user edits metadata. */

import type { Metadata } from "frisbee-rpc";
import { fill, h } from "./dom.js";
import { fromBase64, toBase64 } from "./json.js";

/** Returns one pair of key and value for each value. */
export const entriesOf = (metadata: Metadata): [key: string, value: string | Uint8Array][] =>
  Object.entries(metadata).flatMap(([key, values]) => [values].flat().map((value): [string, string | Uint8Array] => [key, value as string | Uint8Array]));

export class MetadataEditor {
  readonly element: HTMLElement;
  private readonly rows = h("div", { className: "items" });

  constructor(private readonly changed: () => void) {
    const add = h("button", { type: "button", className: "quiet", onclick: () => this.add("", "").focus() }, "Add");
    this.element = h("div", { className: "list metadata", oninput: changed }, this.rows, add);
  }

  /** Returns the edited metadata. Throws if a value is not valid base64. */
  get(): Metadata {
    const metadata: Record<string, string | Uint8Array> = {};
    for (const row of this.rows.children) {
      const [key = "", value = ""] = [...row.querySelectorAll("input")].map((input) => input.value);
      const name = key.trim().toLowerCase();
      if (name) metadata[name] = name.endsWith("-bin") ? fromBase64(value, name) : value;
    }
    return metadata;
  }

  set(metadata: Metadata): void {
    fill(this.rows);
    for (const [key, value] of entriesOf(metadata)) this.add(key, typeof value === "string" ? value : toBase64(value));
  }

  private add(key: string, value: string): HTMLInputElement {
    const name = h("input", { type: "text", value: key, placeholder: "key", "aria-label": "key", spellcheck: false, autocomplete: "off" });
    const text = h("input", { type: "text", value, placeholder: "value, or base64 for …-bin", "aria-label": "value", spellcheck: false, autocomplete: "off" });
    const row = h("div", { className: "item" }, name, text, h("button", { type: "button", className: "icon", "aria-label": "Remove", onclick: () => {
      row.remove();
      this.changed();
    } }, "×"));
    this.rows.append(row);
    return name;
  }
}

/** Displays metadata as a list of names and values. */
export const metadataList = (metadata: Metadata): HTMLElement =>
  h("dl", { className: "pairs" }, ...entriesOf(metadata).flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, typeof value === "string" ? value : toBase64(value))]));
