/** Interface of the parts of a form. */

import { object, type Json } from "./json.js";

/** A part of a form that edits one value. */
export interface Editor {
  readonly element: HTMLElement;
  /** Input element to which the label belongs. */
  readonly id?: string | undefined;
  /** Returns the value, or `undefined` if it is the default. */
  get(): Json | undefined;
  set(json: Json | undefined): void;
}

const defaults = new WeakMap<Editor, Json>();

/** Resets an editor to its default. */
export function withDefault(editor: Editor, json: Json): Editor {
  defaults.set(editor, json);
  return editor;
}

/** Returns the default of an editor whose value cannot be absent. For messages it is an empty object. */
export const emptyOf = (editor: Editor): Json => defaults.get(editor) ?? object();
