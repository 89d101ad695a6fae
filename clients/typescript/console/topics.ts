/** The view of topics. Shows messages that a broker publishes, and publishes messages. */

import { decode, encode, type Init, type Published, type Subscription } from "frisbee-rpc";
import { copyButton, fill, freshId, h, highlighted } from "./dom.js";
import { Tables, type Fields } from "./dynamic.js";
import { asText, fromBase64, fromJson, parse, toHex, toJson } from "./json.js";
import { clock } from "./record.js";
import type { Catalog, Server } from "./server.js";

/** Maximum number of messages that are kept. */
const KEPT_MAX = 500;
/** Maximum number of bytes of a message that are displayed. */
const SHOWN_MAX = 20_000;

export class TopicsView {
  readonly element: HTMLElement;
  private readonly watches = new Map<string, Subscription>();
  private readonly list = h("div", { className: "watches" });
  private readonly log = h("ol", { className: "log", "aria-label": "Messages" });
  private readonly problem = h("p", { className: "problem", role: "alert" });
  private readonly types = h("datalist", { id: freshId() });
  private readonly as = this.typed("shown as");
  private schema: { readonly catalog: Catalog; readonly tables: Tables } | undefined;
  private waiting: Published[] = [];
  private pending: ReturnType<typeof setTimeout> | undefined;
  private count = 0;

  constructor(private readonly server: Server) {
    const pattern = h("input", { type: "text", id: freshId(), placeholder: "orders.*.created, or > for all", spellcheck: false, autocomplete: "off" });
    const topic = h("input", { type: "text", id: freshId(), placeholder: "orders.1.created", spellcheck: false, autocomplete: "off" });
    const payload = h("textarea", { id: freshId(), rows: 3, spellcheck: false });
    const as = this.typed("written as");
    const form = (className: string, onsubmit: () => Promise<void>, ...children: Node[]): HTMLElement => h("form", { className, onsubmit: (event: Event) => {
      event.preventDefault();
      this.problem.textContent = "";
      onsubmit().catch((error: unknown) => (this.problem.textContent = (error as Error).message));
    } }, ...children);
    this.element = h("article", { className: "topics" },
      h("header", { className: "title" }, h("h1", {}, "Topics"), h("p", { className: "docs" }, "Messages of the broker of this server. In a pattern, * matches one token, and a final > all that follow.")),
      this.problem,
      h("div", { className: "panes" },
        h("section", { className: "pane", "aria-label": "Publish" },
          h("h2", {}, "Watch"),
          form("inline short", () => this.watch(pattern.value.trim()), h("label", { htmlFor: pattern.id }, "Pattern"), pattern, h("button", { type: "submit", className: "primary" }, "Watch")),
          this.list,
          h("h2", {}, "Publish"),
          form("inline", () => this.publish(topic.value.trim(), payload.value, as.value), h("label", { htmlFor: topic.id }, "Topic"), topic, h("label", { htmlFor: payload.id }, "Payload"), payload, as, h("button", { type: "submit", className: "primary" }, "Publish")),
          this.types),
        h("section", { className: "pane", "aria-label": "Messages" },
          h("div", { className: "bar" }, h("h2", {}, "Messages"), h("span", { className: "grow" }), this.as, h("button", { type: "button", className: "quiet", onclick: () => fill(this.log) }, "Clear")),
          this.log)));
  }

  /** Sets the schema. Its types can be selected to decode payloads. */
  know(catalog: Catalog): void {
    this.schema = { catalog, tables: new Tables(catalog.schema) };
    fill(this.types, ...["text", "base64", "hex", ...[...catalog.schema.messages.values()].filter(({ isEntry }) => !isEntry).map(({ name }) => name)].map((name) => h("option", { value: name })));
  }

  private typed(label: string): HTMLInputElement {
    return h("input", { type: "text", list: this.types.id, value: "text", "aria-label": label, title: `${label}: text, base64, hex or a message`, className: "as", spellcheck: false, autocomplete: "off" });
  }

  private async watch(pattern: string): Promise<void> {
    if (!pattern || this.watches.has(pattern)) return;
    const subscription = await this.server.topics.subscribe(pattern);
    this.watches.set(pattern, subscription);
    const entry = h("span", { className: "watch" }, h("code", {}, pattern), h("button", { type: "button", className: "icon", "aria-label": `Stop watching ${pattern}`, onclick: () => void subscription.return?.() }, "×"));
    this.list.append(entry);
    // Not awaited, because subscribing continues in the background.
    void (async () => {
      try {
        for await (const published of subscription) this.arrived(published);
      } catch (error) {
        this.problem.textContent = `${pattern}: ${(error as Error).message}`;
      }
      this.watches.delete(pattern);
      entry.remove();
    })();
  }

  private async publish(topic: string, payload: string, as: string): Promise<void> {
    if (!topic) throw new Error("a message has a topic");
    let bytes: string | Uint8Array = payload;
    if (as === "base64") bytes = fromBase64(payload.replace(/\s/g, ""));
    else if (as === "hex") bytes = Uint8Array.from(payload.match(/[\da-f]{2}/gi) ?? [], (pair) => parseInt(pair, 16));
    else if (as !== "text" && this.schema) bytes = encode<Fields>(this.schema.tables.of(as), fromJson(this.schema.catalog.schema, as, parse(payload)) as Init<Fields>);
    await this.server.topics.publish(topic, bytes);
  }

  private arrived(published: Published): void {
    this.waiting.push(published);
    if (this.waiting.length > KEPT_MAX) this.waiting.shift();
    this.count++;
    this.pending ??= setTimeout(() => this.draw(), 30);
  }

  private draw(): void {
    this.pending = undefined;
    const atEnd = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 40;
    for (const { topic, payload, lagged } of this.waiting) {
      if (lagged > 0) this.log.append(h("li", { className: "muted" }, `${lagged} messages were lost here, since this page did not take them in time`));
      const text = this.text(payload);
      this.log.append(h("li", { className: "received" },
        h("div", { className: "bar" }, h("code", { className: "topic" }, topic), h("span", { className: "muted" }, `${payload.length} bytes · ${clock(Date.now())}`), h("span", { className: "grow" }), copyButton(() => text)),
        h("pre", { className: "code", tabIndex: 0 }, /^[{[]/.test(text) ? highlighted(text) : text)));
    }
    this.waiting = [];
    while (this.log.childElementCount > KEPT_MAX) this.log.firstElementChild?.remove();
    if (atEnd) this.log.scrollTop = this.log.scrollHeight;
  }

  private text(payload: Uint8Array): string {
    const as = this.as.value.trim();
    try {
      if (this.schema?.catalog.schema.messages.has(as)) return JSON.stringify(toJson(this.schema.catalog.schema, as, decode<Fields>(this.schema.tables.of(as), payload)), undefined, 2);
    } catch (error) {
      return `not a valid ${as}: ${(error as Error).message}\n${toHex(payload.subarray(0, SHOWN_MAX))}`;
    }
    const cut = payload.subarray(0, SHOWN_MAX);
    return (as === "hex" ? undefined : asText(cut)) ?? toHex(cut);
  }
}
