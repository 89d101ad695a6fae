/** The start view. Shows the connection, and statistics of the calls made by the page. */

import { fill, h } from "./dom.js";
import { ServerFigures } from "./figures.js";
import { historyList } from "./history.js";
import { MetadataEditor } from "./metadata.js";
import { callsPlot, latencyPlot, sparkline } from "./plots.js";
import { clock, ms, type Recorded, type Records } from "./record.js";
import type { Catalog, Server } from "./server.js";

/** Refresh interval of the plots in ms. */
const BEAT = 1000;

export class Overview {
  readonly element: HTMLElement;
  private readonly facts = h("dl", { className: "facts" });
  private readonly plots = h("div", { className: "plots" });
  private readonly methods = h("div", { className: "scroll" });
  private readonly history = h("div", {});
  private readonly problem = h("p", { className: "problem", role: "alert" });
  private readonly figures: ServerFigures;
  private drawnOf = -1;

  constructor(
    private readonly server: Server,
    private readonly records: Records,
    private readonly catalog: () => Catalog | undefined,
    private readonly open: (record: Recorded) => void,
    reload: () => void,
  ) {
    this.figures = new ServerFigures(server, catalog);
    const metadata = new MetadataEditor(() => {
      this.problem.textContent = "";
      try {
        server.metadata = metadata.get();
      } catch (error) {
        this.problem.textContent = (error as Error).message;
      }
    });
    this.element = h("article", { className: "overview" },
      h("header", { className: "title" }, h("h1", {}, location.host), this.facts),
      h("section", {}, h("h2", {}, "Calls of this page"), this.plots, this.methods),
      this.figures.element,
      h("section", {}, h("h2", {}, "History"), this.history),
      h("section", {}, h("h2", {}, "Metadata of every call"), h("p", { className: "muted" }, "For example a token. Kept until the page is closed."), metadata.element, this.problem,
        h("button", { type: "button", onclick: reload }, "Reload the schema")));
    setInterval(() => this.draw(), BEAT);
  }

  draw(): void {
    const isSeen = this.element.isConnected && !document.hidden;
    this.figures.see(isSeen);
    if (!isSeen) return;
    const { server: { wire, traffic }, records } = this;
    const catalog = this.catalog();
    const methods = catalog?.services.reduce((sum, service) => sum + service.methods.length, 0) ?? 0;
    const facts: readonly (readonly [string, string])[] = [
      ["connection", wire === "open" ? `open since ${clock(traffic.since)}` : wire],
      ["connections made", String(traffic.connections)],
      ["sent", bytes(traffic.sent)],
      ["received", bytes(traffic.received)],
      ["services", catalog ? `${catalog.services.length}, with ${methods} methods` : "unknown"],
    ];
    fill(this.facts, ...facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    const now = Date.now();
    fill(this.plots,
      h("figure", {}, h("figcaption", {}, "Calls per two seconds, ", h("span", { className: "failed" }, "errors"), " below"), callsPlot(records.all, now)),
      h("figure", {}, h("figcaption", {}, "Latency of each call; of a stream, its duration"), latencyPlot(records.all, now)));
    // Elements that have not changed are kept, so that they retain focus and selection.
    const count = records.all.length === 0 ? 0 : (records.all[records.all.length - 1]?.beganAt ?? 0) + records.all.length;
    if (count === this.drawnOf) return;
    this.drawnOf = count;
    fill(this.methods, records.all.length > 0 && this.table());
    fill(this.history, historyList(records.all, this.open, false));
  }

  private table(): HTMLElement {
    const cell = (text: string): HTMLElement => h("td", { className: "count" }, text);
    return h("table", {},
      h("thead", {}, h("tr", {}, ...["method", "calls", "errors", "p50", "p95", "longest", "the last calls"].map((name, at) => h("th", { scope: "col", className: at > 0 && at < 6 ? "count" : "" }, name)))),
      h("tbody", {}, ...this.records.totals().map(({ path, calls, errors, p50, p95, max, last }) => {
        const link = h("a", { href: `#/${path}` }, path);
        return h("tr", {}, h("td", {}, link), cell(String(calls)), h("td", { className: errors > 0 ? "count failed" : "count" }, String(errors)), cell(ms(p50)), cell(ms(p95)), cell(ms(max)), h("td", {}, sparkline(last)));
      })));
  }
}

function bytes(count: number): string {
  if (count < 10_000) return `${count} B`;
  return count < 10_000_000 ? `${(count / 1000).toFixed(1)} kB` : `${(count / 1e6).toFixed(1)} MB`;
}
