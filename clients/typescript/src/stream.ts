/**
 * One stream of messages, with credit both ways. `link.ts` owns the packets, `channel.ts` and `serve.ts` the two ends of
 * a call.
 */

import { Malformed, Reader } from "./bytes.js";
import { read, write, type Init, type Type } from "./codec.js";
import { Inbox } from "./inbox.js";
import { Op, WINDOW, after, type Link } from "./link.js";
import { isError, readPrefix, readStatus, writeStatus } from "./prefix.js";
import type { Source } from "./service.js";
import { Is, Status, codeOf, givenUp, late, type Metadata } from "./status.js";

/** What each message costs besides its length. */
const MESSAGE_COST = 64;
/** A receiver returns credit when this part of the window has been read. */
const PARTS = 4;

/** What a reply that cannot be read fails with. */
export const unread = (error: unknown, type: Type<unknown>): Status =>
  error instanceof Malformed ? new Status(Is.INTERNAL, `not a valid ${type.name}: ${error.message}`) : Status.from(error);

/** The messages of the peer, and the way to send it some. */
export class Stream<A = unknown, B = unknown> extends Inbox<Uint8Array, B> {
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
  private sending = true;
  private receiving = true;
  private refused = false;
  private whenOver: (() => void) | undefined;
  private discards = false;
  /** The cost of what waits, and of what was read and not returned yet. */
  private unread = 0;
  private consumed = 0;
  private deadline: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly sends: Type<A>,
    private readonly receives: Type<B>,
    /** Called once, when the stream is over. */
    whenOver?: () => void,
  ) {
    super();
    this.whenOver = whenOver ?? (() => {});
  }

  /** Puts the stream on a connection. `missing` fields at the end of messages from the peer may not be there. */
  begin(link: Link, id: number, missing: number): void {
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
    return !this.sending && !this.receiving;
  }

  /** Ends the call with `DEADLINE_EXCEEDED` after so many milliseconds. */
  within(ms: number): void {
    this.deadline = after(ms, () => this.fail(late(this.isOpen)));
  }

  // What the reader does.

  /** Nothing more is sent or read. */
  leave(): void {
    this.stop(true);
  }

  protected override told(): void {
    clearTimeout(this.deadline);
    // Nobody looks at what else could be sent.
    if (this.id < 0x8000) this.leave();
  }

  /** Reads the content of a packet. */
  protected taken(body: Uint8Array): B | undefined {
    const cost = body.length + MESSAGE_COST;
    this.unread -= cost;
    this.consumed += cost;
    const { link } = this;
    if (link && this.consumed * PARTS >= WINDOW && this.receiving) {
      link.number(this.id, Op.Credit, this.consumed);
      this.consumed = 0;
    }
    try {
      const from = new Reader(body);
      const prefix = readPrefix(from);
      if (from.at) this.whenMetadata?.((this.metadata = prefix.metadata));
      if (from.at && !from.left) return;
      if (isError(from)) throw readStatus(from, prefix);
      return read(from, this.receives, this.missing);
    } catch (error) {
      this.leave();
      throw unread(error, this.receives);
    }
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
        while (this.credit <= 0 && !this.isOver) await new Promise<void>((resolve) => (this.wakeSender = resolve));
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
      this.stop(Status.from(error));
    }
  }

  /** Sends a message, or a failure in its place and the end. */
  send(message: Init<A> | Status): void {
    const { link } = this;
    if (!link || !this.sending) return;
    link.write(this.id, Op.Stream, (to) => {
      const { at } = to;
      if (message instanceof Status) writeStatus(to, message, false);
      else write(to, this.sends, message);
      this.credit -= to.at - at + MESSAGE_COST;
    });
    if (message instanceof Status) this.finish();
  }

  /** Ends the direction of this end. */
  finish(): void {
    if (!this.sending) return;
    this.sending = false;
    this.link?.write(this.id, Op.End);
    this.release();
  }

  // What the peer does.

  /** A message has come. */
  received(body: Uint8Array): void {
    if (!this.receiving || this.discards) return;
    // The peer may overdraw its credit by one message.
    if (this.unread + this.consumed >= WINDOW) return this.fail(new Status(Is.RESOURCE_EXHAUSTED, "the peer sent more than it had credit for"));
    this.unread += body.length + MESSAGE_COST;
    // A copy, since a view would keep all that came with it.
    this.arrived(this.isAwaited ? body : new Uint8Array(body));
  }

  credited(credit: number): void {
    this.refused ||= credit === 0;
    this.credit += credit;
    if (this.credit > 0) this.wakeSender?.();
  }

  /** The peer has ended its direction. */
  ended(): void {
    this.receiving = false;
    this.finished(true);
    this.release();
  }

  /** The peer has ended both directions. */
  wasReset(from: Reader): void {
    const code = codeOf(from.varint());
    let message = "";
    try {
      message = from.text(Math.min(from.left, 4096));
    } catch {
      // A text may be cut anywhere.
    }
    this.lost(new Status(code, message, { mayHaveRun: !this.refused }));
  }

  /** There is nothing more to come or to be sent. */
  lost(status: Status): void {
    this.sending = this.receiving = false;
    this.finished(status);
    this.release();
  }

  /** Ends both directions with a failure from this end. */
  fail(status: Status): void {
    this.stop(status, status);
  }

  /** Takes what is still to come without keeping it: nobody reads it. */
  discard(): void {
    this.items.length = 0;
    this.discards = true;
  }

  // Both.

  private stop(end: Status | true, told = givenUp()): void {
    if (!this.isOver) this.link?.reset(this.id, told);
    this.sending = this.receiving = false;
    this.finished(end, true);
    this.release();
  }

  /** Frees what the stream holds, once, when both directions have ended. */
  private release(): void {
    const { whenOver } = this;
    if (!this.isOver || !whenOver) return;
    this.whenOver = undefined;
    this.wakeSender?.();
    clearTimeout(this.deadline);
    this.stopSource?.();
    this.link?.over(this as Stream);
    whenOver();
  }
}
