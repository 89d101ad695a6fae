/**
 * A connection: framing, HELLO, keepalive, and its calls and streams. `channel.ts` connects and reconnects, `stream.ts`
 * implements streams, `serve.ts` the server's calls, and `topics.ts` requests to a broker.
 */

import { remaining, malformed, putHalf, putItem, putRaw, putVarint, reader, room, takeByte, takeHex, takeNumber, takeText, takeValue, takeVarint, takeView, utf8, writer, written, type Cursor } from "./bytes.js";
import { putLayout, putService, takeService, type AnyService, type PeerLayout } from "./service.js";
import { Is, Status, notRun, textOf } from "./status.js";
import { lossy } from "./prefix.js";
import type { Stream } from "./stream.js";

/** Operation numbers of the packets that the protocol defines. */
export const enum Op {
  Ping,
  Pong,
  Stream,
  Extension,
  GoingAway,
  Credit,
  Cancel,
  End,
  HandOff,
  Batch,
}

/** Types of packets of operation 3. */
export const enum Extension {
  Ask = 1,
  Layout,
  Calls,
  Close,
  Headers,
  Trailers,
}

/** The byte transport of a connection. */
export interface Transport {
  /**
   * Sends bytes. The buffer is reused after this returns. Events must not be called while it runs, because packets that
   * answer them would be lost.
   */
  send(bytes: Uint8Array): void;
  close(): void;
  /** Returns the number of bytes that wait to be sent. */
  buffered(): number;
  /** Whether messages are written in the flat form, for compat peers. Defaults to false. */
  readonly isFlat?: boolean | undefined;
}

/** The events of a transport. */
export interface TransportEvents {
  /** Called when the transport is connected. */
  open(): void;
  /** Called when bytes are received, with arbitrary boundaries. The buffer may be reused after this returns. */
  data(bytes: Uint8Array): void;
  /** Called when the transport is closed. */
  close(reason: string): void;
}

/** Starts connecting. An exception counts as a failure to connect. */
export type Dial = (events: TransportEvents) => Transport;

/** A unary call in flight. */
export interface InFlight {
  id: number;
  readonly operation: number;
  /** Whether the call was cancelled. Its slot stays occupied until the reply arrives. */
  isGivenUp: boolean;
  /** The deadline, by the clock of `performance`. */
  until: number;
}

/** Callbacks of a connection's owner, the channel. */
export interface Owner {
  /** Called when the connection accepts no new calls. */
  closing(link: Link, reason: string): void;
  /** Called when the server has answered a call. */
  answered(): void;
  /** Called when there may be free slots for waiting calls and streams. */
  room(link: Link): void;
  /** Called when the reply to a call was received. */
  replied(call: InFlight, body: Uint8Array): void;
  /** Called when the deadline of a call has passed. */
  expired(call: InFlight): void;
  /** Called when the connection of a call was lost. The call may have run. */
  lost(call: InFlight, status: Status): void;
}

/** Serves the server's calls. */
export interface Serving {
  readonly services: readonly AnyService[];
  /** Starts to serve on a connection. @internal */
  on(link: Link): Session;
}

/** The server's calls on a connection. */
export interface Session {
  /** The calls in progress. */
  readonly progress: ReadonlyMap<number, unknown>;
  /** Handles a request, or the first packet of a stream. */
  packet(id: number, operation: number, body: Uint8Array, isStream: boolean): void;
  cancel(id: number, operation: number): void;
  down(status: Status): void;
}

/** Handles the packets of some operations. */
export interface Mount {
  /** Handles a packet. Returns whether its operation belongs to this protocol. */
  packet(link: Link, id: number, operation: number, body: Uint8Array): boolean;
  down(link: Link, status: Status): void;
}

/** A connection, as seen by its calls. */
export interface Link {
  /** Whether HELLO was received, so that the connection is usable. */
  isUp: boolean;
  /** Whether too much is unsent to start new work. */
  isFull: boolean;
  /** Sends a packet. If its body cannot be encoded or is too long, throws and sends nothing. */
  write<T>(id: number, operation: number, put?: (to: Cursor, value: T) => void, value?: T): void;
  /** Resets a stream with a status, which ends both directions. */
  reset(id: number, status: Status): void;
  /** Resets a stream of the server that no handler received. */
  refuse(id: number, status: Status): void;
  /** Names a service before its first call, unless HELLO has named it or the server has the same layout. */
  announce(service: AnyService): void;
  /** Sends the request of a call. Returns false if there is no free slot. */
  call<C extends InFlight>(call: C, put: (to: Cursor, call: C) => void): boolean;
  /** Cancels a unary call, and notifies the server. */
  cancel(call: InFlight): void;
  /** Opens a stream of this end. Returns false if there is no free slot. */
  open(stream: Stream, put: (to: Cursor) => void): boolean;
  /** Accepts a stream of the server. */
  accept(stream: Stream, id: number): void;
  /** Removes a stream that has ended. */
  over(id: number): void;
  /** Rejects new calls, and closes the connection when those in progress have ended. */
  drain(): void;
  closeIfIdle(): void;
}

const BODY_MAX = 5 << 20;
/** Maximum length of a request for layouts in bytes: 64 fingerprints. */
const ASK_MAX = 1024;
/** Body length in bytes that every peer must accept. */
const BODY_MAX_LEAST = 1024;
/** Maximum length in bytes of a HELLO, and of other packets of operation 3. */
const HELLO_MAX = 64 << 10;
/** Smallest HELLO item type that the receiver must understand, and smallest such packet type of operation 3. */
const ITEM_MUST_UNDERSTAND = 128;
const MUST_UNDERSTAND = 0x8000;
const HEADER = 10;
/**
 * Maximum number of calls in flight. This is half of this end's ids, so a duplicate reply never matches a newer call.
 */
const CALLS_MAX = 1 << 14;
/** First id of calls made by the server. Calls of this end have lower ids. */
const ACCEPTING_IDS = 0x8000;
/** Maximum number of the server's streams and calls that run at this end. */
export const SERVED_MAX = 256;
/**
 * Maximum number of open streams of this end. Ids of open streams are skipped, and the server ignores the opening of a
 * stream that is more than 16 384 ids ahead.
 */
const STREAMS_MAX = 0x3fff;
/** Maximum number of unread bytes of a stream. Equal to the limit in Rust. */
export const WINDOW = 256 << 10;
/** Number of packets that match no call at which the connection is closed. Equal to the limit in Rust. */
const ABUSE_MAX = 100_000;
/**
 * Maximum number of unsent bytes. Beyond it the connection is closed. Equal to the reply buffer of a dialling end in
 * Rust.
 */
const UNSENT_MAX = 64 << 20;
/**
 * Unsent bytes above which new calls, streams and mounted protocols have to wait, and the interval in ms at which this
 * is checked.
 */
const FULL_AT = 8 << 20;
const FULL_PAUSE = 10;
/** Buffered bytes at which a write is flushed immediately, instead of at the end of the task. */
const FLUSH_AT = 64 << 10;
/**
 * Keepalive interval in ms. This end sends a PING in each interval, and closes the connection after five intervals
 * without received bytes.
 */
const BEAT = 2000;
const SILENT_BEATS = 5;
/** Maximum time in ms until HELLO is received, measured from the start of connecting. */
const UP_WITHIN = 10_000;
/** The reason for closing a drained connection. */
const GOING_AWAY = "the server is going away";

/** Maximum length of the text of a CLOSE, and of a sent reset. Every peer accepts a failure of this length. */
export const TEXT_MAX = 200;

/** Maximum delay of `setTimeout` in ms. */
const TIMER_MAX = 0x7fff_ffff;

export const after = (ms: number, run: () => void): ReturnType<typeof setTimeout> => setTimeout(run, Math.min(Math.max(0, ms), TIMER_MAX));

/** Creates a connection over the transport that `dial` opens. */
export function makeLink(dial: Dial, owner: Owner, named: readonly AnyService[], serving: Serving | undefined, mounts: readonly Mount[]): Link {
  const out = writer(16 << 10);
  const streams = new Map<number, Stream>();
  /** The layouts of the services that the server offers. */
  const offered = new Map<string, PeerLayout>();
  /** Services that the server knows this end to call. */
  const known = new Set(named);
  /** The calls in flight, indexed by the lower bits of their ids. */
  const calls: (InFlight | undefined)[] = [];
  let inFlight = 0;
  let givenUp = 0;
  /** Number of keepalive intervals for which cancelled calls have occupied all slots. */
  let usedUp = 0;
  let lastCall = 0;
  /** Number of open streams of this end. */
  let opened = 0;
  let lastStream = 0;
  /** The id of the server's last stream. */
  let theirStream = 0x7fff;
  /**
   * The server's limits, indexed by their HELLO items: maximum body length, streams and calls, and the credit of a
   * stream.
   */
  const limits: [unknown: number, bodyMax: number, streamsMax: number, callsMax: number, credit: number] = [0, BODY_MAX, Infinity, CALLS_MAX, 0];
  let isClosed = false;
  /** Whether new calls are rejected. */
  let isDraining = false;
  /** The bytes of an incomplete frame, and its full length. */
  let partial: Cursor | undefined;
  let need = HEADER;
  let abuse = 0;
  let isFlushing = false;
  let seen = 0;
  /** Number of keepalive intervals since the last received byte. */
  let silent = 0;
  let beat: ReturnType<typeof setInterval> | undefined;

  // Functions that send.

  /**
   * Runs `run` with the transport. An exception closes the connection here, because otherwise every timer would throw
   * it again.
   */
  const carried = (run: (transport: Transport) => void): void => {
    if (isClosed || !transport) return;
    try {
      run(transport);
    } catch (error) {
      closed(textOf(error));
      try {
        transport.close();
      } catch {
        // The first error is the reason.
      }
    }
  };

  const flush = (): void => {
    if (!out.at) return;
    carried((to) => to.send(written(out)));
    out.at = seen = 0;
    if (out.bytes.length > 1 << 20) out.bytes = new Uint8Array(16 << 10);
    carried((to) => {
      const unsent = to.buffered();
      if (unsent > UNSENT_MAX) fail("too many unsent bytes");
      else if (unsent > FULL_AT && !link.isFull) {
        link.isFull = true;
        lookForRoom();
      }
    });
  };

  /** Checks periodically whether the transport has sent most bytes, because transports do not report this. */
  const lookForRoom = (): void =>
    carried((to) => {
      if (to.buffered() > FULL_AT / 2) return void after(FULL_PAUSE, lookForRoom);
      link.isFull = false;
      for (const stream of streams.values()) stream.room();
      owner.room(link);
    });

  /** Flushes at the end of the task, so that all callers woken in it can add their requests. */
  const settle = (): void => {
    if (out.at !== seen) {
      seen = out.at;
      queueMicrotask(settle);
    } else {
      isFlushing = false;
      flush();
    }
  };

  const write = <T>(id: number, operation: number, put?: (to: Cursor, value: T) => void, value?: T): void => {
    const { at } = out;
    try {
      room(out, HEADER);
      out.at += HEADER;
      put?.(out, value as T);
      const end = out.at;
      const length = end - at - HEADER;
      const most = operation === Op.Extension ? HELLO_MAX : Math.max(limits[1], BODY_MAX_LEAST);
      if (length > most) throw notRun(Is.RESOURCE_EXHAUSTED, `the message has ${length} bytes of at most ${most}`);
      out.at = at;
      for (const half of [15, id, operation, length >>> 16, length]) putHalf(out, half);
      out.at = end;
    } catch (error) {
      out.at = at;
      throw error;
    }
    if (out.at > FLUSH_AT) flush();
    else if (!isFlushing) {
      isFlushing = true;
      seen = 0;
      queueMicrotask(settle);
    }
  };

  const reset = (id: number, { code, message }: Status, operation = Op.End): void =>
    write(id, operation, (to) => {
      putVarint(to, code);
      putRaw(to, utf8(message.slice(0, TEXT_MAX)));
    });

  const refuse = (id: number, status: Status): void => {
    // A zero credit tells the server that no message reached a handler.
    write(id, Op.Credit, putVarint, 0);
    reset(id, status);
  };

  // Functions that receive.

  const data = (bytes: Uint8Array): void => {
    if (isClosed) return;
    silent = 0;
    if (partial) {
      // The buffer grows with the received bytes, not to the announced length.
      putRaw(partial, bytes);
      if (partial.at < need) return;
      bytes = written(partial);
      partial = undefined;
    }
    try {
      let at = 0;
      const half = (offset: number): number => ((bytes[at + offset] as number) << 8) | (bytes[at + offset + 1] as number);
      for (; !isClosed; at = need) {
        if (bytes.length < (need = at + HEADER)) break;
        if (half(0) !== 15) malformed("a header without its magic");
        const length = half(6) * 0x1_0000 + half(8);
        // Checked before allocating the buffer.
        if (length > (half(4) === Op.Extension ? HELLO_MAX : BODY_MAX)) malformed(`a packet of ${length} bytes`);
        if (bytes.length < (need += length)) break;
        handle(half(2), half(4), bytes.subarray(at + HEADER, need));
      }
      if (at < bytes.length) {
        need -= at;
        putRaw((partial = writer()), bytes.subarray(at));
      }
    } catch (error) {
      const reason = (error as Error).message;
      // Sends the reason, so that the operator of the server can see what was wrong.
      if (link.isUp) reset(Extension.Close, new Status(Is.INTERNAL, reason), Op.Extension);
      fail(`the server broke the protocol: ${reason}`);
    }
  };

  const handle = (id: number, operation: number, body: Uint8Array): void => {
    const from = reader(body);
    const isOfStream = operation === Op.Extension && (id === Extension.Headers || id === Extension.Trailers);
    const streamId = isOfStream ? takeVarint(from, 10) : id;
    if (streamId > 0xffff) malformed(`stream ${streamId}`);
    const stream = streams.get(streamId);
    if (operation >= 10) {
      if (!link.isUp) malformed("a packet before HELLO");
      const isRequest = id >= ACCEPTING_IDS;
      const call = calls[id % CALLS_MAX];
      // Calls of this end never have the id of a request.
      if (call?.id === id && call.operation === operation) {
        release(id);
        owner.answered();
        if (call.isGivenUp) givenUp--;
        else owner.replied(call, body);
        return closeIfIdle();
      }
      // Mounted protocols define the format of their bodies.
      if (mounts.filter((mount) => mount.packet(link, id, operation, body)).length) return;
      if (isRequest && session) return session.packet(id, operation, body, false);
      if (++abuse > ABUSE_MAX) fail("too many stray packets");
    } else if (operation < Op.Stream) {
      if (body.length) malformed("a PING with a body");
      if (operation === Op.Pong) {
        if (!link.isUp) fail("the server is a compat peer");
      } else write(0, Op.Pong);
      return;
    } else if (operation === Op.Extension && !isOfStream) {
      if (!id && !link.isUp) return greeted(from);
      if (id === Extension.Close) return fail(`closed by the server with code ${takeVarint(from, 10)}: ${lossy(from, TEXT_MAX)}`);
      if (id === Extension.Ask) return describe(from);
      if (id >= MUST_UNDERSTAND) malformed(`packet type ${id} must be understood and is unknown`);
    } else if (operation === Op.GoingAway) return drain();
    else if (operation === Op.Cancel) return void (body.length && session?.cancel(id, takeVarint(from, 10)));
    else if (operation === Op.HandOff) malformed("a stray HAND_OFF");
    else if (operation === Op.Batch) {
      do {
        const message = takeView(from, takeVarint(from, 10));
        stream?.packet(Op.Stream, message);
      } while (remaining(from));
    } else if (stream) {
      owner.answered();
      return isOfStream ? stream.items(id === Extension.Trailers, from) : stream.packet(operation, body);
    } else if (operation === Op.Stream) {
      // This packet either opens a stream of the server, or was sent before the server learned that its stream had
      // ended.
      const ahead = (id - theirStream) & 0x7fff;
      if (id >= 0x8000 && ahead && ahead <= 0x4000) {
        theirStream = id;
        return session ? session.packet(id, Op.Stream, body, true) : refuse(id, notRun(Is.UNIMPLEMENTED, "no service is served"));
      }
    }
  };

  /** Answers a request for the descriptions of layouts. */
  const describe = (from: Cursor): void => {
    const length = remaining(from);
    if (!length || length > ASK_MAX) malformed(`ASK of ${length} bytes`);
    while (remaining(from)) {
      const fingerprint = takeHex(from);
      const found = [...known, ...(serving?.services ?? [])].find((service) => service.fingerprint === fingerprint);
      write(Extension.Layout, Op.Extension, (to) => putLayout(to, fingerprint, found?.layout));
    }
  };

  const greeted = (from: Cursor): void => {
    if (takeText(from, 4) !== "fris" || !takeByte(from)) malformed("no HELLO");
    const seen = new Set<number>();
    let type = 0;
    try {
      while (remaining(from)) {
        type = takeByte(from);
        const item = takeValue(from);
        if (type >= ITEM_MUST_UNDERSTAND) malformed("must be understood and is unknown");
        // Items of the core protocol, and two items for calls.
        if ([1, 2, 3, 4, 5, 6, 8, 34, 35].includes(type)) {
          if (seen.has(type)) malformed("occurs twice");
          seen.add(type);
        }
        if (type && type in limits) limits[type] = takeNumber(item);
        else if (type === 8) takeNumber(item);
        else if (type === 32 || type === 33) {
          const layout = takeService(item);
          if (type === 32) offered.set(...layout);
        }
      }
    } catch (error) {
      malformed(`HELLO item ${type}: ${(error as Error).message}`);
    }
    limits[3] = Math.min(limits[3], CALLS_MAX);
    link.isUp = true;
    clearTimeout(setup);
    owner.room(link);
  };

  // Functions for calls and streams.

  /** Frees the slot of a unary call for the next one. */
  const release = (id: number): void => {
    calls[id % CALLS_MAX] = undefined;
    if (inFlight-- === limits[3]) owner.room(link);
  };

  const accept = (stream: Stream, id: number): void => {
    streams.set(id, stream);
    stream.begin(link, id, limits[4]);
  };

  // Functions that close the connection.

  const closeIfIdle = (): void => {
    // Checked afterwards, because packets received together with the last reply may start calls of the server.
    if (isDraining) queueMicrotask(() => {
      if (inFlight === givenUp && !streams.size && !session?.progress.size) fail(GOING_AWAY);
    });
  };

  const drain = (): void => {
    isDraining = true;
    owner.closing(link, GOING_AWAY);
    closeIfIdle();
  };

  /** Closes the connection because of an error. */
  const fail = (reason: string): void =>
    dialled(() => {
      flush();
      carried((to) => to.close());
      closed(reason);
    });

  const closed = (reason: string): void => {
    if (isClosed) return;
    isClosed = true;
    clearInterval(beat);
    clearTimeout(setup);
    owner.closing(link, reason);
    const wasUp = link.isUp;
    link.isUp = false;
    const status = new Status(Is.UNAVAILABLE, `the connection was lost: ${reason}`);
    for (const call of calls) if (call && !call.isGivenUp) owner.lost(call, status);
    for (const stream of streams.values()) stream.lost(status);
    session?.down(status);
    if (wasUp) for (const mount of mounts) mount.down(link, status);
  };

  const link: Link = {
    isUp: false,
    isFull: false,
    write,
    reset,
    refuse,
    announce(service) {
      if (known.has(service)) return;
      for (const other of known) {
        if (other.operations.some((operation) => service.operations.includes(operation))) throw notRun(Is.FAILED_PRECONDITION, `${other.name} has operations of ${service.name}: use another channel`);
      }
      const theirs = offered.get(service.name);
      const isSame = theirs?.fingerprint === service.fingerprint && `${theirs.operations}` === `${service.operations}`;
      if (!isSame) write(Extension.Calls, Op.Extension, putService, service);
      known.add(service);
    },
    call(call, put) {
      if (link.isFull || inFlight >= limits[3]) return false;
      do lastCall = (lastCall + 1) % ACCEPTING_IDS;
      while (calls[lastCall % CALLS_MAX]);
      const id = (call.id = lastCall);
      calls[id % CALLS_MAX] = call;
      inFlight++;
      try {
        write(id, call.operation, put, call);
      } catch (error) {
        release(id);
        throw error;
      }
      return true;
    },
    cancel(call) {
      call.isGivenUp = true;
      write(call.id, Op.Cancel, putVarint, call.operation);
      givenUp++;
      closeIfIdle();
    },
    open(stream, put) {
      if (!limits[2]) throw notRun(Is.UNIMPLEMENTED, "the server does not accept streams");
      if (link.isFull || opened >= Math.min(limits[2], STREAMS_MAX)) return false;
      do lastStream = (lastStream % 0x7fff) + 1;
      while (streams.has(lastStream));
      const id = lastStream;
      // Registered before the write, because a failing write closes the connection and ends the stream.
      streams.set(id, stream);
      opened++;
      try {
        write(id, Op.Stream, put);
      } catch (error) {
        link.over(id);
        throw error;
      }
      stream.begin(link, id, limits[4]);
      return true;
    },
    accept,
    over(id) {
      streams.delete(id);
      if (id < 0x8000) {
        opened--;
        owner.room(link);
      }
      closeIfIdle();
    },
    drain,
    closeIfIdle,
  };
  const session = serving?.on(link);
  const setup = after(UP_WITHIN, () => fail("handshake timeout"));
  /** Sends HELLO. */
  const greet = (to: Transport): void => {
    out.isFlat = to.isFlat;
    write(0, Op.Extension, (to) => {
      putRaw(to, utf8("fris\x01"));
      const most = session ? SERVED_MAX : 0;
      [BODY_MAX, most, most, WINDOW].forEach((value, at) => putItem(to, at + 1, () => putVarint(to, value)));
      // Accepts BATCH.
      putItem(to, 6, () => {});
      for (const service of serving?.services ?? []) putItem(to, 32, () => putService(to, service));
      for (const service of named) putItem(to, 33, () => putService(to, service));
    });
    write(1, Op.Ping);
    flush();
    // The transport may have failed already.
    if (isClosed) return;
    // Intervals are counted rather than measured, because browsers delay the timers of background pages.
    beat = setInterval(() => {
      if (++silent > SILENT_BEATS) return fail("keepalive timeout");
      write(0, Op.Ping);
      // A server that does not answer cancelled calls would leave no slot to others.
      usedUp = givenUp < (limits[3] || 1) ? 0 : usedUp + 1;
      if (usedUp > 1) drain();
      // Calls with the default timeout share this timer, because a timer per call would cost as much as the call.
      const now = performance.now();
      for (const call of calls) if (call && call.until <= now && !call.isGivenUp) owner.expired(call);
    }, BEAT);
  };
  // A transport may report events before `dial` returns, when `transport` and `link` are still unset.
  let transport: Transport | undefined;
  const dialled = (run: () => void): void => (transport ? run() : queueMicrotask(run));
  const close = (reason: string): void => dialled(() => closed(reason));
  try {
    transport = dial({ open: () => dialled(() => carried(greet)), data, close });
  } catch (error) {
    close(textOf(error));
  }
  return link;
}
