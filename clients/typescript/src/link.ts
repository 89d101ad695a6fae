/**
 * One connection: framing, HELLO, signs of life, and the calls and streams on it. `channel.ts` makes connections and
 * replaces them, `stream.ts` owns a stream, `serve.ts` the calls of the server, `topics.ts` those to a broker.
 */

import { left, malformed, putHalf, putItem, putRaw, putVarint, reader, room, takeByte, takeText, takeVarint, takeView, utf8, writer, written, type Cursor } from "./bytes.js";
import { isBackward } from "./prefix.js";
import { Fit, fit, readLayout, writeLayout, type AnyService, type Told } from "./service.js";
import { Is, Status, notRun, textOf } from "./status.js";
import type { Stream } from "./stream.js";

/** The operations of the protocol. */
export const enum Op {
  Ping,
  Pong,
  Stream,
  Hello,
  GoingAway,
  Credit,
  Cancel,
  End,
  HandOff,
}

/** What carries the bytes of a connection. */
export interface Transport {
  /** Sends bytes, which are overwritten after this returns. */
  send(bytes: Uint8Array): void;
  close(): void;
  /** How many bytes wait to be sent. */
  buffered(): number;
  /** Whether messages are written in the flat form, for compat peers. Default: no. */
  readonly isFlat?: boolean;
}

/** What a transport tells of. */
export interface TransportEvents {
  /** Bytes may be sent. */
  open(): void;
  /** Bytes have come, with whatever boundaries. They may be overwritten after this returns. */
  data(bytes: Uint8Array): void;
  /** There will be no more. */
  close(reason: string): void;
}

/** Begins to connect. An exception counts as a failure to connect. */
export type Dial = (events: TransportEvents) => Transport;

/** A call in flight. */
export interface InFlight {
  id: number;
  readonly operation: number;
  /** It was given up, and its place stays taken until the reply has come. */
  isGivenUp: boolean;
  /** When it ends if it has no reply, by the clock of `performance`. */
  readonly until: number;
}

/** The owner of a connection. */
export interface Owner {
  /** It takes no new calls. */
  left(link: Link, reason: string): void;
  /** The server has answered a call. */
  answered(): void;
  /** There may be room for calls and streams that wait. */
  room(link: Link): void;
  /** The reply to a call has come. */
  replied(call: InFlight, body: Uint8Array): void;
  /** The time of a call has come. */
  look(call: InFlight): void;
  /** The connection of a call is gone, and it may have run. */
  lost(call: InFlight, status: Status): void;
}

/** Serves calls of the server. */
export interface Serving {
  readonly services: readonly AnyService[];
  /** Begins to serve on a connection, whose peer has named these layouts. @internal */
  on(link: Link, named: ReadonlyMap<string, Told>): Session;
}

/** The calls of the server on a connection. */
export interface Session {
  /** What is in progress. */
  readonly progress: ReadonlyMap<number, unknown>;
  /** A request has come, or the first packet of a stream. */
  packet(id: number, operation: number, body: Uint8Array, isStream: boolean): void;
  cancel(id: number, operation: number): void;
  down(status: Status): void;
}

/** Takes the packets of some operations. */
export interface Mount {
  /** Takes a packet, if it is one of its own. */
  packet(link: Link, id: number, operation: number, body: Uint8Array): boolean;
  down(link: Link, status: Status): void;
}

/** What the calls on a connection need of it. */
export interface Link {
  /** HELLO has come, and the connection is there. */
  isUp: boolean;
  /** Sends a packet. If its body cannot be written, or is too long, nothing of it is left, and this throws. */
  write<T>(id: number, operation: number, put?: (to: Cursor, value: T) => void, value?: T): void;
  /** Resets a stream. */
  reset(id: number, status: Status): void;
  /** Resets a stream of the server that no handler has had. */
  refuse(id: number, status: Status): void;
  /**
   * How the server's layout of a service fits: `undefined` if the server needs this end's first, since it is another
   * one that HELLO has not named. Throws a `Status` if the service cannot be called. */
  fits(service: AnyService): Fit | undefined;
  /** Sends the request of a call. Returns whether there was room for it. */
  call<C extends InFlight>(call: C, put: (to: Cursor, call: C) => void): boolean;
  /** Gives a call up. */
  cancel(call: InFlight): void;
  /** Begins a stream of this end. Returns whether there was room for it. */
  open(stream: Stream, missing: number, put: (to: Cursor) => void): boolean;
  /** Takes a stream of the server. */
  accept(stream: Stream, id: number, missing: number): void;
  /** A stream is over. */
  over(id: number): void;
  /** Makes no new calls on it, and closes it when those in progress have ended. */
  leave(): void;
  closeIfIdle(): void;
}

const BODY_MAX = 5 << 20;
/** What every end accepts. */
const BODY_MAX_LEAST = 1024;
/** The longest HELLO. */
const HELLO_MAX = 64 << 10;
const HEADER = 10;
/** How many calls may be in flight: a quarter of the ids, so that late replies to a call find no other under its id. */
const CALLS_MAX = 1 << 14;
/** How many calls may be given up and not answered before the connection is replaced. */
const GIVEN_UP_MAX = CALLS_MAX / 2;
/** How many streams and calls the server may have in progress here. */
export const SERVED_MAX = 256;
/** The bytes of a stream that may be unread. The same as in Rust. */
export const WINDOW = 256 << 10;
/** How many packets that belong to nothing are skipped. The same as in Rust. */
const WASTE_MAX = 100_000;
/** How much may wait to be sent before the connection is given up: what Rust's dialling end holds of replies. */
const UNSENT_MAX = 64 << 20;
/** What is written at once although more may come in this turn. */
const FLUSH_AT = 64 << 10;
/** An end that has heard or sent nothing for so long sends a PING, and closes after five times as long, in ms. */
const BEAT = 2000;
const SILENT_BEATS = 5;
/** How long the server may take until HELLO, connecting included, in ms. */
const UP_WITHIN = 10_000;
/** Why a connection ends that has been left. */
const GOING = "the server is going away";

/** The longest time that a timer can be set to. */
const TIMER_MAX = 0x7fff_ffff;

export const after = (ms: number, run: () => void): ReturnType<typeof setTimeout> => setTimeout(run, Math.min(Math.max(0, ms), TIMER_MAX));

/** Makes a connection. */
export function makeLink(dial: Dial, owner: Owner, named: readonly AnyService[], serving: Serving | undefined, mounts: readonly Mount[]): Link {
  const out = writer(16 << 10);
  const streams = new Map<number, Stream>();
  /** The layouts that the server has named to offer, and those that it has named to call. */
  const offered = new Map<string, Told>();
  const calling = new Map<string, Told>();
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
  /** No new calls are made on it. */
  let isLeft = false;
  /** Bytes of a frame that is not complete, and how many it needs. */
  let partial: Cursor | undefined;
  let need = HEADER;
  let waste = 0;
  let isFlushing = false;
  let seen = 0;
  let hasPong = false;
  let hasSent = false;
  /** How many beats have passed since something came. */
  let silent = 0;
  let beat: ReturnType<typeof setInterval> | undefined;

  // Packets that leave.

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
      if (to.buffered() > UNSENT_MAX) fail("too many unsent bytes");
    });
  };

  /** Writes once all that is to be written in this turn has been: each caller that is woken may add its request. */
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
    // That no message was given to a handler.
    write(id, Op.Credit, putVarint, 0);
    reset(id, status);
  };

  // Packets that come.

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
        // Before anything is kept for it.
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
      if (isBackward(body)) {
        if (session) return session.packet(id, operation, body, false);
      } else {
        const call = calls[id % CALLS_MAX];
        if (call?.id === id && call.operation === operation) {
          release(id);
          owner.answered();
          if (call.isGivenUp) givenUp--;
          else owner.replied(call, body);
          return closeIfIdle();
        }
        if (mounts.filter((mount) => mount.packet(link, id, operation, body)).length) return;
      }
    } else if (operation < Op.Stream) {
      if (body.length) malformed("a PING with a body");
      if (operation === Op.Pong) {
        if (!link.isUp) fail("the server is a compat peer");
      } else if (!hasPong) {
        // Several PINGs before it can leave have one answer.
        hasPong = true;
        write(0, Op.Pong);
      }
      return;
    } else if (operation === Op.Hello && !link.isUp) return greeted(from);
    else if (operation === Op.GoingAway) return leave();
    else if (operation === Op.Cancel) return session?.cancel(id, takeVarint(from));
    else if (operation === Op.HandOff) malformed("a stray hand-off");
    else if (stream && operation !== Op.Hello && operation < Op.HandOff) {
      owner.answered();
      return stream.packet(operation, body);
    } else if (operation === Op.Stream) {
      // The server opens a stream, or a message has crossed the end of its stream.
      const ahead = (id - theirStream) & 0x7fff;
      if (id >= 0x8000 && ahead && ahead <= 0x4000) {
        theirStream = id;
        return session ? session.packet(id, Op.Stream, body, true) : refuse(id, notRun(Is.UNIMPLEMENTED, "this end serves nothing"));
      }
    }
    if (++waste > WASTE_MAX) fail("too many stray packets");
  };

  const greeted = (from: Cursor): void => {
    if (left(from) > HELLO_MAX || takeText(from, 4) !== "fris" || !takeByte(from)) malformed("no HELLO");
    while (left(from)) {
      const type = takeByte(from);
      const item = reader(takeView(from));
      if (type in limits) limits[type] = takeVarint(item);
      else if (type === 32 || type === 33) {
        try {
          const told = readLayout(item);
          (type === 32 ? offered : calling).set(told.service, told);
        } catch {
          // An item of another form says nothing.
        }
      }
    }
    limits[3] = Math.min(limits[3], CALLS_MAX);
    link.isUp = true;
    clearTimeout(setup);
    owner.room(link);
  };

  // Calls and streams.

  /** Frees the place of a call. */
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
    if (isLeft && inFlight === givenUp && !streams.size && !session?.progress.size) queueMicrotask(() => fail(GOING));
  };

  const leave = (): void => {
    if (isLeft) return;
    isLeft = true;
    owner.left(link, GOING);
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
    owner.left(link, reason);
    link.isUp = false;
    const status = new Status(Is.UNAVAILABLE, `the connection was lost: ${reason}`);
    for (const call of calls) if (call && !call.isGivenUp) owner.lost(call, status);
    for (const stream of streams.values()) stream.lost(status);
    session?.down(status);
    for (const mount of mounts) mount.down(link, status);
  };

  const link: Link = {
    isUp: false,
    write,
    reset,
    refuse,
    fits(service) {
      const theirs = offered.get(service.name);
      if (theirs) return theirs.fingerprint === service.fingerprint || named.includes(service) ? fit(service, theirs) : undefined;
      for (const other of offered.values()) {
        if (other.operations.some((operation) => service.operations.includes(operation))) throw notRun(Is.UNIMPLEMENTED, `the server has ${other.service} in the place of ${service.name}`);
      }
      return Fit.Whole;
    },
    call(call, put) {
      if (inFlight >= limits[3]) return false;
      do lastCall = (lastCall + 1) & 0xffff;
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
      if (++givenUp >= GIVEN_UP_MAX) leave();
      closeIfIdle();
    },
    open(stream, missing, put) {
      if (!limits[2]) throw notRun(Is.UNIMPLEMENTED, "the server does not accept streams");
      if (opened >= Math.min(limits[2], 0x7000)) return false;
      do lastStream = (lastStream % 0x7fff) + 1;
      while (streams.has(lastStream));
      opened++;
      accept(stream, lastStream, missing);
      write(lastStream, Op.Stream, put);
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
    leave,
    closeIfIdle,
  };
  const session = serving?.on(link, calling);
  const setup = after(UP_WITHIN, () => fail("no HELLO in time"));
  /** Sends HELLO. */
  const greet = (): void => {
    out.isFlat = transport?.isFlat;
    write(0, Op.Hello, (to) => {
      putRaw(to, utf8("fris\x01"));
      const most = session ? SERVED_MAX : 0;
      [BODY_MAX, most, most, WINDOW].forEach((value, at) => putItem(to, at + 1, () => putVarint(to, value)));
      for (const service of serving?.services ?? []) putItem(to, 32, () => writeLayout(to, service));
      for (const service of named) putItem(to, 33, () => writeLayout(to, service));
    });
    write(1, Op.Ping);
    flush();
    // Signs of life are counted and not timed: the timers of a page in the background are delayed.
    beat = setInterval(() => {
      if (++silent > SILENT_BEATS) return fail("the server is silent");
      if (silent > 1 || !hasSent) write(0, Op.Ping);
      hasSent = false;
      // Calls with the default timeout have no timer of their own, which would cost as much as the call.
      const now = performance.now();
      for (const call of calls) if (call && call.until <= now && !call.isGivenUp) owner.look(call);
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
