/**
 * Transport for compat peers, such as servers in Go. It translates between the packets of native peers, which `link.ts`
 * sends and expects, and the base protocol (docs/wire.md). It hides the HELLO of the link from the server, and answers
 * it with one of its own. Browsers do not need this module, because they reach such servers through a gateway.
 *
 * # Decisions
 *
 * * **Flow control ends here.** The base protocol has none. This module grants the link credit as the socket accepts
 * bytes. It buffers up to 16 MiB of received messages until the link has credit for them.
 *
 * * **Prefixes are removed.** A compat peer would decode metadata and deadlines as part of a message. The client
 * enforces deadlines instead.
 */

import { putItem, putRaw, putVarint, reader, takeVarint, takeView, utf8, writer, written, type Cursor } from "./bytes.js";
import { cutter, numbered, putPacket, type HeaderForm } from "./frames.js";
import { Op, WINDOW, type Dial } from "./link.js";
import { PREFIX } from "./prefix.js";
import { Is } from "./status.js";
import { MESSAGE_COST } from "./stream.js";

/** First byte of a packet that opens a stream, unless it has a prefix. */
const OPENING = 9;
/** Maximum total charge of messages that wait for credit. */
const QUEUED_MAX = 16 << 20;
/** Maximum number of open streams. A Rust server closes a connection that has more. */
const STREAMS_MAX = 256;
/** Unsent bytes above which streams receive no credit, and the interval in ms at which this is checked. */
const UNSENT_MAX = 1 << 20;
const PAUSE = 5;

/** An encoded error with the text `EOF`, which marks the end of a direction. */
const END = [6, 5, 10, 3, 69, 79, 70];

/** A stream opened by the client. */
interface Open {
  /** The credit granted by the link. */
  credit: number;
  /** Messages waiting for credit of the link, and the end of the stream, with their operations. */
  readonly queued: [operation: Op, body: Uint8Array][];
  isSending: boolean;
  isReceiving: boolean;
  /** Credit to grant to the link once the socket has accepted its bytes. */
  ungranted: number;
}

const costOf = (body: Uint8Array): number => body.length + MESSAGE_COST;

/** Wraps a dialler so that the link can talk to a compat peer with this header form. */
export function compat(dial: Dial, form: HeaderForm): Dial {
  return (events) => {
    const streams = new Map<number, Open>();
    /** Packets to be delivered to the link. */
    let incoming = writer();
    let isDelivering = false;
    let isClosed = false;
    let queuedBytes = 0;
    let grants: ReturnType<typeof setTimeout> | undefined;

    const flushIncoming = (): void => {
      isDelivering = false;
      const full = incoming;
      // Replaced before delivery, because the link may send while it reads.
      incoming = writer();
      if (full.at && !isClosed) events.data(written(full));
    };
    const deliver = (id: number, operation: Op, body?: ArrayLike<number>): void => {
      putPacket(incoming, "current", id, operation, body);
      if (isDelivering) return;
      isDelivering = true;
      queueMicrotask(flushIncoming);
    };
    const close = (reason: string): void => {
      if (isClosed) return;
      isClosed = true;
      clearTimeout(grants);
      events.close(reason);
    };

    /** Delivers queued messages for as long as the link has credit. */
    const deliverQueued = (id: number, stream: Open): void => {
      let count = 0;
      for (let next; (next = stream.queued[count]) && (next[0] !== Op.Stream || stream.credit > 0); count++) {
        const [operation, body] = next;
        if (operation === Op.Stream) {
          stream.credit -= costOf(body);
          queuedBytes -= costOf(body);
        }
        deliver(id, operation, body);
      }
      stream.queued.splice(0, count);
    };
    const put = (to: Cursor, id: number, operation: Op, body?: ArrayLike<number>): void => putPacket(to, form, id, operation, body);
    const forget = (id: number, stream: Open): void => {
      streams.delete(id);
      for (const [operation, body] of stream.queued) if (operation === Op.Stream) queuedBytes -= costOf(body);
    };
    /** Closes a stream once both directions have ended. The server keeps the stream until it receives this packet. */
    const release = (to: Cursor, id: number, stream: Open): void => {
      if (stream.isSending || stream.isReceiving || stream.queued.length) return;
      forget(id, stream);
      put(to, id, Op.Stream);
    };
    const grant = (): void => {
      grants = undefined;
      if (transport.buffered() > UNSENT_MAX) return schedule(PAUSE);
      for (const [id, stream] of streams) {
        if (stream.ungranted && stream.isSending) deliver(id, Op.Credit, numbered(stream.ungranted));
        stream.ungranted = 0;
      }
    };
    const schedule = (pause: number): void => {
      if (!isClosed) grants ??= setTimeout(grant, pause);
    };

    /** Handles a packet of the link. */
    const handleLinkPacket = (to: Cursor, id: number, operation: number, body: Uint8Array): void => {
      const stream = streams.get(id);
      if (operation < Op.Stream) put(to, 0, operation);
      else if (operation === Op.Extension) deliver(0, Op.Extension, hello());
      else if (operation >= 10) put(to, id, operation, withoutPrefix(body));
      else if (operation === Op.Stream && !stream) {
        // A message that crossed the end of its stream would open another one.
        if (body[0] !== OPENING && body[0] !== PREFIX) return;
        streams.set(id, { credit: WINDOW, queued: [], isSending: true, isReceiving: true, ungranted: 0 });
        put(to, id, Op.Stream, withoutPrefix(body));
      } else if (operation === Op.Stream && stream?.isSending) {
        stream.ungranted += costOf(body);
        schedule(0);
        put(to, id, Op.Stream, withoutPrefix(body));
      } else if (operation === Op.Credit && stream) {
        stream.credit += takeVarint(reader(body), 10);
        deliverQueued(id, stream);
        release(to, id, stream);
      } else if (operation === Op.End && stream) {
        if (body.length) {
          forget(id, stream);
          put(to, id, Op.Stream);
        } else {
          stream.isSending = false;
          put(to, id, Op.Stream, END);
          release(to, id, stream);
        }
      }
    };

    /** Handles a packet of the server. */
    const handleServerPacket = (to: Cursor, id: number, operation: number, body: Uint8Array): void => {
      if (operation < Op.Stream || operation >= 10) return deliver(id, operation, body);
      const stream = streams.get(id);
      // Extensions and repeated ends are ignored.
      if (operation !== Op.Stream || !stream) return;
      if (!body.length) {
        // The server closed the stream. If it did not end its direction before, messages may be missing. Otherwise, the
        // reset only stops the sender of this end, whose further packets would open another stream.
        if (stream.isReceiving || stream.isSending) stream.queued.push([Op.End, failure(Is.UNAVAILABLE, "the server closed the stream before its end")]);
        stream.isSending = stream.isReceiving = false;
      } else if (!stream.isReceiving) return;
      else if (isEnd(body)) {
        stream.isReceiving = false;
        stream.queued.push([Op.End, body.subarray(0, 0)]);
      } else if ((queuedBytes += costOf(body)) > QUEUED_MAX) {
        queuedBytes -= costOf(body);
        forget(id, stream);
        put(to, id, Op.Stream);
        return deliver(id, Op.End, failure(Is.RESOURCE_EXHAUSTED, "the server sends faster than its messages are read"));
      } else stream.queued.push([Op.Stream, new Uint8Array(body)]);
      deliverQueued(id, stream);
      release(to, id, stream);
    };

    /** Handles packets, and sends the packets that they produce. */
    const run = (cut: (bytes: Uint8Array) => unknown, bytes: Uint8Array): void => {
      try {
        cut(bytes);
      } catch (error) {
        transport.close();
        return close(`the server broke the protocol: ${(error as Error).message}`);
      }
      if (out.at) {
        const full = out;
        out = writer(full.bytes.length > UNSENT_MAX ? 0 : full.bytes.length);
        transport.send(written(full));
      }
    };
    let out = writer(16 << 10);
    const fromLink = cutter("current", (id, operation, body) => handleLinkPacket(out, id, operation, body));
    const fromServer = cutter(form, (id, operation, body) => handleServerPacket(out, id, operation, body));
    const transport = dial({
      open: () => events.open(),
      data: (bytes) => {
        if (isClosed) return;
        run(fromServer, bytes);
        flushIncoming();
      },
      close,
    });
    return {
      isFlat: true,
      send: (bytes) => run(fromLink, bytes),
      close: () => {
        isClosed = true;
        clearTimeout(grants);
        transport.close();
      },
      buffered: () => transport.buffered(),
    };
  };
}

/** Returns a HELLO for the link. It offers no services and states the limits of compat peers. */
function hello(): Uint8Array {
  const to = writer();
  putRaw(to, utf8("fris\x01"));
  putItem(to, 2, () => putVarint(to, STREAMS_MAX));
  putItem(to, 4, () => putVarint(to, WINDOW));
  return written(to);
}

/** Returns the body of a reset. */
const failure = (code: number, text: string): Uint8Array => numbered(code, utf8(text));

const isEnd = (body: Uint8Array): boolean => body.length === END.length && END.every((byte, at) => body[at] === byte);

function withoutPrefix(body: Uint8Array): Uint8Array {
  if (body[0] !== PREFIX) return body;
  const from = reader(body);
  from.at = 1;
  takeView(from);
  return body.subarray(from.at);
}
