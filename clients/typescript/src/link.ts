/**
 * One connection: framing, HELLO, signs of life, and the calls and streams on it. `channel.ts` makes connections and
 * replaces them, `stream.ts` owns a stream, `serve.ts` the calls of the server, `topics.ts` those to a broker.
 */

import { Malformed, Reader, Writer, utf8 } from "./bytes.js";
import { isBackward } from "./prefix.js";
import { Fit, fit, methodsOf, readLayout, writeLayout, type AnyService, type Told } from "./service.js";
import { Is, Status, late, notRun } from "./status.js";
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
}

/** What a transport tells of. */
export interface TransportEvents {
  /** Bytes may be sent. */
  open(): void;
  /** Bytes have come, with whatever boundaries. They are not changed afterwards. */
  data(bytes: Uint8Array): void;
  /** There will be no more. */
  close(reason: string): void;
}

/** Begins to connect. */
export type Dial = (events: TransportEvents) => Transport;

/** A call in flight. */
export interface InFlight {
  id: number;
  readonly operation: number;
  /** When it ends if it has no reply, by the clock of `performance`. */
  readonly until: number;
  /** It is over, and its slot stays taken until the reply has come. */
  isOver: boolean;
  reply(body: Uint8Array): void;
  /** The connection is gone and the call may have run. */
  lost(status: Status): void;
  /** It has failed. */
  over(status: Status): void;
}

/** The owner of a connection. */
export interface Owner {
  /** It takes no new calls. */
  left(link: Link, reason: string): void;
  /** There may be room for calls and streams that wait. */
  room(link: Link): void;
}

/** Serves calls of the server. */
export interface Serving {
  readonly services: readonly AnyService[];
  request(link: Link, id: number, operation: number, body: Uint8Array): void;
  /** Throws a `Status` if the stream is refused. */
  open(link: Link, id: number, body: Uint8Array): void;
  cancel(link: Link, id: number, operation: number): void;
  /** The number of calls and streams in progress. */
  busy(link: Link): number;
  down(link: Link): void;
}

/** Takes the packets of a range of operations. */
export interface Mount {
  packet(link: Link, id: number, operation: number, body: Uint8Array): void;
  down(link: Link, status: Status): void;
}

const BODY_MAX = 5 << 20;
/** What every end accepts. */
const BODY_MAX_LEAST = 1024;
/** The longest HELLO. */
const HELLO_MAX = 64 << 10;
const HEADER = 10;
/** How many calls may be in flight: ids are a slot and two bits that tell a call from those before in its slot. */
const CALLS_MAX = 1 << 14;
/** How many calls may be given up and not answered before the connection is replaced. */
const GIVEN_UP_MAX = CALLS_MAX / 2;
/** How many streams and calls the server may have in progress here. */
export const SERVED_MAX = 256;
/** The bytes of a stream that may be unread. The same as in Rust. */
export const WINDOW = 256 << 10;
/** How many packets that belong to nothing are taken. The same as in Rust. */
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
/** The longest time that a timer can be set to. */
const TIMER_MAX = 0x7fff_ffff;

export const after = (ms: number, run: () => void): ReturnType<typeof setTimeout> => setTimeout(run, Math.min(Math.max(0, ms), TIMER_MAX));

export class Link {
  /** The server's limits. */
  bodyMax = BODY_MAX;
  streamsMax = Infinity;
  credit = 0;
  /** The number of streams that this end has open. */
  opened = 0;
  isUp = false;
  isClosed = false;
  /** No new calls are made on it. */
  isLeft = false;
  readonly out = new Writer(16 << 10);
  readonly streams = new Map<number, Stream>();
  /** The layouts that the server has named to offer, and those that it has named to call. */
  readonly offered: Told[] = [];
  readonly calling: Told[] = [];

  private readonly transport: Transport;
  private callsMax = CALLS_MAX;
  private readonly slots: (InFlight | undefined)[] = [];
  private readonly free: number[] = [];
  private readonly ids: number[] = [];
  private inFlight = 0;
  private givenUp = 0;
  private lastStream = 0;
  /** The last stream that the server has opened. */
  private theirStream = 0x7fff;
  private readonly known = new Map<AnyService, Fit>();
  /** Bytes of a frame that is not complete, and how many it needs. */
  private partial: Writer | undefined;
  private need = HEADER;
  private waste = 0;
  private flushing = false;
  private seen = 0;
  private pong = false;
  private heard = false;
  private sent = false;
  private silent = 0;
  private beat: ReturnType<typeof setInterval> | undefined;
  private setup: ReturnType<typeof setTimeout>;
  private alarm: ReturnType<typeof setTimeout> | undefined;
  private alarmAt = Infinity;

  constructor(
    dial: Dial,
    private readonly owner: Owner,
    private readonly named: readonly AnyService[],
    private readonly serving: Serving | undefined,
    private readonly mounts: readonly Mount[],
  ) {
    this.setup = after(UP_WITHIN, () => this.fail("no HELLO in time"));
    this.transport = dial({
      open: () => {
        this.hello();
        this.flush();
        this.beat = setInterval(() => this.tick(), BEAT);
      },
      data: (bytes) => this.data(bytes),
      close: (reason) => this.closed(reason),
    });
  }

  // Packets that leave.

  /** Sends a packet. If its body cannot be written, or is too long, nothing of it is left, and this throws. */
  write(id: number, operation: number, put?: (to: Writer) => void): void {
    const { out } = this;
    const { at } = out;
    try {
      for (const half of [15, id, operation, 0, 0]) out.half(half);
      put?.(out);
      const end = out.at;
      const length = end - at - HEADER;
      if (length > this.bodyMax) throw notRun(Is.RESOURCE_EXHAUSTED, `the message has ${length} bytes, and the server accepts ${this.bodyMax}`);
      out.at = at + 6;
      out.half(length >>> 16);
      out.half(length);
      out.at = end;
    } catch (error) {
      out.at = at;
      throw error;
    }
    if (out.at > FLUSH_AT) this.flush();
    else if (!this.flushing) {
      this.flushing = true;
      this.seen = 0;
      queueMicrotask(this.settle);
    }
  }

  /** Sends a packet whose body is a number. */
  number(id: number, operation: number, value: number): void {
    this.write(id, operation, (to) => to.varint(value));
  }

  /** Writes once all that is to be written in this turn has been: each caller that is woken may add its request. */
  private readonly settle = (): void => {
    if (this.out.at !== this.seen) {
      this.seen = this.out.at;
      queueMicrotask(this.settle);
    } else {
      this.flushing = false;
      this.flush();
    }
  };

  private flush(): void {
    const { out } = this;
    if (!out.at) return;
    this.pong = false;
    this.sent = true;
    if (!this.isClosed) this.transport.send(out.done());
    out.at = 0;
    this.seen = 0;
    if (out.bytes.length > 1 << 20) out.bytes = new Uint8Array(16 << 10);
    if (this.transport.buffered() > UNSENT_MAX) this.fail("the server does not take what is sent");
  }

  private hello(): void {
    this.write(0, Op.Hello, (to) => {
      to.raw(utf8("fris\x01"));
      const most = this.serving ? SERVED_MAX : 0;
      [BODY_MAX, most, most, WINDOW].forEach((value, at) => to.item(at + 1, (item) => item.varint(value)));
      for (const service of this.serving?.services ?? []) to.item(32, (item) => writeLayout(item, service));
      for (const service of this.named) to.item(33, (item) => writeLayout(item, service));
    });
    this.write(1, Op.Ping);
  }

  // Signs of life. They are counted and not timed: the timers of a page in the background come late.

  private tick(): void {
    this.silent = this.heard ? 0 : this.silent + 1;
    if (this.silent >= SILENT_BEATS) return this.fail("the server is silent");
    if (!this.heard || !this.sent) this.write(0, Op.Ping);
    this.heard = this.sent = false;
  }

  // Packets that come.

  private data(bytes: Uint8Array): void {
    if (this.isClosed) return;
    this.heard = true;
    const { partial } = this;
    if (partial) {
      // It grows with what has come, not with what was promised.
      partial.raw(bytes);
      if (partial.at < this.need) return;
      bytes = partial.done();
      this.partial = undefined;
    }
    try {
      const at = this.packets(bytes);
      if (at < bytes.length) {
        this.partial = new Writer(bytes.length - at);
        this.partial.raw(bytes.subarray(at));
      }
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      this.fail(`the server broke the protocol: ${error.message}`);
    }
  }

  /** Takes all packets that are complete, and returns where the next begins. */
  private packets(bytes: Uint8Array): number {
    let at = 0;
    this.need = HEADER;
    const half = (offset: number): number => ((bytes[at + offset] as number) << 8) | (bytes[at + offset + 1] as number);
    while (bytes.length - at >= HEADER && !this.isClosed) {
      if (half(0) !== 15) throw new Malformed("a header without its magic");
      const length = half(6) * 0x1_0000 + half(8);
      // Before anything is kept for it.
      if (length > BODY_MAX) throw new Malformed(`a packet of ${length} bytes`);
      const end = at + HEADER + length;
      if (end > bytes.length) {
        this.need = end - at;
        break;
      }
      this.handle(half(2), half(4), bytes.subarray(at + HEADER, end));
      at = end;
    }
    return at;
  }

  private handle(id: number, operation: number, body: Uint8Array): void {
    const from = new Reader(body);
    const stream = this.streams.get(id);
    if (operation >= 10) {
      if (!this.isUp) throw new Malformed("a packet before HELLO");
      if (isBackward(body)) return this.serving ? this.serving.request(this, id, operation, body) : this.wasted();
      const call = this.slots[id & (CALLS_MAX - 1)];
      if (call?.id === id && call.operation === operation) {
        if (call.isOver) this.givenUp--;
        this.release(id);
        return call.reply(body);
      }
      if (operation >= 0xff00 && this.mounts.length) return this.mounts.forEach((mount) => mount.packet(this, id, operation, body));
    } else if (operation < Op.Stream) {
      if (body.length) throw new Malformed("a PING or PONG with a body");
      if (operation === Op.Pong) {
        if (!this.isUp) this.fail("the server is a plain peer");
      } else if (!this.pong) {
        // Several PINGs before it can leave have one answer.
        this.pong = true;
        this.write(0, Op.Pong);
      }
      return;
    } else if (operation === Op.Hello && !this.isUp) return this.greeted(from);
    else if (operation === Op.Stream) return stream ? stream.received(body) : this.opening(id, body);
    else if (operation === Op.GoingAway) return this.leave();
    else if (operation === Op.Cancel) return this.serving?.cancel(this, id, from.varint());
    else if (operation === Op.HandOff) throw new Malformed("an answer to no hand-off");
    else if (operation === Op.Credit && stream) return stream.credited(from.varint(10));
    else if (operation === Op.End && stream) return body.length ? stream.wasReset(from) : stream.ended();
    this.wasted();
  }

  /** Counts a packet that belongs to nothing. */
  private wasted(): void {
    if (++this.waste > WASTE_MAX) this.fail("too many packets that belong to nothing");
  }

  private greeted(from: Reader): void {
    if (from.left > HELLO_MAX || from.text(4) !== "fris" || !from.byte()) throw new Malformed("it sent no HELLO");
    while (from.left) {
      const type = from.byte();
      const item = new Reader(from.view());
      if (type === 1) this.bodyMax = Math.max(item.varint(), BODY_MAX_LEAST);
      else if (type === 2) this.streamsMax = item.varint();
      else if (type === 3) this.callsMax = Math.min(item.varint(), CALLS_MAX);
      else if (type === 4) this.credit = item.varint();
      else if (type === 32 || type === 33) {
        try {
          (type === 32 ? this.offered : this.calling).push(readLayout(item));
        } catch {
          // An item of another form says nothing.
        }
      }
    }
    this.isUp = true;
    clearTimeout(this.setup);
    this.owner.room(this);
  }

  /** The server opens a stream, or a message has crossed the end of its stream. */
  private opening(id: number, body: Uint8Array): void {
    const ahead = (id - this.theirStream) & 0x7fff;
    if (id < 0x8000 || !ahead || ahead > 0x4000) return this.wasted();
    this.theirStream = id;
    try {
      if (!this.serving) throw notRun(Is.UNIMPLEMENTED, "this end serves nothing");
      this.serving.open(this, id, body);
    } catch (error) {
      // That no message was given to a handler.
      this.number(id, Op.Credit, 0);
      this.reset(id, Status.from(error));
    }
  }

  /** Resets a stream. */
  reset(id: number, { code, message }: Status): void {
    if (this.isClosed) return;
    this.write(id, Op.End, (to) => {
      to.varint(code);
      to.raw(utf8(message.slice(0, 256)));
    });
  }

  // Calls and streams of this end.

  /**
   * How the server's layout of a service fits: `undefined` if the server has to be told of this end's first, since it is
   * another one that HELLO has not named. Throws a `Status` if the service cannot be called.
   */
  fits(service: AnyService): Fit | undefined {
    let how = this.known.get(service);
    if (how !== undefined) return how;
    const theirs = this.offered.find((told) => told.service === service.name);
    if (theirs) {
      if (theirs.fingerprint !== service.fingerprint && !this.named.includes(service)) return;
      how = fit(service, theirs);
    } else {
      const operations = methodsOf(service).map(({ operation }) => operation);
      const other = this.offered.find((told) => told.operations.some((operation) => operations.includes(operation)));
      if (other) throw notRun(Is.UNIMPLEMENTED, `the server has ${other.service} in the place of ${service.name}`);
      how = Fit.Whole;
    }
    this.known.set(service, how);
    return how;
  }

  /** Enters a call and returns its id, or -1 if there is no room. */
  enter(call: InFlight): number {
    if (this.inFlight >= this.callsMax) return -1;
    this.inFlight++;
    const slot = this.free.pop() ?? this.slots.length;
    const id = ((this.ids[slot] ?? slot) + CALLS_MAX) & 0xffff;
    this.ids[slot] = id;
    this.slots[slot] = call;
    if (call.until < this.alarmAt) this.wake(call.until);
    return id;
  }

  /** Takes back a call that was entered and not sent, or has been answered. */
  release(id: number): void {
    const slot = id & (CALLS_MAX - 1);
    this.slots[slot] = undefined;
    this.free.push(slot);
    this.inFlight--;
    if (this.inFlight === this.callsMax - 1) this.owner.room(this);
    this.closeIfIdle();
  }

  /** Gives a call up. */
  cancel(call: InFlight): void {
    const slot = call.id & (CALLS_MAX - 1);
    if (this.slots[slot] !== call || call.isOver || this.isClosed) return;
    call.isOver = true;
    this.number(call.id, Op.Cancel, call.operation);
    if (++this.givenUp >= GIVEN_UP_MAX) this.leave();
    this.closeIfIdle();
  }

  /** The id for a new stream, or -1 if there is no room. */
  streamId(): number {
    if (this.opened >= Math.min(this.streamsMax, 0x7000)) return -1;
    do this.lastStream = (this.lastStream % 0x7fff) + 1;
    while (this.streams.has(this.lastStream));
    this.opened++;
    return this.lastStream;
  }

  /** A stream is over. */
  over(stream: Stream): void {
    if (this.streams.get(stream.id) !== stream) return;
    this.streams.delete(stream.id);
    if (stream.id < 0x8000) {
      this.opened--;
      this.owner.room(this);
    }
    this.closeIfIdle();
  }

  private wake(at: number): void {
    clearTimeout(this.alarm);
    this.alarmAt = at;
    this.alarm = after(at - performance.now(), () => this.expire());
  }

  /** Ends the calls whose time has come. */
  private expire(): void {
    const now = performance.now();
    let next = (this.alarmAt = Infinity);
    for (const call of this.slots) {
      if (!call || call.isOver) continue;
      if (call.until <= now) {
        this.cancel(call);
        call.over(late());
      } else next = Math.min(next, call.until);
    }
    if (next < this.alarmAt) this.wake(next);
  }

  // The end.

  /** Makes no new calls on it, and closes it when those in progress have ended. */
  leave(): void {
    if (this.isLeft) return;
    this.isLeft = true;
    this.owner.left(this, "the server is going away");
    this.closeIfIdle();
  }

  closeIfIdle(): void {
    if (this.isLeft && this.inFlight === this.givenUp && !this.streams.size && !this.serving?.busy(this)) {
      queueMicrotask(() => this.fail("the server is going away"));
    }
  }

  /** Closes the connection. */
  fail(reason: string): void {
    if (this.isClosed) return;
    this.flush();
    this.transport.close();
    this.closed(reason);
  }

  private closed(reason: string): void {
    if (this.isClosed) return;
    this.isClosed = true;
    clearInterval(this.beat);
    clearTimeout(this.setup);
    clearTimeout(this.alarm);
    this.owner.left(this, reason);
    const status = new Status(Is.UNAVAILABLE, `the connection was lost: ${reason}`);
    for (const call of this.slots) call?.lost(status);
    for (const stream of [...this.streams.values()]) stream.lost(status);
    this.serving?.down(this);
    for (const mount of this.mounts) mount.down(this, status);
  }
}
