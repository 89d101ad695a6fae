/**
 * One connection: framing, HELLO, keepalive, and its calls and streams. `channel.ts` makes connections and
 * replaces them, `stream.ts` owns a stream, `serve.ts` the calls of the server, `topics.ts` those to a broker.
 */

import { remaining, malformed, putHalf, putItem, putRaw, putVarint, reader, room, takeByte, takeNumber, takeText, takeVarint, takeView, utf8, writer, written, type Cursor } from "./bytes.js";
import { EARLIER, Fit, fit, readEarlier, readLayout, whole, writeLayout, type AnyService, type PeerLayout } from "./service.js";
import { Is, Status, notRun, textOf } from "./status.js";
import type { Stream } from "./stream.js";

/** The operations of the protocol. */
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
}

/** The byte transport of a connection. */
export interface Transport {
  /** Sends bytes, which are overwritten after this returns. */
  send(bytes: Uint8Array): void;
  close(): void;
  /** How many bytes wait to be sent. */
  buffered(): number;
  /** Whether messages are written in the flat form, for compat peers. Default: no. */
  readonly isFlat?: boolean | undefined;
}

/** The events of a transport. */
export interface TransportEvents {
  /** The transport is connected. */
  open(): void;
  /** Bytes were received, with arbitrary boundaries. They may be overwritten after this returns. */
  data(bytes: Uint8Array): void;
  /** The transport is closed. */
  close(reason: string): void;
}

/** Begins to connect. An exception counts as a failure to connect. */
export type Dial = (events: TransportEvents) => Transport;

/** A call in flight. */
export interface InFlight {
  id: number;
  readonly operation: number;
  /** It was cancelled, and its slot stays occupied until the reply arrives. */
  isGivenUp: boolean;
  /** Its deadline, by the clock of `performance`. */
  readonly until: number;
}

/** The owner of a connection. */
export interface Owner {
  /** The connection accepts no new calls. */
  closing(link: Link, reason: string): void;
  /** The server has answered a call. */
  answered(): void;
  /** There may be free slots for waiting calls and streams. */
  room(link: Link): void;
  /** The reply to a call was received. */
  replied(call: InFlight, body: Uint8Array): void;
  /** The deadline of a call has passed. */
  expired(call: InFlight): void;
  /** The connection of a call was lost, and the call may have run. */
  lost(call: InFlight, status: Status): void;
}

/** Serves calls of the server. */
export interface Serving {
  readonly services: readonly AnyService[];
  /** Begins to serve on a connection, whose peer has announced these layouts. @internal */
  on(link: Link, named: ReadonlyMap<string, PeerLayout>): Session;
}

/** The calls of the server on a connection. */
export interface Session {
  /** The calls in progress. */
  readonly progress: ReadonlyMap<number, unknown>;
  /** A request was received, or the first packet of a stream. */
  packet(id: number, operation: number, body: Uint8Array, isStream: boolean): void;
  cancel(id: number, operation: number): void;
  down(status: Status): void;
}

/** Handles the packets of some operations. */
export interface Mount {
  /** Handles a packet, and returns whether it was one of its operations. */
  packet(link: Link, id: number, operation: number, body: Uint8Array): boolean;
  down(link: Link, status: Status): void;
}

/** The interface of a connection for its calls. */
export interface Link {
  /** HELLO was received: the connection is usable. */
  isUp: boolean;
  /** Much is unsent: nothing new begins. */
  isFull: boolean;
  /** Sends a packet. Throws, and sends nothing, if its body cannot be encoded or is too long. */
  write<T>(id: number, operation: number, put?: (to: Cursor, value: T) => void, value?: T): void;
  /** Resets a stream. */
  reset(id: number, status: Status): void;
  /** Resets a stream of the server that reached no handler. */
  refuse(id: number, status: Status): void;
  /**
   * How the server's layout of a service fits: `undefined` if the server needs this end's first, since it is another
   * one that HELLO has not named. Throws a `Status` if the service cannot be called. */
  fits(service: AnyService): Fit | undefined;
  /** Sends the request of a call. Returns whether there was a free slot. */
  call<C extends InFlight>(call: C, put: (to: Cursor, call: C) => void): boolean;
  /** Cancels a call. */
  cancel(call: InFlight): void;
  /** Opens a stream of this end. Returns whether there was a free slot. */
  open(stream: Stream, missing: number, put: (to: Cursor) => void): boolean;
  /** Accepts a stream of the server. */
  accept(stream: Stream, id: number, missing: number): void;
  /** Removes a stream that has ended. */
  over(id: number): void;
  /** Starts no new calls, and closes the connection when those in progress have ended. */
  drain(): void;
  closeIfIdle(): void;
}

const BODY_MAX = 5 << 20;
/** The body length that every end accepts. */
const BODY_MAX_LEAST = 1024;
/** The longest HELLO. */
const HELLO_MAX = 64 << 10;
/** From this item of HELLO and this packet of operation 3 on, the receiver has to understand them. */
const ITEM_MUST_UNDERSTAND = 128;
const MUST_UNDERSTAND = 0x8000;
const HEADER = 10;
/** How many calls may be in flight: half of the ids of this end, so that a duplicate reply to a call finds no other under its id. */
const CALLS_MAX = 1 << 14;
/** The first id of calls of the server. Calls of this end have lower ids. */
const ACCEPTING_IDS = 0x8000;
/** How many cancelled calls may be unanswered before the connection is replaced. */
const GIVEN_UP_MAX = CALLS_MAX / 2;
/** How many streams and calls the server may have in progress here. */
export const SERVED_MAX = 256;
/** The bytes of a stream that may be unread. The same as in Rust. */
export const WINDOW = 256 << 10;
/** How many stray packets are skipped. The same as in Rust. */
const WASTE_MAX = 100_000;
/** How many bytes may be unsent before the connection is closed: the bytes of replies that Rust's dialling end buffers. */
const UNSENT_MAX = 64 << 20;
/** The unsent bytes from which new calls, streams and packets of programs wait, and the pause between two looks, in ms. */
const FULL_AT = 8 << 20;
const FULL_PAUSE = 10;
/** The buffered length from which a write does not wait for the end of the task. */
const FLUSH_AT = 64 << 10;
/** An end that has received or sent nothing for this time sends a PING, and closes after five times as long, in ms. */
const BEAT = 2000;
const SILENT_BEATS = 5;
/** How long the server may take until HELLO, connecting included, in ms. */
const UP_WITHIN = 10_000;
/** Why a drained connection closes. */
const GOING_AWAY = "the server is going away";

/** The longest time that a timer can be set to. */
const TIMER_MAX = 0x7fff_ffff;

export const after = (ms: number, run: () => void): ReturnType<typeof setTimeout> => setTimeout(run, Math.min(Math.max(0, ms), TIMER_MAX));

/** Makes a connection. */
export function makeLink(dial: Dial, owner: Owner, named: readonly AnyService[], serving: Serving | undefined, mounts: readonly Mount[]): Link {
  const out = writer(16 << 10);
  const streams = new Map<number, Stream>();
  /** The layouts of the services that the server offers, and of those that it calls. */
  const offered = new Map<string, PeerLayout>();
  const calling = new Map<string, PeerLayout>();
  /** The calls in flight, by the lower bits of their ids. */
  const calls: (InFlight | undefined)[] = [];
  let inFlight = 0;
  let givenUp = 0;
  let lastCall = 0;
  /** The number of streams that this end has open. */
  let opened = 0;
  let lastStream = 0;
  /** The last stream that the server has opened. */
  let theirStream = 0x7fff;
  /** The server's limits, by their items in HELLO: of bodies, streams and calls, and the credit of a stream. */
  const limits: [unknown: number, bodyMax: number, streamsMax: number, callsMax: number, credit: number] = [0, BODY_MAX, Infinity, CALLS_MAX, 0];
  let isClosed = false;
  /** No new calls are started. */
  let isDraining = false;
  /** Bytes of a frame that is not complete, and how many it needs. */
  let partial: Cursor | undefined;
  let need = HEADER;
  let waste = 0;
  let isFlushing = false;
  let seen = 0;
  let hasPong = false;
  let hasSent = false;
  /** How many beats have passed since the last received byte. */
  let silent = 0;
  let beat: ReturnType<typeof setInterval> | undefined;

  // Sending.

  /** Calls the transport. An exception, which a timer would have as well, ends the connection. */
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
    hasPong = false;
    hasSent = true;
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

  /** Ends the state of being full when the transport has sent most bytes, which it does not report. */
  const lookForRoom = (): void =>
    carried((to) => {
      if (to.buffered() > FULL_AT / 2) return void after(FULL_PAUSE, lookForRoom);
      link.isFull = false;
      owner.room(link);
    });

  /** Flushes at the end of the task, so that each woken caller may add its request. */
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
      const most = Math.max(limits[1], BODY_MAX_LEAST);
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

  const reset = (id: number, { code, message }: Status): void =>
    write(id, Op.End, (to) => {
      putVarint(to, code);
      putRaw(to, utf8(message.slice(0, 256)));
    });

  const refuse = (id: number, status: Status): void => {
    // Zero credit: no message reached a handler.
    write(id, Op.Credit, putVarint, 0);
    reset(id, status);
  };

  // Receiving.

  const data = (bytes: Uint8Array): void => {
    if (isClosed) return;
    silent = 0;
    if (partial) {
      // It grows with the received bytes, not with the announced length.
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
        // Checked before a buffer is allocated for it.
        if (length > BODY_MAX) malformed(`a packet of ${length} bytes`);
        if (bytes.length < (need += length)) break;
        handle(half(2), half(4), bytes.subarray(at + HEADER, need));
      }
      if (at < bytes.length) {
        need -= at;
        putRaw((partial = writer()), bytes.subarray(at));
      }
    } catch (error) {
      fail(`the server broke the protocol: ${(error as Error).message}`);
    }
  };

  const handle = (id: number, operation: number, body: Uint8Array): void => {
    const from = reader(body);
    const stream = streams.get(id);
    if (operation >= 10) {
      if (!link.isUp) malformed("a packet before HELLO");
      const isRequest = id >= ACCEPTING_IDS;
      const call = calls[id % CALLS_MAX];
      if (!isRequest && call?.id === id && call.operation === operation) {
        release(id);
        owner.answered();
        if (call.isGivenUp) givenUp--;
        else owner.replied(call, body);
        return closeIfIdle();
      }
      // Mounted protocols give their bodies any form.
      if (mounts.filter((mount) => mount.packet(link, id, operation, body)).length) return;
      if (isRequest && session) return session.packet(id, operation, body, false);
    } else if (operation < Op.Stream) {
      if (body.length) malformed("a PING with a body");
      if (operation === Op.Pong) {
        if (!link.isUp) fail("the server is a compat peer");
      } else if (!hasPong) {
        // Several PINGs before the next flush have one answer.
        hasPong = true;
        write(0, Op.Pong);
      }
      return;
    } else if (operation === Op.Extension && !link.isUp && !id) return greeted(from);
    else if (operation === Op.Extension && id >= MUST_UNDERSTAND) malformed(`packet type ${id} must be understood and is unknown`);
    else if (operation === Op.GoingAway) return drain();
    else if (operation === Op.Cancel) return session?.cancel(id, takeVarint(from));
    else if (operation === Op.HandOff) malformed("a stray hand-off");
    else if (stream && operation !== Op.Extension && operation < Op.HandOff) {
      owner.answered();
      return stream.packet(operation, body);
    } else if (operation === Op.Stream) {
      // The server opens a stream, or a message has crossed the end of its stream.
      const ahead = (id - theirStream) & 0x7fff;
      if (id >= 0x8000 && ahead && ahead <= 0x4000) {
        theirStream = id;
        return session ? session.packet(id, Op.Stream, body, true) : refuse(id, notRun(Is.UNIMPLEMENTED, "no service is served"));
      }
    }
    if (++waste > WASTE_MAX) fail("too many stray packets");
  };

  const greeted = (from: Cursor): void => {
    if (remaining(from) > HELLO_MAX || takeText(from, 4) !== "fris" || !takeByte(from)) malformed("no HELLO");
    const seen = new Set<number>();
    const earlier: (readonly string[])[] = [];
    let type = 0;
    try {
      while (remaining(from)) {
        type = takeByte(from);
        const item = reader(takeView(from));
        if (type >= ITEM_MUST_UNDERSTAND) malformed("must be understood and is unknown");
        // Those of the core, and two of calls.
        if (type < 7 || type === 34 || type === 35) {
          if (seen.has(type)) malformed("occurs twice");
          seen.add(type);
        }
        if (type in limits) limits[type] = takeNumber(item);
        else if (type === 32 || type === 33) {
          const layout = readLayout(item);
          (type === 32 ? offered : calling).set(layout.service, layout);
        } else if (type === EARLIER) earlier.push(readEarlier(item));
      }
    } catch (error) {
      malformed(`HELLO item ${type}: ${(error as Error).message}`);
    }
    for (const layouts of [offered, calling]) for (const layout of layouts.values()) layout.compatible = earlier.find(([of]) => of === layout.fingerprint)?.slice(1) ?? [];
    limits[3] = Math.min(limits[3], CALLS_MAX);
    link.isUp = true;
    clearTimeout(setup);
    owner.room(link);
  };

  // Calls and streams.

  /** Frees the slot of a call. */
  const release = (id: number): void => {
    calls[id % CALLS_MAX] = undefined;
    if (inFlight-- === limits[3]) owner.room(link);
  };

  const accept = (stream: Stream, id: number, missing: number): void => {
    streams.set(id, stream);
    stream.begin(link, id, limits[4], missing);
  };

  // The end.

  const closeIfIdle = (): void => {
    if (isDraining && inFlight === givenUp && !streams.size && !session?.progress.size) queueMicrotask(() => fail(GOING_AWAY));
  };

  const drain = (): void => {
    if (isDraining) return;
    isDraining = true;
    owner.closing(link, GOING_AWAY);
    closeIfIdle();
  };

  /** Closes the connection. */
  const fail = (reason: string): void => {
    if (isClosed) return;
    flush();
    carried((to) => to.close());
    closed(reason);
  };

  const closed = (reason: string): void => {
    if (isClosed) return;
    isClosed = true;
    clearInterval(beat);
    clearTimeout(setup);
    owner.closing(link, reason);
    link.isUp = false;
    const status = new Status(Is.UNAVAILABLE, `the connection was lost: ${reason}`);
    for (const call of calls) if (call && !call.isGivenUp) owner.lost(call, status);
    for (const stream of streams.values()) stream.lost(status);
    session?.down(status);
    for (const mount of mounts) mount.down(link, status);
  };

  const link: Link = {
    isUp: false,
    isFull: false,
    write,
    reset,
    refuse,
    fits(service) {
      const theirs = offered.get(service.name);
      if (theirs) return theirs.fingerprint === whole(service.fingerprint) || named.includes(service) ? fit(service, theirs) : undefined;
      for (const other of offered.values()) {
        if (other.operations.some((operation) => service.operations.includes(operation))) throw notRun(Is.UNIMPLEMENTED, `the server has ${other.service} instead of ${service.name}`);
      }
      return Fit.Whole;
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
      if (isClosed) return;
      call.isGivenUp = true;
      write(call.id, Op.Cancel, putVarint, call.operation);
      if (++givenUp >= GIVEN_UP_MAX) drain();
      closeIfIdle();
    },
    open(stream, missing, put) {
      if (!limits[2]) throw notRun(Is.UNIMPLEMENTED, "the server does not accept streams");
      if (link.isFull || opened >= Math.min(limits[2], 0x7000)) return false;
      do lastStream = (lastStream % 0x7fff) + 1;
      while (streams.has(lastStream));
      const id = lastStream;
      // Before the write, which may end the connection and with it the stream.
      streams.set(id, stream);
      opened++;
      try {
        write(id, Op.Stream, put);
      } catch (error) {
        link.over(id);
        throw error;
      }
      stream.begin(link, id, limits[4], missing);
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
  const session = serving?.on(link, calling);
  const setup = after(UP_WITHIN, () => fail("handshake timeout"));
  /** Sends HELLO. */
  const greet = (): void => {
    out.isFlat = transport?.isFlat;
    write(0, Op.Extension, (to) => {
      putRaw(to, utf8("fris\x01"));
      const most = session ? SERVED_MAX : 0;
      [BODY_MAX, most, most, WINDOW].forEach((value, at) => putItem(to, at + 1, () => putVarint(to, value)));
      for (const service of serving?.services ?? []) writeLayout(to, 32, service);
      for (const service of named) writeLayout(to, 33, service);
    });
    write(1, Op.Ping);
    flush();
    // The transport may have failed.
    if (isClosed) return;
    // Beats are counted and not timed: the timers of a page in the background are delayed.
    beat = setInterval(() => {
      if (++silent > SILENT_BEATS) return fail("keepalive timeout");
      if (silent > 1 || !hasSent) write(0, Op.Ping);
      hasSent = false;
      // Calls with the default timeout have no timer of their own, which would cost as much as the call.
      const now = performance.now();
      for (const call of calls) if (call && call.until <= now && !call.isGivenUp) owner.expired(call);
    }, BEAT);
  };
  // A transport may report events before `dial` returns, when neither it nor this link is known yet.
  let transport: Transport | undefined;
  const dialled = (run: () => void): void => (transport ? run() : queueMicrotask(run));
  const close = (reason: string): void => dialled(() => closed(reason));
  try {
    transport = dial({ open: () => dialled(greet), data, close });
  } catch (error) {
    close(textOf(error));
  }
  return link;
}
