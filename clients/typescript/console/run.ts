/** A call in progress or completed, with its messages and its result. `method.ts` displays it. */

import { Status, type Init, type Metadata } from "frisbee-rpc";
import type { Fields } from "./dynamic.js";
import { toJson } from "./json.js";
import type { Catalog, MethodInfo, Server } from "./server.js";

/**
 * Maximum number of messages kept per call, and maximum number of their characters. The oldest messages are discarded
 * first.
 */
const KEPT_MAX = 500;
const KEPT_CHARS_MAX = 16 << 20;

/** A message of a call, as displayed. */
export interface LoggedMessage {
  readonly isSent: boolean;
  /** Time since the start of the call in ms. */
  readonly at: number;
  /** Number of the message in its direction, from 1. */
  readonly number: number;
  readonly json: string;
}

export interface Terms {
  readonly metadata: Metadata;
  /** Timeout of the call in ms. */
  readonly timeout: number | undefined;
}

export class Run {
  readonly messages: LoggedMessage[] = [];
  /** Number of messages that were discarded. */
  dropped = 0;
  sent = 0;
  received = 0;
  metadata: Metadata | undefined;
  status: Status | undefined;
  isOver = false;
  readonly began = performance.now();
  readonly beganAt = Date.now();
  /** Duration of the call in ms. */
  took = 0;
  private chars = 0;
  private readonly stop = new AbortController();
  private readonly outgoing = new Outgoing();

  constructor(
    server: Server,
    private readonly catalog: Catalog,
    readonly method: MethodInfo,
    readonly terms: Terms,
    private readonly changed: (run: Run) => void,
  ) {
    void this.run(server);
  }

  /** Sends a message. `json` is the text displayed for it. */
  send(json: string, value: Fields): void {
    this.tell(true, json);
    this.outgoing.push(value as Init<Fields>);
    if (!this.method.sends) this.outgoing.end();
  }

  /** Ends the request stream. */
  end(): void {
    this.outgoing.end();
    this.changed(this);
  }

  get hasEnded(): boolean {
    return this.outgoing.isEnded;
  }

  /** Returns the number of messages that wait for flow-control credit. */
  get waiting(): number {
    return this.outgoing.length;
  }

  cancel(): void {
    this.stop.abort();
  }

  private async run(server: Server): Promise<void> {
    const { method, terms } = this;
    try {
      const { service, method: table } = method.callable();
      const options = {
        signal: this.stop.signal,
        metadata: { ...server.metadata, ...terms.metadata },
        onMetadata: (metadata: Metadata) => (this.metadata = metadata),
        ...(terms.timeout !== undefined && { timeout: terms.timeout }),
      };
      if (method.sends || method.receives) {
        for await (const reply of server.channel.twoWay(service, table, this.outgoing, options)) this.reply(reply);
      } else {
        const { value } = await this.outgoing.next();
        this.reply(await server.channel.unary(service, table, value as Init<Fields>, options));
      }
    } catch (error) {
      this.status = Status.from(error);
    }
    this.took = performance.now() - this.began;
    this.isOver = true;
    this.outgoing.end();
    this.changed(this);
  }

  private reply(value: Fields): void {
    this.tell(false, JSON.stringify(toJson(this.catalog.schema, this.method.response, value), undefined, 2));
  }

  private tell(isSent: boolean, json: string): void {
    const number = isSent ? ++this.sent : ++this.received;
    this.messages.push({ isSent, at: performance.now() - this.began, number, json });
    this.chars += json.length;
    while (this.messages.length > KEPT_MAX || (this.chars > KEPT_CHARS_MAX && this.messages.length > 1)) {
      this.chars -= this.messages.shift()?.json.length ?? 0;
      this.dropped++;
    }
    this.changed(this);
  }
}

/** Stream of request messages that the user sends one at a time. */
class Outgoing implements AsyncIterableIterator<Init<Fields>, undefined> {
  isEnded = false;
  private readonly waiting: Init<Fields>[] = [];
  private wake: (() => void) | undefined;

  get length(): number {
    return this.waiting.length;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  push(value: Init<Fields>): void {
    this.waiting.push(value);
    this.wake?.();
  }

  end(): void {
    this.isEnded = true;
    this.wake?.();
  }

  async next(): Promise<IteratorResult<Init<Fields>, undefined>> {
    for (;;) {
      const value = this.waiting.shift();
      if (value) return { done: false, value };
      if (this.isEnded) return { done: true, value: undefined };
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  return(): Promise<IteratorResult<Init<Fields>, undefined>> {
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }
}
