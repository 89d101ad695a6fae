/** The interface of the parts of a form. */

import { object, type Json } from "./json.js";

/** A part of a form. */
export interface Editor {
  readonly element: HTMLElement;
  /** The input that a label is for. */
  readonly id?: string | undefined;
  /** Returns the value, or nothing if it is the default. */
  get(): Json | undefined;
  set(json: Json | undefined): void;
}

const defaults = new WeakMap<Editor, Json>();

/** Sets the editor's default. */
export function withDefault(editor: Editor, json: Json): Editor {
  defaults.set(editor, json);
  return editor;
}

/** The default of an editor, for values that cannot be absent: that of messages is an empty object. */
export const emptyOf = (editor: Editor): Json => defaults.get(editor) ?? object();
