/**
 * A stream of messages with flow control in both directions. `link.ts` handles the packets, `channel.ts` and `serve.ts`
 * the two ends of a call.
 */

import { Malformed, remaining, putVarint, reader, takeRest, takeVarint } from "./bytes.js";
import { read, write, type Init, type Type } from "./codec.js";
import { inbox } from "./inbox.js";
import { Op, WINDOW, type Link } from "./link.js";
import { readPrefix, readStatus, writeStatus } from "./prefix.js";
import type { Source } from "./service.js";
import { Is, Status, codeOf, givenUp, mayHaveRun, notRun, type Metadata } from "./status.js";

/** The cost of a message in addition to its length. */
const MESSAGE_COST = 64;
/** Fraction of the window after which a receiver returns credit. */
const PARTS = 4;
/** Maximum length of a reset's text. */
const TEXT_MAX = 4096;

/** Returns the status of a message that cannot be decoded. */
export const unread = (error: unknown, type: Type<unknown>): Status =>
  error instanceof Malformed ? new Status(Is.INTERNAL, `not a valid ${type.name}: ${error.message}`) : Status.from(error);

/** The replies of a call. Leaving a loop over them early cancels the call. */
export interface Replies<T> extends AsyncIterableIterator<T, undefined> {
  /** The metadata of the reply, once the first message has been read. */
  readonly metadata: Metadata;
}

/** A stream: the messages of the peer, and the sender of this end. */
export interface Stream<A = never, B = unknown> {
  readonly messages: Replies<B>;
  /** Attaches the stream to a connection. The last `missing` fields of messages from the peer may be absent. */
  begin(link: Link, id: number, credit: number, missing: number): void;
  /** Handles a packet: a message, credit or the end. */
  packet(operation: number, body: Uint8Array): void;
  /** Sends a message, or a failure and the end. */
  send(message: Init<A> | Status): void;
  /**
   * Sends all messages of a source, and the end. The next message is taken when there is credit for it. An error of the
   * source fails a call of this end, and is rethrown for a call of the peer.
   */
  pump(source: Source<Init<A>>, hasRun?: boolean): Promise<void>;
  /** Ends the direction of this end. */
  finish(): void;
  /** Discards further messages. */
  discard(): void;
  /** Ends both directions with a failure from this end. */
  fail(status: Status): void;
  /** Ends both directions without a packet. */
  lost(status: Status): void;
}

/**
 * Creates the stream of a call. `ours` is set if this end made the call. `whenOver` is called after the end, and may be
 * called again.
 */
export function stream<A, B>(sends: Type<A>, receives: Type<B>, ours: boolean, whenOver: () => void, whenMetadata?: (metadata: Metadata) => void): Stream<A, B> {
  let link: Link | undefined;
  let id = 0;
  let missing = 0;
  let credit = 0;
  /** The cost of unread messages, and of read messages whose credit has not been returned. */
  let unreadCost = 0;
  let consumed = 0;
  let isSending = true;
  let isReceiving = true;
  let isDiscarding = false;
  let isRefused = false;
  let wake = (): void => {};
  let stopSource: (() => unknown) | undefined;

  const isOver = (): boolean => !isSending && !isReceiving;

  const { messages, clear, put, end } = inbox((body: Uint8Array): B | undefined => {
    const cost = body.length + MESSAGE_COST;
    unreadCost -= cost;
    consumed += cost;
    if (isReceiving && consumed * PARTS >= WINDOW) {
      link?.write(id, Op.Credit, putVarint, consumed);
      consumed = 0;
    }
    try {
      const from = reader(body);
      const prefix = readPrefix(from);
      if (from.at) {
        whenMetadata?.((replies.metadata = prefix.metadata));
        if (!remaining(from)) return;
      }
      const status = readStatus(from, prefix);
      if (status) throw status;
      return read(from, receives, missing);
    } catch (error) {
      throw unread(error, receives);
    }
  }, () => (ours ? stop(true) : discard()));
  const replies = Object.assign(messages, { metadata: {} as Metadata });

  /** Releases the stream's resources when both directions have ended. */
  const release = (): void => {
    if (!isOver()) return;
    wake();
    stopSource?.();
    link?.over(id);
    link = stopSource = undefined;
    whenOver();
  };
  const finish = (): void => {
    if (!isSending) return;
    isSending = false;
    link?.write(id, Op.End);
    release();
  };
  const lost = (status: Status | true): void => {
    isSending = isReceiving = false;
    end(status);
    release();
  };
  const stop = (status: Status | true, resetStatus = givenUp(true)): void => {
    if (!isOver()) link?.reset(id, resetStatus);
    clear();
    lost(status);
  };
  const fail = (status: Status): void => stop(status, status);
  const discard = (): void => {
    clear();
    isDiscarding = true;
  };
  const send = (message: Init<A> | Status): void => {
    if (!link || !isSending) return;
    const isFailure = message instanceof Status;
    link.write(id, Op.Stream, (to) => {
      const { at } = to;
      if (isFailure) writeStatus(to, message);
      else write(to, sends, message);
      credit -= to.at - at + MESSAGE_COST;
    });
    if (isFailure) finish();
  };

  return {
    messages: replies,
    begin(on, as, granted, absent) {
      link = on;
      id = as;
      credit = granted;
      missing = absent;
    },
    packet(operation, body) {
      if (operation === Op.Stream) {
        if (!isReceiving || isDiscarding) return;
        // The peer may overdraw its credit by one message.
        if (unreadCost + consumed >= WINDOW) return fail(new Status(Is.RESOURCE_EXHAUSTED, "the peer exceeded its credit"));
        unreadCost += body.length + MESSAGE_COST;
        // A copy, because a view would keep the whole packet alive.
        return put(new Uint8Array(body));
      }
      const from = reader(body);
      if (operation === Op.Credit) {
        const more = takeVarint(from, 10);
        // Zero credit means that no handler received the call.
        isRefused ||= !more;
        if ((credit += more) > 0) wake();
      } else if (body.length) {
        // Both directions have ended. The text may be truncated anywhere.
        const code = codeOf(takeVarint(from));
        lost(new Status(code, new TextDecoder().decode(takeRest(from).subarray(0, TEXT_MAX)), { mayHaveRun: !isRefused }));
      } else {
        isReceiving = false;
        end(true);
        release();
      }
    },
    send,
    async pump(source, hasRun) {
      try {
        const both = source as AsyncIterable<Init<A>> & Iterable<Init<A>> | undefined;
        const messages = both?.[Symbol.asyncIterator]?.() ?? both?.[Symbol.iterator]?.();
        if (!messages) throw notRun(Is.INVALID_ARGUMENT, `messages of a stream are an iterable, not ${String(source)}`);
        stopSource = async () => {
          try {
            await messages.return?.();
          } catch {
            // The call has ended with its outcome.
          }
        };
        for (;;) {
          while (credit <= 0 && !isOver()) await new Promise<void>((resolve) => (wake = resolve));
          if (isOver()) return;
          const { done, value } = await messages.next();
          if (isOver()) return;
          if (done) break;
          send(value);
        }
        stopSource = undefined;
        finish();
      } catch (error) {
        if (!ours) {
          stopSource?.();
          stopSource = undefined;
          throw error;
        }
        stop(hasRun ? mayHaveRun(error) : Status.from(error));
      }
    },
    finish,
    discard,
    fail,
    lost,
  };
}
