/** The interface of editors, which are the parts of a form. */

import { object, type Json } from "./json.js";

/** A part of a form that edits one value. */
export interface Editor {
  readonly element: HTMLElement;
  /** Id of the input element for which the label is shown. */
  readonly id?: string | undefined;
  /** Returns the value, or `undefined` if it equals the default. */
  get(): Json | undefined;
  set(json: Json | undefined): void;
}

const defaults = new WeakMap<Editor, Json>();

/** Resets an editor to its default. */
export function withDefault(editor: Editor, json: Json): Editor {
  defaults.set(editor, json);
  return editor;
}

/** Returns the default of an editor for a value that cannot be absent. The default of a message is an empty object. */
export const emptyOf = (editor: Editor): Json => defaults.get(editor) ?? object();
