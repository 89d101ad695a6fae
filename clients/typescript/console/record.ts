/** The calls that the page has made: for the history and for plots. They are gone when the page is closed. */

import type { Metadata } from "frisbee-rpc";

/** How many calls are kept, and how long a request is to be kept with them. */
const KEPT_MAX = 2000;
const REQUEST_MAX = 64 << 10;

export interface Recorded {
  /** `package.Service/Method`. */
  readonly path: string;
  readonly beganAt: number;
  /** In ms. */
  readonly took: number;
  readonly code: number;
  readonly messages: number;
  /** What was sent last, if it is not too long. */
  readonly request: string | undefined;
  readonly metadata: Metadata;
  readonly timeout: number | undefined;
}

/** What a method has taken so far. */
export interface Totals {
  readonly path: string;
  readonly calls: number;
  readonly errors: number;
  /** In ms, of the calls that are kept. */
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

/** A time in ms, in few digits. */
export function ms(time: number): string {
  if (time >= 10_000) return `${(time / 1000).toFixed(1)} s`;
  return `${time >= 100 ? time.toFixed(0) : time >= 10 ? time.toFixed(1) : time.toFixed(2)} ms`;
}

export const clock = (at: number): string => new Date(at).toTimeString().slice(0, 8);
