/**
 * What has come and waits to be read, as an async iterable. `stream.ts` and `topics.ts` say what comes.
 */

import { Status } from "./status.js";

const DONE = { done: true, value: undefined } as const;

interface Reader<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(status: unknown): void;
}

/** A queue of items that become values when they are read. */
export abstract class Inbox<Item, T> implements AsyncIterableIterator<T, undefined> {
  protected readonly items: Item[] = [];
  private readonly readers: Reader<T>[] = [];
  private last: Status | boolean = false;

  /** Takes an item out: returns its value, or `undefined` if it has none. Readers get what it throws. */
  protected abstract taken(item: Item): T | undefined;
  /** The reader waits no longer. */
  protected abstract leave(): void;
  /** A reader has been told of the end. */
  protected told?(): void;

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next value. Rejects with the status if it has failed. */
  next(): Promise<IteratorResult<T, undefined>> {
    return new Promise((resolve, reject) => {
      this.readers.push({ resolve, reject });
      this.serve();
    });
  }

  /** Ends it from this side, as leaving a loop does. */
  return(): Promise<IteratorResult<T, undefined>> {
    this.leave();
    this.finished(true, true);
    return Promise.resolve(DONE);
  }

  /** Whether a reader waits. */
  protected get isAwaited(): boolean {
    return this.readers.length > 0;
  }

  protected arrived(item: Item): void {
    this.items.push(item);
    this.serve();
  }

  /** Ends it behind what waits, or `now`. The first end counts, and a status is told once. */
  protected finished(end: Status | true, now = false): void {
    if (now) this.items.length = 0;
    this.last ||= end;
    this.serve();
  }

  private serve(): void {
    while (this.isAwaited) {
      const item = this.items.shift();
      if (item === undefined && !this.last) return;
      // It leaves first, since what follows may come back to here.
      const reader = this.readers.shift() as Reader<T>;
      try {
        if (item === undefined) {
          const { last } = this;
          this.last = true;
          this.told?.();
          if (last instanceof Status) throw last;
          reader.resolve(DONE);
        } else {
          const value = this.taken(item);
          if (value === undefined) this.readers.unshift(reader);
          else reader.resolve({ done: false, value });
        }
      } catch (error) {
        reader.reject(error);
      }
    }
  }
}
