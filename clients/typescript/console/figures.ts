/**
 * Shows the activity of the server, its connections, and the calls of all clients. Requires a server that serves
 * introspection.
 */

import { fill, h } from "./dom.js";
import { Introspection, type Connection, type Method, type Server as Shown, type ServerConnections } from "./generated/frpc.introspection.v1.js";
import { linesPlot, rowPlot, sampled, type Sample } from "./plots.js";
import { ms } from "./record.js";
import type { Catalog, Server } from "./server.js";

/** Polling interval in ms, number of connections included in the sums, and number of connections listed. */
const BEAT = 1000;
const CONNECTIONS = 256;
const SHOWN = 50;

/** Totals of a method at the last poll, and the rates per second between polls. */
interface Past {
  readonly calls: bigint;
  readonly failed: bigint;
  readonly spent: bigint;
  /** Calls and errors per second. */
  readonly rates: readonly Sample[];
  /** Mean duration of calls in ms. Seconds without calls have no sample. */
  readonly times: readonly Sample[];
}

/** Samples taken from a server so far. */
interface Before {
  readonly at: number;
  readonly methods: ReadonlyMap<string, Past>;
  readonly rates: readonly Sample[];
  /** Number of connections and streams. */
  readonly open: readonly Sample[];
  /** Number of queued bytes, and number of bytes of memory held for clients. */
  readonly bytes: readonly Sample[];
}

export class ServerFigures {
  readonly element = h("section", { className: "server", hidden: true }, h("h2", {}, "The server"));
  private readonly content = h("div", {});
  private readonly before = new Map<string, Before>();
  private watched: AbortController | undefined;

  constructor(
    private readonly server: Server,
    private readonly catalog: () => Catalog | undefined,
  ) {
    this.element.append(this.content);
  }

  /** Sets whether the page is visible. The server is polled only while it is. */
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
    // By the time this runs, the page may be connected to another server.
    setTimeout(() => {
      if (this.watched === controller) this.watched = undefined;
    }, BEAT);
  }

  private draw({ server, connections }: ServerConnections): HTMLElement {
    if (!server) return h("div", {});
    const at = Date.now();
    const before = this.before.get(server.name);
    const methods = new Map(server.methods.map((method) => [method.name, since(method, before?.methods.get(method.name), at, before?.at)]));
    const total = (line: number): number => sum([...methods.values()].map(({ rates }) => rates.at(-1)?.values[line] ?? 0));
    const streams = sum(connections.map((one) => Number(one.streams)));
    const queued = sum(connections.map((one) => Number(one.queued)));
    const now: Before = {
      at,
      methods,
      rates: before ? sampled(before.rates, { at, values: [total(0), total(1)] }) : [],
      open: sampled(before?.open ?? [], { at, values: [Number(server.open), streams] }),
      bytes: sampled(before?.bytes ?? [], { at, values: [queued, Number(server.memoryHeld)] }),
    };
    this.before.set(server.name, now);
    const of = connections.length < server.open ? ` of the first ${connections.length} connections` : "";
    return h("div", {},
      facts(server),
      h("div", { className: "plots" },
        plot(["Calls of all clients per second, ", red("errors"), " below"], linesPlot("Calls and errors of all clients per second", now.rates, ["curve", "curve failed"], at, 4, whole)),
        plot(["Connections, and ", dashed("streams"), of], linesPlot("Connections and streams", now.open, ["curve", "curve second"], at, 4, whole)),
        plot(["Queued bytes", of, ", and ", dashed("held for clients")], linesPlot("Queued bytes, and bytes held for clients", now.bytes, ["curve", "curve second"], at, 1000, (count) => bytes(BigInt(Math.round(count)))))),
      this.table(server, methods, at),
      table(["connection", "age", "calls", "oldest call", "streams", "queued", "memory"], connections.slice(0, SHOWN).map(line)));
  }

  /** Returns a table of the methods that have been called, most active ones first. */
  private table({ methods }: Shown, past: ReadonlyMap<string, Past>, at: number): HTMLElement {
    const called = methods.flatMap(({ name, figures }) => {
      const one = past.get(name);
      return one && one.calls > 0n ? [{ name, figures, ...one, rate: one.rates.at(-1)?.values[0] ?? 0 }] : [];
    });
    called.sort((a, b) => b.rate - a.rate || Number(b.calls - a.calls));
    return table(["method", "in a second", "calls", "errors", "p50", "p99", "longest", "calls and errors", "latencies"], called.map(({ name, figures, rate, calls, failed, rates, times }) => [
      name, rate.toFixed(rate < 10 ? 1 : 0), calls, failed, nanos(figures?.p50Ns), nanos(figures?.p99Ns), nanos(figures?.maxNs),
      rowPlot(`Calls and errors of ${name}, in the last two minutes`, rates, ["curve", "curve failed"], at),
      rowPlot(`Average latencies of ${name}, in the last two minutes`, times, ["curve"], at),
    ]));
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);
const whole = (value: number): string => String(Math.round(value));
const nanos = (time = 0n): string => ms(Number(time) / 1e6);
const red = (text: string): HTMLElement => h("span", { className: "failed" }, text);
const dashed = (text: string): HTMLElement => h("span", { className: "second" }, text);
const plot = (caption: readonly (string | HTMLElement)[], drawing: SVGElement): HTMLElement => h("figure", {}, h("figcaption", {}, ...caption), drawing);

/** Returns the totals of a method, and their increase since the last poll. */
function since({ figures }: Method, past: Past | undefined, at: number, before = at): Past {
  const failed = (figures?.failed ?? []).reduce((sum, { count }) => sum + count, 0n);
  const calls = (figures?.ok ?? 0n) + failed;
  const spent = figures?.sumNs ?? 0n;
  // The first reply only provides a baseline. Counters that have decreased were reset by a restart.
  if (!past || calls < past.calls || at <= before) return { calls, failed, spent, rates: [], times: [] };
  const seconds = (at - before) / 1000;
  const made = Number(calls - past.calls);
  return {
    calls, failed, spent,
    rates: sampled(past.rates, { at, values: [made / seconds, Number(failed - past.failed) / seconds] }),
    times: made > 0 ? sampled(past.times, { at, values: [Number(spent - past.spent) / made / 1e6] }) : past.times,
  };
}

function facts({ name, open, opened, shed, memoryHeld, memoryMax, workers, translated }: Shown): HTMLElement {
  const shown: readonly (readonly [string, string])[] = [
    ["server", name],
    ["connections", `${open} open, ${opened} in all`],
    ["held for clients", `${bytes(memoryHeld)} of at most ${bytes(memoryMax)}`],
    ["shed", String(shed)],
    ["workers", workers.length === 0 ? "none of its own" : `${workers.length}, with ${workers.reduce((sum, { tasks }) => sum + tasks, 0n)} tasks`],
    ...translated.map(({ name, layouts, calls, skippedFields }) => [
      `other versions of ${name}`, `${layouts.length} in use, ${calls} calls, ${skippedFields} fields skipped`,
    ] as const),
  ];
  return h("dl", { className: "facts" }, ...shown.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

const line = ({ peer, ageMs, calls, oldestCallMs, streams, queued, memory }: Connection): readonly (string | bigint)[] =>
  [peer || "unknown", ms(Number(ageMs)), calls, calls > 0n ? ms(Number(oldestCallMs)) : "", streams, bytes(queued), bytes(memory)];

function table(names: readonly string[], rows: readonly (readonly (string | bigint | Node)[])[]): HTMLElement {
  return h("div", { className: "scroll" }, h("table", {},
    h("thead", {}, h("tr", {}, ...names.map((name, at) => h("th", { scope: "col", className: at > 0 ? "count" : "" }, name)))),
    h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((cell, at) => h("td", { className: at > 0 ? "count" : "" }, cell instanceof Node ? cell : String(cell))))))));
}

function bytes(count: bigint): string {
  const number = Number(count);
  if (number < 10_000) return `${number} B`;
  if (number < 1e7) return `${(number / 1e3).toFixed(1)} kB`;
  return number < 1e10 ? `${(number / 1e6).toFixed(1)} MB` : `${(number / 1e9).toFixed(1)} GB`;
}
