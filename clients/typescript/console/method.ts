/** The view of a method. Shows its request as a form, as JSON and as commands, and the results of its calls. */

import { curl, frpc, rust, typescript, type CallText } from "./copy.js";
import { copyButton, fill, freshId, h, tabs } from "./dom.js";
import { Form } from "./form.js";
import { fromJson, parse, type Json } from "./json.js";
import { MetadataEditor } from "./metadata.js";
import type { Records, Recorded } from "./record.js";
import { reply } from "./replies.js";
import { Run, type Terms } from "./run.js";
import { pathOf, type Catalog, type MethodInfo, type Server } from "./server.js";

const TABS = ["Form", "JSON", "Copy as"] as const;
type Tab = (typeof TABS)[number];

const COMMANDS = { curl, frpc, Rust: rust, TypeScript: typescript } as const;

/** Returns the name and the symbol of the kind of a method. */
export function kindOf({ sends, receives }: MethodInfo): { readonly name: string; readonly sign: string } {
  if (sends) return receives ? { name: "two-way stream", sign: "⇄" } : { name: "client stream", sign: "⇉" };
  return receives ? { name: "server stream", sign: "⇇" } : { name: "unary", sign: "→" };
}

export class MethodView {
  readonly element: HTMLElement;
  private readonly form: Form | undefined;
  private readonly json = h("textarea", { className: "code", spellcheck: false, "aria-label": "The request as JSON", oninput: () => this.note("") });
  private readonly metadata = new MetadataEditor(() => this.note(""));
  private readonly timeout = h("input", { type: "text", id: freshId(), className: "number", inputMode: "decimal", placeholder: "30000", autocomplete: "off" });
  private readonly problem = h("p", { className: "problem", role: "alert" });
  private readonly body = h("div", { className: "request-body" });
  private readonly actions = h("div", { className: "actions" });
  private readonly output = h("section", { className: "pane response", "aria-label": "Response" });
  private readonly tabs = tabs(TABS, "Request", (name) => this.show(name as Tab));
  private tab: Tab = "Form";
  private command: keyof typeof COMMANDS = "curl";
  private run: Run | undefined;
  private drawn: { run: Run; draw(): void } | undefined;
  private pending: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly server: Server,
    private readonly catalog: Catalog,
    readonly method: MethodInfo,
    private readonly records: Records,
  ) {
    let unsupported = "";
    try {
      method.callable();
      this.form = new Form(catalog.schema, method.request, () => this.note(""));
      this.form.example();
    } catch (error) {
      unsupported = (error as Error).message;
    }
    this.element = h("article", { className: "method" }, this.header(), unsupported ? h("p", { className: "notice" }, `This method cannot be called by this page: ${unsupported}.`) : h("div", { className: "panes" }, this.request(), this.output));
    if (!unsupported) {
      this.tabs.select("Form");
      this.act();
      fill(this.output, h("p", { className: "empty" }, "No calls yet."));
    }
  }

  /** Calls the method, or sends a message on the open stream. */
  send(): void {
    this.attempt(() => {
      const json = this.text();
      const isOpen = this.run && !this.run.isOver;
      if (isOpen && !this.method.sends) return;
      // Validates the request first, so that no call has to be undone.
      const value = fromJson(this.catalog.schema, this.method.request, parse(json));
      if (!isOpen) this.begin();
      this.run?.send(json, value);
    });
  }

  /** Ends the request stream. */
  end(): void {
    if (this.run && !this.run.isOver && this.method.sends) this.run.end();
  }

  /** Cancels the current call. Returns whether a call was in progress. */
  cancel(): boolean {
    const isOpen = this.run !== undefined && !this.run.isOver;
    this.run?.cancel();
    return isOpen;
  }

  get isBusy(): boolean {
    return this.run !== undefined && !this.run.isOver;
  }

  /** Fills in the request of an earlier call. */
  restore({ request, metadata, timeout }: Recorded): void {
    if (request !== undefined) {
      this.json.value = request;
      this.attempt(() => this.form?.set(parse(request)));
      if (this.tab === "Copy as") this.tabs.select("Copy as");
    }
    this.metadata.set(metadata);
    this.timeout.value = timeout === undefined ? "" : String(timeout);
  }

  private header(): HTMLElement {
    const { method } = this;
    const kind = kindOf(method);
    const tag = (text: string): HTMLElement => h("span", { className: "tag" }, text);
    return h("header", { className: "title" },
      h("h1", {}, h("span", { className: "of" }, `${method.service.name}/`), method.name),
      h("p", { className: "tags" }, tag(kind.name), method.idempotency && tag(method.idempotency), method.isDeprecated && tag("deprecated"),
        h("span", { className: "muted" }, `${method.sends ? "stream " : ""}${method.request} → ${method.receives ? "stream " : ""}${method.response}, operation ${method.operation}`)),
      method.docs && h("p", { className: "docs" }, method.docs));
  }

  private request(): HTMLElement {
    const quiet = (text: string, onclick: () => void): HTMLElement => h("button", { type: "button", className: "quiet", onclick }, text);
    const given = (json?: Json): void => {
      if (json === undefined) this.form?.example();
      else this.form?.set(json);
      this.json.value = this.formText();
      this.tabs.select(this.tab === "Copy as" ? "Form" : this.tab);
      this.note("");
    };
    return h("section", { className: "pane", "aria-label": "Request" },
      h("div", { className: "bar" }, this.tabs.element, h("span", { className: "grow" }), quiet("Example", () => given()), quiet("Clear", () => given({}))),
      this.body,
      h("details", { className: "terms" },
        h("summary", {}, "Metadata and deadline"),
        this.metadata.element,
        h("div", { className: "row" }, h("div", { className: "about" }, h("label", { htmlFor: this.timeout.id, className: "name" }, "deadline")), h("div", { className: "value unit" }, this.timeout, "ms"))),
      this.problem,
      this.actions);
  }

  private formText(): string {
    return JSON.stringify(this.form?.get() ?? {}, undefined, 2);
  }

  /** Returns the request as JSON. */
  private text(): string {
    return this.tab === "JSON" ? this.json.value.trim() || "{}" : this.formText();
  }

  private show(tab: Tab): void {
    const before = this.tab;
    this.attempt(() => {
      if (tab === "JSON" && before !== "JSON") this.json.value = this.formText();
      if (tab !== "JSON" && before === "JSON") this.form?.set(parse(this.json.value));
    });
    this.tab = tab;
    if (tab === "Form") fill(this.body, this.form?.element);
    else if (tab === "JSON") fill(this.body, this.json);
    else this.attempt(() => fill(this.body, this.commands()));
  }

  private commands(): HTMLElement {
    const code = h("pre", { className: "code", tabIndex: 0 });
    const { method } = this;
    const sent = this.run?.messages.filter((one) => one.isSent).map((one) => parse(one.json));
    const requests = method.sends && sent && sent.length > 0 ? sent : [parse(this.formText())];
    const text: CallText = { schema: this.catalog.schema, method, requests, origin: location.origin, ...this.terms() };
    const chosen = tabs(Object.keys(COMMANDS), "Copy as", (name) => {
      this.command = name as keyof typeof COMMANDS;
      code.textContent = "";
      this.attempt(() => (code.textContent = COMMANDS[this.command](text)));
    });
    chosen.select(this.command);
    return h("div", { className: "commands" }, h("div", { className: "bar" }, chosen.element, h("span", { className: "grow" }), copyButton(() => code.textContent ?? "")), code);
  }

  private terms(): Terms {
    const text = this.timeout.value.trim();
    const timeout = text === "" ? undefined : Number(text);
    if (timeout !== undefined && !(timeout >= 0)) throw new Error(`the deadline is a number of milliseconds, not ${text}`);
    return { metadata: this.metadata.get(), timeout };
  }

  /** Starts a call. */
  private begin(): void {
    const run = new Run(this.server, this.catalog, this.method, this.terms(), (changed) => this.changed(changed));
    this.run = run;
    this.drawn = { run, draw: reply(this.output, run) };
    this.act();
    this.draw();
  }

  private changed(run: Run): void {
    if (run.isOver && run === this.run) {
      const sent = run.messages.filter((one) => one.isSent);
      this.records.add({
        path: pathOf(this.method),
        beganAt: run.beganAt,
        took: run.took,
        code: run.status?.code ?? 0,
        messages: run.received,
        request: sent[sent.length - 1]?.json,
        ...run.terms,
      });
    }
    if (run !== this.run) return;
    // Redraws at most every 16 ms, because a stream may receive thousands of messages per second.
    this.pending ??= setTimeout(() => this.draw(), 16);
  }

  private draw(): void {
    clearTimeout(this.pending);
    this.pending = undefined;
    if (this.drawn && this.drawn.run === this.run) this.drawn.draw();
    this.act();
  }

  private act(): void {
    const { method, run } = this;
    const isOpen = run !== undefined && !run.isOver;
    const key = (text: string): HTMLElement => h("kbd", {}, text);
    const state = `${isOpen},${run?.hasEnded}`;
    if (this.actions.dataset["state"] === state) return;
    this.actions.dataset["state"] = state;
    const hadFocus = this.actions.contains(document.activeElement);
    const first = method.sends
      ? h("button", { type: "button", className: "primary", disabled: isOpen && run.hasEnded, onclick: () => this.send() }, isOpen ? "Send" : "Open and send", key("Ctrl ↵"))
      : h("button", { type: "button", className: "primary", disabled: isOpen, onclick: () => this.send() }, "Call", key("Ctrl ↵"));
    fill(this.actions, first,
      method.sends && !isOpen && h("button", { type: "button", onclick: () => this.attempt(() => this.begin()) }, "Open"),
      method.sends && isOpen && h("button", { type: "button", disabled: run.hasEnded, onclick: () => this.end() }, "End", key("Ctrl ⇧ ↵")),
      isOpen && h("button", { type: "button", onclick: () => this.cancel() }, "Cancel", key("Esc")));
    if (hadFocus) [...this.actions.querySelectorAll("button")].find((button) => !button.disabled)?.focus();
  }

  private attempt(what: () => void): void {
    this.note("");
    try {
      what();
    } catch (error) {
      this.note((error as Error).message);
    }
  }

  private note(problem: string): void {
    if (this.problem.textContent !== problem) this.problem.textContent = problem;
  }
}
