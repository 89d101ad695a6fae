/** Channels make calls to one server. The first call opens the connection, and a lost connection is replaced. */

import { putByte, putVarint, reader, type Cursor } from "./bytes.js";
import { read, write, type Init } from "./codec.js";
import { after, makeLink, type Dial, type InFlight, type Link, type Mount, type Owner, type Serving } from "./link.js";
import { readPrefix, readStatus, writePrefix } from "./prefix.js";
import type { AnyService, Method, Source } from "./service.js";
import { Is, Status, ended, givenUp, late, notRun, toStatus, type Metadata } from "./status.js";
import { stream, unread, type Replies, type Stream } from "./stream.js";
import type { Topics } from "./topics.js";

/** Default timeout of unary calls in ms. The client enforces it, and the server is not informed. */
const TIMEOUT = 30_000;
/** Default time in ms that an unsent call waits for a connection. */
const RECONNECT_TIMEOUT = 5_000;
/**
 * Reconnect backoff in ms: the delay after the first failure, which doubles with each further failure, and its maximum.
 */
const PAUSE_FIRST = 20;
const PAUSE_MAX = 2_000;
/** Maximum number of retries in the budget. Each successful call earns a tenth of a retry. */
const RETRIES_MAX = 10;

/** Settings of a channel. */
export interface ChannelOptions {
  /**
   * Timeout of unary calls in milliseconds, also sent to the server as their deadline. If unset, the client cancels
   * unary calls after 30 s and sends no deadline. A stream must be opened within this time, and a single reply to a
   * request stream must arrive within this time after the last request.
   */
  readonly timeout?: number | undefined;
  /** Maximum time in milliseconds that a call waits for a connection. Defaults to 5 s. */
  readonly reconnectTimeout?: number | undefined;
  /** Metadata added to every call, such as a token. */
  readonly metadata?: Metadata | undefined;
  /** Services that the server may call on this connection, created by `serve`. */
  readonly serve?: Serving | undefined;
  /** Whether to reconnect even if no call is waiting. Set this if the server calls the page. */
  readonly stayConnected?: boolean | undefined;
}

/** Settings of a call. */
export interface CallOptions {
  /** Aborting the signal cancels the call. */
  readonly signal?: AbortSignal | undefined;
  /** The timeout of the call in milliseconds, which is also sent to the server. */
  readonly timeout?: number | undefined;
  readonly metadata?: Metadata | undefined;
  /**
   * Called with the metadata of the reply, if there is any. For a call with a stream of replies, it is called when a
   * server accepts the call.
   */
  readonly onMetadata?: ((metadata: Metadata) => void) | undefined;
}

/** The state of a call of any kind. */
interface Call extends InFlight {
  readonly service: AnyService | undefined;
  readonly method: AnyCalled;
  readonly request: unknown;
  readonly options: CallOptions & Pick<ChannelOptions, "reconnectTimeout">;
  /** The timeout sent to the server, in milliseconds. */
  readonly sentTimeout: number | undefined;
  /** Sends the call on a connection. Returns false if there is no free slot. Throws if the call fails. */
  readonly start: (call: Call, link: Link) => boolean;
  readonly resolve: (reply: never) => void;
  readonly reject: (status: Status) => void;
  readonly abort: (() => void) | undefined;
  /** Number of times that the request was sent and may have reached the server. */
  sent: number;
  /** Time at which the call stops waiting for a connection. */
  reconnectsUntil: number;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** Connection of the unary call, while it is in flight. */
  link: Link | undefined;
}

/** A method. Waiting for a connection is represented as a call of a pseudo-method. */
type AnyCalled = Method<unknown, unknown>;

/** A connection to a server, replaced when it is lost. */
export class Channel {
  /**
   * Registers a service that will be called, so that the first packet on a connection announces its layout. Generated
   * clients call this. It sends nothing until a connection exists.
   */
  readonly name: (service: AnyService) => void;
  /** Makes a unary call. For generated clients. */
  readonly unary: <A, B>(service: AnyService, method: Method<A, B>, request: Init<A>, options?: CallOptions) => Promise<B>;
  /** Makes a server-streaming call. For generated clients. */
  readonly serverStreaming: <A, B>(service: AnyService, method: Method<A, B>, request: Init<A>, options?: CallOptions) => Replies<B>;
  /** Makes a bidirectional streaming call. For generated clients. */
  readonly twoWay: <A, B>(service: AnyService, method: Method<A, B>, requests: Source<Init<A>>, options?: CallOptions) => Replies<B>;
  /** Makes a client-streaming call. For generated clients. */
  readonly clientStreaming: <A, B>(service: AnyService, method: Method<A, B>, requests: Source<Init<A>>, options?: CallOptions) => Promise<B>;
  /** Rejects new calls, fails waiting calls, and closes the connection when all calls in progress have ended. */
  readonly close: () => void;
  /** Handles the packets of a range of operations on all connections. For `mount` and `Topics`. @internal */
  readonly mount: (mount: Mount) => void;
  /**
   * Waits for a connection that accepts data, passes it to `use`, and resolves to it. Rejects if `use` throws, if
   * `signal` is aborted, or after `reconnectTimeout`, which overrides the setting of the channel. For `mount` and
   * `Topics`. @internal
   */
  readonly connected: (use?: (link: Link) => void, reconnectTimeout?: number, signal?: AbortSignal) => Promise<Link>;
  /** The topics of the channel, once they are used. @internal */
  declare topics?: Topics;

  constructor(dial: Dial, { timeout, reconnectTimeout = RECONNECT_TIMEOUT, metadata: common, serve, stayConnected }: ChannelOptions = {}) {
    const limit = timeout ?? TIMEOUT;
    let link: Link | undefined;
    let failures = 0;
    let retries = RETRIES_MAX;
    let dialledAt = 0;
    let pause: ReturnType<typeof setTimeout> | undefined;
    let isClosed = false;
    let failure = "";
    /**
     * Waiting unary calls, waiting streams, and callers of `connected`. They are separate because calls and streams use
     * separate slots, and others need no slot.
     */
    const waiting = [new Set<Call>(), new Set<Call>(), new Set<Call>()] as const;
    const queue = ({ service, method: { sends, receives } }: Call): Set<Call> => waiting[!service ? 2 : sends || receives ? 1 : 0];
    const named = new Set<AnyService>();
    const mounts: Mount[] = [];

    // Functions that open and replace connections.

    const connect = (): void => {
      if (link || pause || isClosed || !(waiting.some(({ size }) => size) || stayConnected)) return;
      dialledAt = performance.now();
      link = makeLink(dial, owner, [...named], serve, mounts);
    };

    const owner: Owner = {
      // Deferred, because this may be called while the link changes its state.
      room: (on) => queueMicrotask(() => {
        for (const calls of waiting) {
          for (const call of calls) {
            if (link !== on || !starts(call, on)) break;
            // Sending may have closed the connection. The call then waits for the next one and must stay in the queue.
            if (link === on) calls.delete(call);
          }
        }
      }),
      // Reconnects after a backoff, unless the connection was long-lived. The backoff is short if the server answered a
      // call on this connection.
      closing(on, reason) {
        if (link !== on) return;
        link = undefined;
        failure = reason;
        // Calls that waited for a free slot now wait for a connection.
        if (on.isUp) for (const calls of waiting) calls.forEach(wait);
        if (on.isUp && performance.now() - dialledAt >= PAUSE_MAX) failures = 0;
        else if (!isClosed) {
          pause = after(Math.random() * Math.min(PAUSE_FIRST * 2 ** Math.min(failures++, 16), PAUSE_MAX), () => {
            pause = undefined;
            connect();
          });
        }
        connect();
      },
      answered: () => void (failures = 0),
      replied(replied, body) {
        const call = replied as Call;
        const { method: { reply }, options: { onMetadata } } = call;
        over(call);
        try {
          const from = reader(body);
          const prefix = readPrefix(from);
          const status = readStatus(from, prefix);
          if (status) throw status;
          if (from.at) onMetadata?.(prefix.metadata);
          call.resolve(read(from, reply) as never);
          if (retries < RETRIES_MAX) retries += 0.1;
        } catch (error) {
          // An earlier attempt may have run.
          call.reject(toStatus(unread(error, reply), call.sent > 1));
        }
      },
      expired: (call) => checkTimers(call as Call),
      lost(call, status) {
        const lost = call as Call;
        lost.link = undefined;
        // One retry covers a lost connection, as in Rust.
        if (!lost.method.idempotent || lost.sent > 1 || retries < 1) return fail(lost, status);
        retries--;
        run(lost);
      },
    };

    // Functions that start, send and end calls.

    /**
     * Sends a call on a connection. Returns false if no slot is free. Returns true if the call was sent or has failed.
     */
    const starts = (call: Call, on: Link): boolean => {
      const { service } = call;
      try {
        if (service) on.announce(service);
        return call.start(call, on) && !!++call.sent;
      } catch (error) {
        fail(call, toStatus(error, call.sent));
        return true;
      }
    };

    /** Sends the call now if the connection has a free slot and no call waits for one, and queues it otherwise. */
    const run = (call: Call): void => {
      const calls = queue(call);
      // Waiting calls of the same kind come first, even if the connection has room already.
      if (link?.isUp && !calls.size && starts(call, link)) return;
      if (isClosed) return fail(call, closed(call.sent));
      calls.add(call);
      connect();
      wait(call);
    };

    /**
     * Starts the timer of a waiting call. The call waits up to `reconnectTimeout` for a connection, and until its
     * deadline for a free slot.
     */
    const wait = (call: Call): void => {
      call.reconnectsUntil = performance.now() + (call.options.reconnectTimeout ?? reconnectTimeout);
      checkTimers(call);
    };

    /** Fails a call whose deadline or reconnect timeout has expired, and restarts the timer of any other call. */
    const checkTimers = (call: Call): void => {
      const { until, sent, reconnectsUntil } = call;
      const now = performance.now();
      const problem = queue(call).has(call) && !link?.isUp && `no connection to the server${failure && `: ${failure}`}`;
      clearTimeout(call.timer);
      if (now >= until) fail(call, late(sent, problem ? `; ${problem}` : ""));
      else if (now >= reconnectsUntil && problem) fail(call, ended(Is.UNAVAILABLE, problem, sent));
      else call.timer = after((now < reconnectsUntil ? Math.min(until, reconnectsUntil) : until) - now, () => checkTimers(call));
    };

    /** Removes a finished call from its queue, and releases its timer and its abort listener. */
    const over = (call: Call): void => {
      queue(call).delete(call);
      clearTimeout(call.timer);
      call.options.signal?.removeEventListener("abort", call.abort as () => void);
    };

    const fail = (call: Call, status: Status): void => {
      over(call);
      call.link?.cancel(call);
      call.reject(status);
    };

    /** Writes the prefix of a request. */
    const prefix = (to: Cursor, { sentTimeout, until, options: { metadata } }: Call): void => {
      if (sentTimeout !== undefined || common || metadata) writePrefix(to, { timeout: sentTimeout && until - performance.now(), metadata: { ...common, ...metadata } });
    };

    const putRequest = (to: Cursor, call: Call): void => {
      prefix(to, call);
      write(to, call.method.request, call.request as Init<unknown>);
    };

    const startUnary = (call: Call, on: Link): boolean => {
      const isSent = on.call(call, putRequest);
      if (isSent) call.link = on;
      return isSent;
    };

    /** Creates a call. `sentTimeout` is sent to the server. Without it, this client alone enforces the default. */
    const begin = (
      service: AnyService | undefined,
      method: AnyCalled,
      request: unknown,
      options: Call["options"],
      sentTimeout: number | undefined,
      start: Call["start"],
      resolve: Call["resolve"],
      reject: Call["reject"],
    ): Call => {
      const { signal } = options;
      const call: Call = {
        id: 0, operation: method.operation, until: performance.now() + +(sentTimeout ?? (service ? limit : Infinity)), isGivenUp: false, sent: 0, reconnectsUntil: Infinity,
        timer: undefined, link: undefined, service, method, request, options, sentTimeout, start, resolve, reject,
        abort: signal && (() => fail(call, givenUp(call.sent))),
      };
      if (isNaN(call.until)) reject(notRun(Is.INVALID_ARGUMENT, "the timeout is not a number"));
      else if (signal?.aborted) call.abort?.();
      else {
        signal?.addEventListener("abort", call.abort as () => void);
        if (sentTimeout !== undefined) checkTimers(call);
        // A call whose timeout has passed already has no timer.
        if (sentTimeout === undefined || call.timer) run(call);
      }
      return call;
    };

    const open = <A, B>(service: AnyService, method: Method<A, B>, requests: Source<Init<A>>, options: CallOptions = {}): Stream<A, B> => {
      let own: Call | undefined;
      const replies = stream(method.request, method.reply, true, () => own && over(own), options.onMetadata);
      own = begin(service, method as AnyCalled, requests, options, options.timeout, (call, on) => {
        // Assigned here too, because the stream may end before `begin` returns.
        own = call;
        const isOpen = on.open(replies as Stream, (to) => {
          prefix(to, call);
          putByte(to, 9);
          putVarint(to, call.operation);
        });
        if (isOpen) {
          const hasDefault = call.sentTimeout === undefined;
          // Suspend the default timeout, because streams may run for a long time. It restarts after the last request
          // if the call has a single reply.
          if (hasDefault) call.until = Infinity;
          void replies.pump(requests, method.sends, () => {
            if (!hasDefault || method.receives) return;
            call.until = performance.now() + limit;
            checkTimers(call);
          });
        }
        return isOpen;
      }, () => {}, replies.fail);
      return replies;
    };

    this.unary = (service, method, request, options = {}) =>
      new Promise((resolve, reject) => void begin(service, method as AnyCalled, request, options, options.timeout ?? timeout, startUnary, resolve, reject));
    this.serverStreaming = (service, method, request, options) => open(service, method, [request], options).messages;
    this.twoWay = (service, method, requests, options) => open(service, method, requests, options).messages;
    this.clientStreaming = async (service, method, requests, options) => {
      const { messages } = open(service, method, requests, options);
      const { done, value } = await messages.next();
      if (done) throw new Status(Is.INTERNAL, "there is no reply");
      void messages.return?.();
      return value;
    };
    this.name = (service) => void named.add(service);
    this.mount = (mount) => void mounts.push(mount);
    this.connected = (use, reconnectTimeout, signal) =>
      new Promise((resolve, reject) => {
        begin(undefined, {} as AnyCalled, undefined, { reconnectTimeout, signal }, undefined, (call, on) => {
          if (on.isFull) return false;
          use?.(on);
          over(call);
          resolve(on);
          return true;
        }, resolve, reject);
      });
    this.close = () => {
      isClosed = true;
      clearTimeout(pause);
      for (const calls of waiting) for (const call of calls) fail(call, closed(call.sent));
      link?.drain();
    };
    if (stayConnected) queueMicrotask(connect);
  }
}

const closed = (sent: number): Status => ended(Is.FAILED_PRECONDITION, "the channel is closed", sent);
