/** Draws plots of the calls made by the page. */

import { svg } from "./dom.js";
import type { Recorded } from "./record.js";

/** Time span of a plot, and of one bar, in ms. */
const SPAN = 120_000;
const STEP = 2_000;

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [480, 120, 44, 16];

function frame(label: string): SVGElement {
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "plot", role: "img", "aria-label": label });
  for (const [at, text] of [[0, "2 min ago"], [0.5, "1 min"], [1, "now"]] as const) {
    const mark = svg("text", { x: LEFT + (WIDTH - LEFT) * at, y: HEIGHT - 3, "text-anchor": at === 0 ? "start" : at === 1 ? "end" : "middle" });
    mark.textContent = text;
    drawing.append(mark);
  }
  return drawing;
}

function line(drawing: SVGElement, y: number, text: string): void {
  const mark = svg("text", { x: LEFT - 6, y: y + 3.5, "text-anchor": "end" });
  mark.textContent = text;
  drawing.append(svg("line", { x1: LEFT, x2: WIDTH, y1: y, y2: y, class: "grid" }), mark);
}

const PLOT = HEIGHT - BOTTOM - 8;

/** Plots the number of calls per time step as bars. Failed calls are at the bottom. */
export function callsPlot(records: readonly Recorded[], now: number): SVGElement {
  const drawing = frame("Calls and errors in the last two minutes");
  const count = SPAN / STEP;
  const bars = Array.from({ length: count }, () => ({ ok: 0, failed: 0 }));
  // Bars start at multiples of the time step, so that a bar keeps its calls while the plot moves.
  const end = Math.floor(now / STEP);
  for (const { beganAt, took, code } of records) {
    const bar = bars[count - 1 - (end - Math.floor((beganAt + took) / STEP))];
    if (bar) bar[code === 0 ? "ok" : "failed"]++;
  }
  const top = Math.max(4, ...bars.map(({ ok, failed }) => ok + failed));
  for (const part of [0, 0.5, 1]) line(drawing, HEIGHT - BOTTOM - PLOT * part, String(Math.round(top * part)));
  const width = (WIDTH - LEFT) / count;
  bars.forEach(({ ok, failed }, at) => {
    const draw = (from: number, calls: number, kind: string): void => {
      if (calls > 0) drawing.append(svg("rect", { x: LEFT + at * width + 0.75, width: width - 1.5, y: HEIGHT - BOTTOM - ((from + calls) / top) * PLOT, height: (calls / top) * PLOT, class: kind }));
    };
    draw(0, failed, "failed");
    draw(failed, ok, "ok");
  });
  return drawing;
}

/** The values of all lines of a plot at one time. */
export interface Sample {
  readonly at: number;
  readonly values: readonly number[];
}

/** Appends a sample, and removes samples that are no longer shown. */
export function sampled(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  return [...samples.filter(({ at }) => sample.at - at < SPAN), sample];
}

const lines = (samples: readonly Sample[], classes: readonly string[], x: (at: number) => number, y: (value: number) => number): SVGElement[] =>
  classes.map((name, line) => svg("polyline", { points: samples.map(({ at, values }) => `${x(at).toFixed(1)},${y(values[line] ?? 0).toFixed(1)}`).join(" "), class: name }));

const highest = (samples: readonly Sample[], least: number): number => Math.max(least, ...samples.flatMap(({ values }) => values));

/** Plots lines over the last two minutes. The axis reaches at least to `least`, and `text` formats its values. */
export function linesPlot(label: string, samples: readonly Sample[], classes: readonly string[], now: number, least: number, text: (value: number) => string): SVGElement {
  const drawing = frame(`${label}, in the last two minutes`);
  const top = highest(samples, least);
  const y = (value: number): number => HEIGHT - BOTTOM - (value / top) * PLOT;
  for (const part of [0, 0.5, 1]) line(drawing, y(top * part), text(top * part));
  drawing.append(...lines(samples, classes, (at) => WIDTH - ((WIDTH - LEFT) * (now - at)) / SPAN, y));
  return drawing;
}

/** Returns the same plot in the size of a table row. */
export function rowPlot(label: string, samples: readonly Sample[], classes: readonly string[], now: number): SVGElement {
  const top = highest(samples, 1e-9);
  const drawing = svg("svg", { viewBox: "0 0 120 20", class: "spark", role: "img", "aria-label": label });
  drawing.append(...lines(samples, classes, (at) => 120 - (120 * (now - at)) / SPAN, (value) => 19 - (value / top) * 18));
  return drawing;
}

/** Plots the duration of each call on a logarithmic axis. */
export function latencyPlot(records: readonly Recorded[], now: number): SVGElement {
  const drawing = frame("Latencies in the last two minutes");
  const shown = records.filter(({ beganAt, took }) => now - beganAt - took < SPAN);
  const powers = shown.map(({ took }) => Math.log10(Math.max(took, 0.01)));
  const low = Math.floor(Math.min(0, ...powers));
  const high = Math.ceil(Math.max(2, ...powers));
  for (let power = low; power <= high; power++) {
    line(drawing, HEIGHT - BOTTOM - (PLOT * (power - low)) / (high - low), power < 3 ? `${10 ** power} ms` : `${10 ** (power - 3)} s`);
  }
  shown.forEach(({ beganAt, took, code }, at) => {
    const x = WIDTH - ((WIDTH - LEFT) * (now - beganAt - took)) / SPAN;
    const y = HEIGHT - BOTTOM - (PLOT * ((powers[at] ?? 0) - low)) / (high - low);
    drawing.append(svg("circle", { cx: x, cy: y, r: 2.5, class: code === 0 ? "ok" : "failed" }));
  });
  return drawing;
}

/** Plots the most recent calls of a method as a row of bars. */
export function sparkline(records: readonly Recorded[]): SVGElement {
  const shown = records.slice(-40);
  const drawing = svg("svg", { viewBox: "0 0 120 20", class: "spark", "aria-hidden": "true" });
  const top = Math.max(0.01, ...shown.map(({ took }) => took));
  shown.forEach(({ took, code }, at) => {
    const height = Math.max(1.5, (took / top) * 20);
    drawing.append(svg("rect", { x: at * 3, width: 2, y: 20 - height, height, class: code === 0 ? "ok" : "failed" }));
  });
  return drawing;
}
