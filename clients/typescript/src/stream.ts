/**
 * One stream of messages, with credit both ways. `link.ts` owns the packets, `channel.ts` and `serve.ts` the two ends of
 * a call.
 */

import { Malformed, Reader } from "./bytes.js";
import { read, write, type Init, type Type } from "./codec.js";
import { Op, WINDOW, after, type Link } from "./link.js";
import { isError, readPrefix, readStatus, writePrefix, writeStatus } from "./prefix.js";
import type { Source } from "./service.js";
import { Is, Status, codeOf, type Metadata } from "./status.js";

/** What each message costs besides its length. */
const MESSAGE_COST = 64;
/** A receiver returns credit when this part of the window has been read. */
const PARTS = 4;

interface Waiter<B> {
  resolve(result: IteratorResult<B, undefined>): void;
  reject(status: Status): void;
}

/** The messages of the peer, and the way to send it some. */
export class Stream<A = unknown, B = unknown> implements AsyncIterableIterator<B> {
  /** What came with the first message or before it. */
  metadata: Metadata = {};
  /** Called when that has come. */
  whenMetadata: ((metadata: Metadata) => void) | undefined;

  id = 0;
  private link: Link | undefined;
  private missing = 0;
  private credit = 0;
  private wakeSender: (() => void) | undefined;
  private stopSource: (() => unknown) | undefined;
  private hasSent = false;
  private sending = true;
  private receiving = true;
  private closed = false;
  private refused = false;
  private released = false;
  private discards = false;
  /** How it has ended for its reader, behind what waits. */
  private end: Status | "ended" | undefined;
  private readonly waiting: Uint8Array[] = [];
  private readonly readers: Waiter<B>[] = [];
  /** The cost of what waits, and of what was read and not returned yet. */
  private held = 0;
  private consumed = 0;
  private deadline: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly sends: Type<A>,
    private readonly receives: Type<B>,
    /** Called once, when the stream is over. */
    private readonly whenOver?: () => void,
  ) {}

  /** Puts the stream on a connection. `missing` fields at the end of messages from the peer may not be there. */
  open(link: Link, id: number, missing: number): void {
    this.link = link;
    this.id = id;
    this.missing = missing;
    this.credit = link.credit;
    link.streams.set(id, this as Stream);
  }

  /** Whether it is or was on a connection. */
  get isOpen(): boolean {
    return this.link !== undefined;
  }

  /** Whether both directions have ended. */
  get isOver(): boolean {
    return this.closed || (!this.sending && !this.receiving);
  }

  /** Ends the call with `DEADLINE_EXCEEDED` after so many milliseconds. */
  within(ms: number): void {
    const text = "the call was not answered before its deadline";
    this.deadline = after(ms, () => this.fail(new Status(Is.DEADLINE_EXCEEDED, text, { mayHaveRun: this.isOpen })));
  }

  /** The one reply has come: nothing more is sent. */
  settle(): void {
    if (this.sending) this.fail("ended", Is.CANCELLED, "the reply has come");
  }

  // What the reader does.

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next message. Rejects with the status of the call if it has failed. */
  next(): Promise<IteratorResult<B, undefined>> {
    return new Promise((resolve, reject) => {
      const reader = { resolve, reject };
      if (this.readers.length > 0) return void this.readers.push(reader);
      for (let body = this.waiting.shift(); body; body = this.waiting.shift()) {
        if (this.deliver(body, reader)) return;
      }
      if (this.end) this.tellEnd(reader);
      else this.readers.push(reader);
    });
  }

  /** Cancels the call, as leaving a loop over the messages does. */
  return(): Promise<IteratorResult<B, undefined>> {
    if (!this.isOver) this.fail("ended", Is.CANCELLED, "the caller waits no longer");
    this.waiting.length = 0;
    return Promise.resolve({ done: true, value: undefined });
  }

  // What the sender does.

  /**
   * Sends all messages of a source, and the end. The source is asked for the next when there is credit for it. An error
   * of the source fails the call here, or is thrown if `throws`.
   */
  async pump(source: Source<Init<A>>, throws = false): Promise<void> {
    const messages = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
    this.stopSource = () => messages.return?.();
    try {
      for (;;) {
        if (this.credit <= 0) await this.credits();
        if (this.isOver) return;
        const next = messages.next();
        const { done, value } = next instanceof Promise ? await next : next;
        if (this.isOver) return;
        if (done) break;
        this.send(value);
      }
      this.stopSource = undefined;
      this.finish();
    } catch (error) {
      if (throws) throw error;
      this.fail(Status.from(error), Is.CANCELLED, "the messages ended with an error");
    }
  }

  /** Resolves when there is credit, or the stream is over. */
  private async credits(): Promise<void> {
    while (this.credit <= 0 && !this.isOver) await new Promise<void>((resolve) => (this.wakeSender = resolve));
  }

  /** Sends a message, with metadata in front of the first. */
  send(message: Init<A>, metadata?: Metadata): void {
    const { link } = this;
    if (!link || this.isOver || !this.sending) return;
    const at = link.begin(this.id, Op.Stream);
    try {
      if (metadata && !this.hasSent) writePrefix(link.out, { metadata });
      write(link.out, this.sends, message);
    } catch (error) {
      link.out.at = at;
      throw error;
    }
    this.credit -= link.out.at - at - 10 + MESSAGE_COST;
    this.hasSent = true;
    link.finish(at);
  }

  /** Sends a failure in the place of a message, and the end. */
  sendStatus(status: Status): void {
    const { link } = this;
    if (!link || this.isOver || !this.sending) return;
    const at = link.begin(this.id, Op.Stream);
    writeStatus(link.out, status, false);
    link.finish(at);
    this.finish();
  }

  /** Ends the direction of this end. */
  finish(): void {
    if (this.isOver || !this.sending) return;
    this.sending = false;
    this.link?.packet(this.id, Op.End);
    this.release();
  }

  // What the peer does.

  /** A message has come. */
  received(body: Uint8Array): void {
    if (!this.receiving || this.closed || this.discards) return;
    // The peer may overdraw its credit by one message.
    if (this.held + this.consumed >= WINDOW) {
      return this.fail(new Status(Is.RESOURCE_EXHAUSTED, "the peer sent more than it had credit for"));
    }
    this.held += body.length + MESSAGE_COST;
    const reader = this.readers.shift();
    // A copy: a view would keep all that came with it.
    if (!reader) this.waiting.push(new Uint8Array(body));
    else if (!this.deliver(body, reader)) this.readers.unshift(reader);
  }

  credited(credit: number): void {
    this.refused ||= credit === 0;
    this.credit += credit;
    if (this.credit > 0) this.wake();
  }

  /** The peer has ended its direction. */
  ended(): void {
    if (this.closed) return;
    this.receiving = false;
    this.conclude("ended");
    this.release();
  }

  wasReset(code: number, message: string): void {
    const complete = !this.receiving;
    this.closed = true;
    if (!complete) this.conclude(new Status(codeOf(code), message, { mayHaveRun: !this.refused }));
    this.release();
  }

  /** The connection is gone. */
  lost(status: Status): void {
    this.closed = true;
    this.conclude(status);
    this.release();
  }

  /** Ends both directions from this end. */
  fail(end: Status | "ended", code: number = end === "ended" ? Is.CANCELLED : end.code, message = end === "ended" ? "" : end.message): void {
    const wasOver = this.isOver;
    this.closed = true;
    this.waiting.length = 0;
    if (!wasOver) this.link?.reset(this.id, code, message);
    this.conclude(end);
    this.release();
  }

  /** Takes what is still to come without keeping it: nobody reads it. */
  discard(): void {
    this.waiting.length = 0;
    this.discards = true;
  }

  // Both.

  private wake(): void {
    this.wakeSender?.();
    this.wakeSender = undefined;
  }

  private conclude(end: Status | "ended"): void {
    this.end ??= end;
    if (this.waiting.length === 0) for (const reader of this.readers.splice(0)) this.tellEnd(reader);
  }

  private tellEnd(reader: Waiter<B>): void {
    clearTimeout(this.deadline);
    if (this.end instanceof Status) {
      const { end } = this;
      this.end = "ended"; // It is told once.
      reader.reject(end);
    } else reader.resolve({ done: true, value: undefined });
    // Nobody looks at what else could be sent.
    if (!this.isOver && this.id < 0x8000) this.fail("ended", Is.CANCELLED, "the reply has ended");
  }

  /** Gives the content of a packet to the reader. Returns whether that was a message or the end. */
  private deliver(body: Uint8Array, reader: Waiter<B>): boolean {
    const cost = body.length + MESSAGE_COST;
    this.held -= cost;
    this.consumed += cost;
    const { link } = this;
    if (link && this.consumed * PARTS >= WINDOW && this.receiving && !this.closed) {
      const at = link.begin(this.id, Op.Credit);
      link.out.varint(this.consumed);
      link.finish(at);
      this.consumed = 0;
    }
    try {
      const from = new Reader(body);
      const prefix = readPrefix(from);
      if (body[0] === 16) this.whenMetadata?.((this.metadata = prefix.metadata));
      if (from.at === from.end && from.at > 0) return false;
      if (isError(from)) throw readStatus(from, prefix);
      reader.resolve({ done: false, value: read(from, this.receives, this.missing) });
    } catch (error) {
      const status = error instanceof Malformed ? new Status(Is.INTERNAL, `the message is not a valid ${this.receives.name}: ${error.message}`) : Status.from(error);
      this.fail("ended", Is.CANCELLED, "the call has failed");
      reader.reject(status);
    }
    return true;
  }

  /** Frees what the stream holds, once, when both directions have ended. */
  private release(): void {
    if (!this.isOver || this.released) return;
    this.released = true;
    this.wake();
    clearTimeout(this.deadline);
    this.stopSource?.();
    this.stopSource = undefined;
    this.link?.over(this as Stream);
    this.whenOver?.();
  }
}
