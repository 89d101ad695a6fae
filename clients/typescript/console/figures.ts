/** What goes on in the server: its connections and the calls of all its clients, if it serves introspection. */

import { fill, h } from "./dom.js";
import { Introspection, type Connection, type Method, type Server as Shown, type ServerConnections } from "./generated/frpc.introspection.v1.js";
import { ratePlot, type Rate } from "./plots.js";
import { ms } from "./record.js";
import type { Catalog, Server } from "./server.js";

/** How often the server is asked, in ms, how many of its connections are shown, and for how long the plot goes back. */
const BEAT = 1000;
const CONNECTIONS = 50;
const SPAN = 120_000;

/** What a server was asked last. */
interface Before {
  readonly at: number;
  readonly methods: ReadonlyMap<string, readonly [calls: bigint, failed: bigint]>;
}

export class ServerFigures {
  readonly element = h("section", { className: "server", hidden: true }, h("h2", {}, "The server"));
  private readonly content = h("div", {});
  private readonly before = new Map<string, Before>();
  private readonly rates = new Map<string, Rate[]>();
  private watched: AbortController | undefined;

  constructor(
    private readonly server: Server,
    private readonly catalog: () => Catalog | undefined,
  ) {
    this.element.append(this.content);
  }

  /** Watches while it is seen, and not otherwise. */
  see(isSeen: boolean): void {
    const isServed = this.catalog()?.services.some(({ name }) => name === Introspection.name) ?? false;
    this.element.hidden = !isServed;
    if (!isSeen || !isServed) {
      this.watched?.abort();
      this.watched = undefined;
    } else if (!this.watched) {
      this.watched = new AbortController();
      void this.watch(this.watched);
    }
  }

  private async watch(controller: AbortController): Promise<void> {
    const { channel, metadata } = this.server;
    const { signal } = controller;
    try {
      const replies = channel.serverStreaming(Introspection, Introspection.methods.watch, { intervalMs: BEAT, connections: CONNECTIONS }, { signal, metadata });
      for await (const { servers } of replies) fill(this.content, ...servers.map((one) => this.draw(one)));
    } catch (error) {
      if (!signal.aborted) fill(this.content, h("p", { className: "problem" }, (error as Error).message));
    }
    // The connection may be another one later.
    setTimeout(() => {
      if (this.watched === controller) this.watched = undefined;
    }, BEAT);
  }

  private draw({ server, connections }: ServerConnections): HTMLElement {
    if (!server) return h("div", {});
    const at = Date.now();
    const before = this.before.get(server.name);
    const seconds = before && (at - before.at) / 1000;
    const methods = server.methods.map((method) => {
      const [calls, failed] = counted(method);
      const [callsBefore, failedBefore] = before?.methods.get(method.name) ?? [calls, failed];
      return { method, calls, failed, rate: seconds ? Number(calls - callsBefore) / seconds : 0, failing: seconds ? Number(failed - failedBefore) / seconds : 0 };
    });
    this.before.set(server.name, { at, methods: new Map(methods.map(({ method, calls, failed }) => [method.name, [calls, failed]])) });
    const rates = (this.rates.get(server.name) ?? []).filter((rate) => at - rate.at < SPAN);
    this.rates.set(server.name, rates);
    if (before) rates.push({ at, calls: sum(methods.map(({ rate }) => rate)), failed: sum(methods.map(({ failing }) => failing)) });
    const rows = methods.filter(({ calls }) => calls > 0n).sort((a, b) => b.rate - a.rate || Number(b.calls - a.calls)).map(({ method: { name, figures }, calls, failed, rate }) => [
      name, rate.toFixed(rate < 10 ? 1 : 0), calls, failed, ms(Number(figures?.p50Ns ?? 0n) / 1e6), ms(Number(figures?.p99Ns ?? 0n) / 1e6), ms(Number(figures?.maxNs ?? 0n) / 1e6),
    ]);
    return h("div", {},
      facts(server),
      h("div", { className: "plots" }, h("figure", {}, h("figcaption", {}, "Calls of all clients in a second, ", h("span", { className: "failed" }, "errors"), " below"), ratePlot(rates, at))),
      table(["method", "in a second", "calls", "errors", "p50", "p99", "longest"], rows),
      table(["connection", "age", "calls", "oldest call", "streams", "queued", "memory"], connections.map(line)));
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

function counted({ figures }: Method): readonly [bigint, bigint] {
  const failed = (figures?.failed ?? []).reduce((sum, { count }) => sum + count, 0n);
  return [(figures?.ok ?? 0n) + failed, failed];
}

function facts({ name, open, opened, shed, memoryHeld, memoryMax, workers }: Shown): HTMLElement {
  const shown: readonly (readonly [string, string])[] = [
    ["server", name],
    ["connections", `${open} open, ${opened} in all`],
    ["held for clients", `${bytes(memoryHeld)} of at most ${bytes(memoryMax)}`],
    ["shed", String(shed)],
    ["workers", workers.length === 0 ? "none of its own" : `${workers.length}, with ${workers.reduce((sum, { tasks }) => sum + tasks, 0n)} tasks`],
  ];
  return h("dl", { className: "facts" }, ...shown.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

const line = ({ peer, ageMs, calls, oldestCallMs, streams, queued, memory }: Connection): readonly (string | bigint)[] =>
  [peer || "unknown", ms(Number(ageMs)), calls, calls > 0n ? ms(Number(oldestCallMs)) : "", streams, bytes(queued), bytes(memory)];

function table(names: readonly string[], rows: readonly (readonly (string | bigint)[])[]): HTMLElement {
  return h("div", { className: "scroll" }, h("table", {},
    h("thead", {}, h("tr", {}, ...names.map((name, at) => h("th", { scope: "col", className: at > 0 ? "count" : "" }, name)))),
    h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((cell, at) => h("td", { className: at > 0 ? "count" : "" }, String(cell))))))));
}

function bytes(count: bigint): string {
  const number = Number(count);
  if (number < 10_000) return `${number} B`;
  if (number < 1e7) return `${(number / 1e3).toFixed(1)} kB`;
  return number < 1e10 ? `${(number / 1e6).toFixed(1)} MB` : `${(number / 1e9).toFixed(1)} GB`;
}
