/** Creates elements without parsing HTML, so that all content is treated as text. */

type Child = Node | string | number | false | undefined;

/**
 * Creates an element. Names that start with `on` set listeners. `role` and names that contain a hyphen set attributes.
 * All other names set properties.
 */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, set: Readonly<Record<string, unknown>> = {}, ...children: readonly Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(set)) {
    if (value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (name.includes("-") || name === "role" || name === "list") element.setAttribute(name, String(value));
    else (element as unknown as Record<string, unknown>)[name] = value;
  }
  put(element, ...children);
  return element;
}

/** Appends children to an element. */
export function put(element: Element, ...children: readonly Child[]): void {
  for (const child of children) {
    if (child !== false && child !== undefined) element.append(typeof child === "number" ? String(child) : child);
  }
}

/** Replaces the children of an element. */
export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren();
  put(element, ...children);
}

/** Creates an SVG element. */
export function svg(tag: string, set: Readonly<Record<string, string | number>>, ...children: readonly Node[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(set)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** Returns the element of the page with this id. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no ${id}`);
  return found;
}

let last = 0;
/** Returns an element id that is not in use. */
export const freshId = (): string => `e${++last}`;

/** Creates a row of buttons that work like tabs: one of them is selected. */
export function tabs(names: readonly string[], label: string, choose: (name: string) => void): { readonly element: HTMLElement; select(name: string): void } {
  const buttons = names.map((name) => h("button", { type: "button", role: "tab", onclick: () => select(name) }, name));
  const select = (name: string): void => {
    for (const button of buttons) {
      const isOn = button.textContent === name;
      button.setAttribute("aria-selected", String(isOn));
      button.tabIndex = isOn ? 0 : -1;
    }
    choose(name);
  };
  const element = h("div", { className: "tabs", role: "tablist", "aria-label": label, onkeydown: (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const next = buttons[(buttons.indexOf(event.target as HTMLButtonElement) + step + buttons.length) % buttons.length];
    next?.focus();
    next?.click();
    event.preventDefault();
  } }, ...buttons);
  return { element, select };
}

/** Creates a button that copies a text and confirms that it was copied. */
export function copyButton(what: () => string): HTMLElement {
  const button = h("button", { type: "button", className: "quiet", onclick: async () => {
    // Browsers provide the clipboard only in secure contexts. Elsewhere, the text is selected instead.
    await navigator.clipboard?.writeText(what()).then(() => "Copied", () => "Select and copy").then((label) => {
      button.textContent = label;
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
  } }, "Copy");
  return button;
}

/** Returns JSON text with syntax highlighting. */
export function highlighted(json: string): Node {
  const shown = document.createDocumentFragment();
  // Highlighting a longer text would create too many elements.
  if (json.length > 50_000) {
    shown.append(json);
    return shown;
  }
  const parts = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/g;
  let at = 0;
  for (const found of json.matchAll(parts)) {
    const [whole, text, colon] = found;
    shown.append(json.slice(at, found.index));
    at = found.index + whole.length;
    const kind = text === undefined ? "number" : colon === undefined ? "string" : "key";
    shown.append(h("span", { className: `j-${kind}` }, text ?? whole), colon ?? "");
  }
  shown.append(json.slice(at));
  return shown;
}
