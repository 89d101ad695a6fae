/** Records the calls made by the page, for the history and the plots. Closing the page discards the records. */

import type { Metadata } from "frisbee-rpc";

/** Maximum number of recorded calls, and maximum length of a recorded request in characters. */
const KEPT_MAX = 2000;
const REQUEST_MAX = 64 << 10;

export interface Recorded {
  /** `package.Service/Method`. */
  readonly path: string;
  readonly beganAt: number;
  /** Duration of the call in ms. */
  readonly took: number;
  readonly code: number;
  readonly messages: number;
  /** The last request message. Unset if it is too long. */
  readonly request: string | undefined;
  readonly metadata: Metadata;
  readonly timeout: number | undefined;
}

/** Statistics of the calls of a method. */
export interface Totals {
  readonly path: string;
  readonly calls: number;
  readonly errors: number;
  /** Quantiles of the durations of recorded calls, in ms. */
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
  readonly last: readonly Recorded[];
}

export class Records {
  readonly all: Recorded[] = [];
  private readonly counts = new Map<string, { calls: number; errors: number }>();
  private readonly listeners = new Set<() => void>();

  add(record: Recorded): void {
    this.all.push({ ...record, request: record.request !== undefined && record.request.length > REQUEST_MAX ? undefined : record.request });
    if (this.all.length > KEPT_MAX) this.all.shift();
    const counted = this.counts.get(record.path) ?? { calls: 0, errors: 0 };
    counted.calls++;
    if (record.code !== 0) counted.errors++;
    this.counts.set(record.path, counted);
    for (const listener of this.listeners) listener();
  }

  listen(listener: () => void): void {
    this.listeners.add(listener);
  }

  totals(): Totals[] {
    return [...this.counts].map(([path, { calls, errors }]) => {
      const last = this.all.filter((one) => one.path === path);
      const sorted = last.map(({ took }) => took).sort((a, b) => a - b);
      const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
      return { path, calls, errors, p50: at(0.5), p95: at(0.95), max: at(1), last };
    });
  }
}

/** Formats a time in ms with few digits. */
export function ms(time: number): string {
  if (time >= 10_000) return `${(time / 1000).toFixed(1)} s`;
  return `${time >= 100 ? time.toFixed(0) : time >= 10 ? time.toFixed(1) : time.toFixed(2)} ms`;
}

export const clock = (at: number): string => new Date(at).toTimeString().slice(0, 8);
