/**
 * Calls, and the connection that they are made on: it is made when it is needed, and replaced when it is lost.
 */

import { Reader } from "./bytes.js";
import { read, write, type Init } from "./codec.js";
import { Link, Op, after, type Dial, type InFlight, type Mount, type Owner, type Serving } from "./link.js";
import { isError, readPrefix, readStatus, writePrefix } from "./prefix.js";
import { Fit, missing, type AnyService, type Method, type Source } from "./service.js";
import { Is, Status, givenUp, notRun, type Metadata } from "./status.js";
import { Stream, unread } from "./stream.js";

/** The default timeout of a unary call, which the server does not learn, in ms. */
const TIMEOUT = 30_000;
/** How long a call that was not sent waits for a connection, in ms. */
const PATIENCE = 5_000;
/** Why calls on a closed channel fail. */
const CLOSED = "not sent: the channel is closed";
/** The longest pause after the first failure to connect, which doubles with each, and its limit, in ms. */
const PAUSE_FIRST = 20;
const PAUSE_MAX = 2_000;
/** How many retries may be saved up. Each successful call earns a tenth of one. */
const RETRIES_MAX = 10;

/** The settings of a channel. */
export interface ChannelOptions {
  /** The default timeout of unary calls in milliseconds, of which the server is told. Default: 30 s, without telling. */
  readonly timeout?: number;
  /** How long a call waits for a connection, in milliseconds. Default: 5 s. */
  readonly patience?: number;
  /** Metadata of every call, such as a token. */
  readonly metadata?: Metadata | undefined;
  /** Calls of the server, made by `serve`. */
  readonly serve?: Serving;
  /** Whether a lost connection is replaced although no call waits for it: for pages that the server calls. */
  readonly stayConnected?: boolean;
}

/** The settings of a call. */
export interface CallOptions {
  /** Gives the call up when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** The time for the call, in milliseconds, of which the server is told. */
  readonly timeout?: number;
  readonly metadata?: Metadata | undefined;
  /** Called with the metadata of the reply, if it has any. */
  readonly onMetadata?: (metadata: Metadata) => void;
}

/** The replies of a call. Leaving a loop over them cancels it. */
export interface Replies<T> extends AsyncIterableIterator<T, undefined> {
  /** The metadata of the reply, once the first message has been read. */
  readonly metadata: Metadata;
}

/** Something that waits for a connection with room for it. */
interface Waiting {
  readonly isOver: boolean;
  /** What it calls. */
  readonly service?: AnyService;
  /** Returns whether there was room. Fails by what it throws. */
  start(link: Link, how: Fit): boolean;
  fail(status: Status): void;
}

/** A connection to a server, and its successors. */
export class Channel {
  private link: Link | undefined;
  private failures = 0;
  private retries = RETRIES_MAX;
  private dialledAt = 0;
  private pause: ReturnType<typeof setTimeout> | undefined;
  private isClosed = false;
  private trouble = "";
  /** What waits, with the timers that end that. */
  private readonly waiting = new Map<Waiting, ReturnType<typeof setTimeout>>();
  private readonly named = new Set<AnyService>();
  private readonly mounts: Mount[] = [];
  private readonly owner: Owner = {
    // Later, since whoever makes room may be in the middle of something.
    room: (link) => queueMicrotask(() => this.drain(link)),
    left: (link, reason) => {
      if (this.link !== link) return;
      this.link = undefined;
      this.judge(link, reason);
    },
  };

  constructor(
    private readonly dial: Dial,
    private readonly options: ChannelOptions = {},
  ) {
    if (options.stayConnected) queueMicrotask(() => this.connect());
  }

  /**
   * Names a service that will be called, so that the server learns its layout with the first packet. Clients do this, and
   * it costs nothing before the connection is made.
   */
  name(service: AnyService): void {
    this.named.add(service);
  }

  /** Takes the packets of a broker on all connections. For `Topics`. @internal */
  mount(mount: Mount): void {
    this.mounts.push(mount);
  }

  /** Waits for a connection, and returns it. For `Topics`. @internal */
  connected(): Promise<Link> {
    return new Promise((resolve, fail) => {
      const start = (link: Link): true => {
        resolve(link);
        return true;
      };
      this.run({ isOver: false, start, fail }, Infinity);
    });
  }

  /** Makes a unary call. For generated clients. */
  unary<A, B>(service: AnyService, method: Method<A, B>, request: Init<A>, options?: CallOptions): Promise<B> {
    return new Promise((resolve, reject) => {
      const call = new UnaryCall(this, service, method, request, this.terms(options), resolve, reject);
      this.run(call, call.until);
    });
  }

  /** Makes a server-streaming call. For generated clients. */
  serverStreaming<A, B>(service: AnyService, method: Method<A, B>, request: Init<A>, options?: CallOptions): Replies<B> {
    return this.twoWay(service, method, [request], options);
  }

  /** Makes a call with streams both ways. For generated clients. */
  twoWay<A, B>(service: AnyService, method: Method<A, B>, requests: Source<Init<A>>, options?: CallOptions): Replies<B> {
    return this.open(service, method, requests, options);
  }

  private open<A, B>(service: AnyService, method: Method<A, B>, requests: Source<Init<A>>, options?: CallOptions): Stream<A, B> {
    // The default timeout is for unary calls: streams may be long.
    return new Opening(this, service, method, requests, { ...this.terms(options), told: options?.timeout }).replies;
  }

  /** Makes a call with streamed requests and one reply. For generated clients. */
  async clientStreaming<A, B>(service: AnyService, method: Method<A, B>, requests: Source<Init<A>>, options?: CallOptions): Promise<B> {
    const replies = this.open(service, method, requests, options);
    const { done, value } = await replies.next();
    if (done) throw new Status(Is.INTERNAL, "there is no reply");
    replies.leave();
    return value;
  }

  /** Makes no more calls, fails those that wait and closes the connection when those in progress have ended. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.pause);
    for (const [waiting, timer] of this.waiting) {
      clearTimeout(timer);
      waiting.fail(notRun(Is.FAILED_PRECONDITION, CLOSED));
    }
    this.waiting.clear();
    this.link?.leave();
  }

  /** Runs something on the connection, at once or as soon as there is one with room for it. @internal */
  run(waiting: Waiting, until: number): void {
    const { link } = this;
    if (link?.isUp && this.starts(waiting, link)) return;
    if (this.isClosed) return waiting.fail(notRun(Is.FAILED_PRECONDITION, CLOSED));
    const patient = performance.now() + (this.options.patience ?? PATIENCE);
    // A call without a connection has patience, and one without room waits for its deadline.
    const look = (): void => {
      const now = performance.now();
      if (now < until && (now < patient || this.link?.isUp)) {
        this.waiting.set(waiting, after((now < patient ? Math.min(until, patient) : until) - now, look));
      } else if (this.waiting.delete(waiting)) waiting.fail(now < until ? this.unreachable() : tooLate());
    };
    this.waiting.set(waiting, undefined as never);
    look();
    this.connect();
  }

  /** Starts something, and returns whether it need not wait any longer. */
  private starts(waiting: Waiting, link: Link): boolean {
    const { isOver, service } = waiting;
    try {
      const how = isOver || !service ? Fit.Whole : link.fits(service);
      if (how !== undefined) return isOver || waiting.start(link, how);
      // Another connection is made that names it.
      this.named.add(service as AnyService);
      this.failures = 0;
      link.leave();
      return false;
    } catch (error) {
      waiting.fail(Status.from(error));
      return true;
    }
  }

  private unreachable(): Status {
    return notRun(Is.UNAVAILABLE, `not sent: there is no connection to the server${this.trouble && `; ${this.trouble}`}`);
  }

  private terms(options: CallOptions | undefined): Terms {
    const { timeout, metadata } = this.options;
    const told = options?.timeout ?? timeout;
    return {
      ...options,
      told,
      timeout: told ?? TIMEOUT,
      metadata: metadata && options?.metadata ? { ...metadata, ...options.metadata } : (options?.metadata ?? metadata),
    };
  }

  /** A call has succeeded. @internal */
  earn(): void {
    if (this.retries < RETRIES_MAX) this.retries += 0.1;
  }

  /** Whether a call that was lost may be made again. @internal */
  spend(): boolean {
    if (this.retries < 1) return false;
    this.retries--;
    return true;
  }

  // Connections.

  private connect(): void {
    if (this.link || this.pause !== undefined || this.isClosed || (!this.waiting.size && !this.options.stayConnected)) return;
    this.dialledAt = performance.now();
    this.link = new Link(this.dial, this.owner, [...this.named], this.options.serve, this.mounts);
  }

  /** The connection takes no more calls. A pause follows unless it has lasted. */
  private judge(link: Link, reason: string): void {
    const lasted = link.isUp && performance.now() - this.dialledAt >= PAUSE_MAX;
    if (lasted) this.failures = 0;
    else {
      this.trouble = reason;
      const longest = Math.min(PAUSE_FIRST * 2 ** Math.min(this.failures++, 16), PAUSE_MAX);
      clearTimeout(this.pause);
      this.pause = after(Math.random() * longest, () => {
        this.pause = undefined;
        this.connect();
      });
    }
    this.connect();
  }

  /** Gives the connection to those that wait, as long as it has room. */
  private drain(link: Link): void {
    for (const [waiting, timer] of this.waiting) {
      if (this.link !== link || !this.starts(waiting, link)) return;
      clearTimeout(timer);
      this.waiting.delete(waiting);
    }
  }
}

/** The settings of a call, with those of its channel. */
interface Terms extends CallOptions {
  /** What the server is told, in milliseconds. */
  readonly told: number | undefined;
  readonly timeout: number;
}

const tooLate = (): Status => notRun(Is.DEADLINE_EXCEEDED, "not sent: the deadline has passed");

class UnaryCall<A, B> implements InFlight, Waiting {
  id = 0;
  isOver = false;
  readonly operation: number;
  readonly until: number;
  private link: Link | undefined;
  private missing = 0;
  /** The status of an attempt that may have run. */
  private before: Status | undefined;

  constructor(
    private readonly channel: Channel,
    readonly service: AnyService,
    private readonly method: Method<A, B>,
    private readonly request: Init<A>,
    private readonly terms: Terms,
    private readonly resolve: (reply: B) => void,
    private readonly reject: (status: Status) => void,
  ) {
    this.operation = method.operation;
    this.until = performance.now() + terms.timeout;
    terms.signal?.addEventListener("abort", this.abort);
  }

  start(link: Link, how: Fit): boolean {
    const { terms, method } = this;
    const { told, metadata } = terms;
    if (terms.signal?.aborted) throw givenUp(false);
    if (terms.timeout <= 0) throw tooLate();
    if ((this.id = link.enter(this)) < 0) return false;
    try {
      link.write(this.id, this.operation, (to) => {
        if (told !== undefined || metadata) writePrefix(to, { timeout: told && this.until - performance.now(), metadata });
        write(to, method.request, this.request);
      });
    } catch (error) {
      link.release(this.id);
      throw error;
    }
    this.missing = missing(method, how, 1);
    this.link = link;
    return true;
  }

  reply(body: Uint8Array): void {
    const { method, terms } = this;
    if (this.isOver) return;
    try {
      const from = new Reader(body);
      const prefix = readPrefix(from);
      if (isError(from)) throw readStatus(from, prefix);
      if (from.at) terms.onMetadata?.(prefix.metadata);
      this.resolve(read(from, method.reply, this.missing));
      this.channel.earn();
      this.end();
    } catch (error) {
      this.over(unread(error, method.reply));
    }
  }

  lost(status: Status): void {
    this.link = undefined;
    if (this.isOver) return;
    if (!this.method.idempotent || !this.channel.spend()) return this.over(status);
    this.before = status;
    this.channel.run(this, this.until);
  }

  fail(status: Status): void {
    this.over(this.before ?? status);
  }

  over(status: Status): void {
    this.reject(status);
    this.end();
  }

  private end(): void {
    this.isOver = true;
    this.terms.signal?.removeEventListener("abort", this.abort);
  }

  private readonly abort = (): void => {
    this.link?.cancel(this);
    this.over(givenUp(this.link !== undefined));
  };
}

/** A call with streams, which waits for a connection before it has one. */
class Opening<A, B> implements Waiting {
  readonly replies: Stream<A, B>;
  private readonly until: number;

  constructor(
    channel: Channel,
    readonly service: AnyService,
    private readonly method: Method<A, B>,
    private readonly requests: Source<Init<A>>,
    private readonly terms: Terms,
  ) {
    const { signal, told } = terms;
    const abort = (): void => this.replies.fail(givenUp(this.replies.isOpen));
    this.replies = new Stream(method.request, method.reply, () => signal?.removeEventListener("abort", abort));
    this.replies.whenMetadata = terms.onMetadata;
    if (told !== undefined) this.replies.within(told);
    this.until = performance.now() + (told ?? Infinity);
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) abort();
    else channel.run(this, this.until);
  }

  get isOver(): boolean {
    return this.replies.isOver;
  }

  start(link: Link, how: Fit): boolean {
    const { method, replies, terms: { told, metadata } } = this;
    if (!link.streamsMax) throw notRun(Is.UNIMPLEMENTED, "the server does not accept streams");
    const id = link.streamId();
    if (id < 0) return false;
    replies.begin(link, id, missing(method, how, 1));
    link.write(id, Op.Stream, (to) => {
      writePrefix(to, { timeout: told && this.until - performance.now(), metadata });
      to.byte(9);
      to.varint(method.operation);
    });
    void replies.pump(this.requests);
    return true;
  }

  fail(status: Status): void {
    this.replies.fail(status);
  }
}
