/**
 * A stream of messages with flow control in both directions. `link.ts` reads its packets. `channel.ts` and `serve.ts`
 * implement the caller and the handler.
 */

import { Malformed, malformed, putVarint, reader, takeNumber, takeVarint, type Cursor } from "./bytes.js";
import { read, write, type Init, type Type } from "./codec.js";
import { inbox } from "./inbox.js";
import { Extension, Op, WINDOW, type Link } from "./link.js";
import { NOTHING, lossy, readItems, readStatus, readTrailers, writeTrailers } from "./prefix.js";
import type { Source } from "./service.js";
import { Is, Status, codeOf, givenUp, notRun, toStatus, type Metadata } from "./status.js";

/** Bytes charged for a message in addition to its length. */
export const MESSAGE_COST = 64;
/** A receiver returns credit after each of this many parts of the window. */
const PARTS = 4;
/** Maximum length of the text in a reset. The rest is ignored. */
const TEXT_MAX = 4096;

/** Returns the status of a message that cannot be decoded. */
export const unread = (error: unknown, type: Type<unknown>): Status =>
  error instanceof Malformed ? new Status(Is.INTERNAL, `not a valid ${type.name}: ${error.message}`) : Status.from(error);

/** The replies of a call. Leaving a loop over them early cancels the call. */
export interface Replies<T> extends AsyncIterableIterator<T, undefined> {
  /** Metadata of the reply. It is complete before the first message arrives. */
  readonly metadata: Metadata;
}

/** A stream: an iterator over the peer's messages, and the functions that send messages of this end. */
export interface Stream<A = never, B = unknown> {
  readonly messages: Replies<B>;
  /** Attaches the stream to a connection. */
  begin(link: Link, id: number, credit: number): void;
  /** Handles a packet: a message, credit or the end. */
  packet(operation: number, body: Uint8Array): void;
  /** Resumes sending after the connection had too many unsent bytes. */
  room(): void;
  /** Handles the items of HEADERS or TRAILERS. */
  items(ofTrailers: boolean, items: Cursor): void;
  /** Sends a message. Sends a failure and ends the direction instead if given a status. */
  send(message: Init<A> | Status): void;
  /**
   * Sends all messages of a source, and then the end. Takes each message from the source only when there is credit for
   * it and the connection is not full. Without `isStream`, the source has a single message, and the end follows at
   * once. An error of the source fails a call made by this end. In a call made by the peer, the error is rethrown.
   * Calls `whenSent` after the end was sent, unless the stream is over.
   */
  pump(source: Source<Init<A>>, isStream?: boolean, whenSent?: () => void): Promise<void>;
  /** Ends this end's direction. */
  finish(): void;
  /** Discards received and further messages, and returns their credit. */
  discard(): void;
  /** Ends both directions and sends the failure to the peer. */
  fail(status: Status): void;
  /** Ends both directions without sending anything. */
  lost(status: Status): void;
}

/**
 * Creates the stream of a call. `ours` is set if this end made the call. `whenOver` is called when the stream has
 * ended, possibly more than once.
 */
export function stream<A, B>(sends: Type<A>, receives: Type<B>, ours: boolean, whenOver: () => void, whenMetadata?: (metadata: Metadata) => void): Stream<A, B> {
  let link: Link | undefined;
  let id = 0;
  let credit = 0;
  /** Charge of received messages whose credit has not been returned yet, and the part of it that has been read. */
  let charged = 0;
  let consumed = 0;
  let isSending = true;
  let isReceiving = true;
  let isDiscarding = false;
  let hasBegun = false;
  let isRefused = false;
  let wake = (): void => {};
  let stopSource: (() => Promise<void>) | undefined;

  const isOver = (): boolean => !isSending && !isReceiving;

  const consume = (body: Uint8Array): void => {
    consumed += body.length + MESSAGE_COST;
    if (isReceiving && consumed * PARTS >= WINDOW) {
      link?.write(id, Op.Credit, putVarint, consumed);
      charged -= consumed;
      consumed = 0;
    }
  };
  const { messages, put, take, end } = inbox((body: Uint8Array): B | undefined => {
    consume(body);
    try {
      const from = reader(body);
      const status = readStatus(from, NOTHING);
      if (status) throw status;
      return read(from, receives);
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
  /** Handles the end of the peer's direction. */
  const ended = (status: Status | true): void => {
    isReceiving = false;
    end(status);
    release();
  };
  const finish = (): void => {
    if (!isSending) return;
    isSending = false;
    link?.write(id, Op.End);
    release();
  };
  const lost = (status: Status | true): void => {
    isSending = false;
    ended(status);
  };
  const stop = (status: Status | true, resetStatus = givenUp(1)): void => {
    if (!isOver()) link?.reset(id, resetStatus);
    lost(status);
    discard();
  };
  const fail = (status: Status): void => stop(status, status);
  const discard = (): void => {
    isDiscarding = true;
    for (let body; (body = take()); ) consume(body);
  };
  const send = (message: Init<A> | Status): void => {
    if (!link || !isSending) return;
    if (message instanceof Status) {
      link.write(Extension.Trailers, Op.Extension, (to) => {
        putVarint(to, id);
        writeTrailers(to, message);
      });
      isSending = false;
      return release();
    }
    link.write(id, Op.Stream, (to) => {
      const { at } = to;
      write(to, sends, message);
      credit -= to.at - at + MESSAGE_COST;
    });
  };

  return {
    messages: replies,
    begin(on, as, granted) {
      link = on;
      id = as;
      credit = granted;
    },
    packet(operation, body) {
      if (operation === Op.Stream) {
        hasBegun = true;
        if (!isReceiving) return;
        // The peer may exceed its credit by one message.
        if (charged >= WINDOW) return fail(new Status(Is.RESOURCE_EXHAUSTED, "the peer exceeded its credit"));
        charged += body.length + MESSAGE_COST;
        // The peer may wait for credit before it reads the replies.
        if (isDiscarding) return consume(body);
        // A copy, because a view would keep the whole packet alive.
        return put(new Uint8Array(body));
      }
      const from = reader(body);
      if (operation === Op.Credit) {
        const more = takeNumber(from);
        // A zero credit means that no handler received the call.
        isRefused ||= !more;
        if ((credit += more) > 0) wake();
      } else if (body.length) {
        // A reset ends both directions. Its text may be truncated within a character.
        const code = codeOf(takeVarint(from, 10));
        lost(new Status(code, lossy(from, TEXT_MAX), { mayHaveRun: !isRefused }));
      } else ended(true);
    },
    items(ofTrailers, items) {
      if (!isReceiving) return;
      if (!ofTrailers && hasBegun) malformed("late HEADERS");
      hasBegun = true;
      try {
        if (ofTrailers) return ended(readTrailers(items) ?? true);
        whenMetadata?.((replies.metadata = readItems(items).metadata));
      } catch (error) {
        fail(unread(error, receives));
      }
    },
    send,
    async pump(source, isStream, whenSent) {
      try {
        const both = source as AsyncIterable<Init<A>> & Iterable<Init<A>> | undefined;
        const messages = both?.[Symbol.asyncIterator]?.() ?? both?.[Symbol.iterator]?.();
        if (!messages) throw notRun(Is.INVALID_ARGUMENT, `messages are an iterable, not ${String(source)}`);
        stopSource = async () => {
          try {
            await messages.return?.();
          } catch {
            // Ignored, because the call already has its outcome.
          }
        };
        // Confirms the call to the peer now, because the source may not yield a message for some time.
        if (!ours && isStream) link?.write(Extension.Headers, Op.Extension, putVarint, id);
        for (let next: IteratorResult<Init<A>> | undefined; ; ) {
          // Wait before taking a message and again before sending it, because other streams may send in between.
          while ((credit <= 0 || link?.isFull) && !isOver()) await new Promise<void>((resolve) => (wake = resolve));
          if (isOver()) return stopSource?.();
          if (next) {
            send(next.value);
            if (!isStream) break;
            next = undefined;
          } else if ((next = await messages.next()).done) break;
        }
        stopSource = undefined;
        finish();
        if (!isOver()) whenSent?.();
      } catch (error) {
        if (!ours) {
          stopSource?.();
          stopSource = undefined;
          throw error;
        }
        // A handler of streamed requests may have started before the first one arrived.
        stop(toStatus(error, isStream));
      }
    },
    room: () => wake(),
    finish,
    discard,
    fail,
    lost,
  };
}
