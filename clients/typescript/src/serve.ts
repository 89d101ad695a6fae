/**
 * Calls of the server to this end. `channel.ts` owns those to the server.
 */

import { Malformed, Reader, type Writer } from "./bytes.js";
import { read, write } from "./codec.js";
import { SERVED_MAX, after, type Link, type Serving } from "./link.js";
import { readPrefix, writePrefix, writeStatus, type Prefix } from "./prefix.js";
import { Fit, fit, methodsOf, missing, type AnyService, type Handlers, type Method, type ServerCall, type Source } from "./service.js";
import { Is, Status, givenUp, late, notRun } from "./status.js";
import { Stream } from "./stream.js";

type AnyHandler = (request: unknown, call: ServerCall) => unknown;

interface Served {
  readonly service: AnyService;
  readonly method: Method<unknown, unknown>;
  readonly handler: AnyHandler;
}

/** Calls in progress on a connection: what ends those that wait no longer, by id. */
type InProgress = Map<number, { readonly operation: number; readonly stop: (status: Status) => void }>;

/** What a handler is told, and the end of that. */
interface Begun {
  readonly call: ServerCall;
  readonly end: (abort?: boolean) => boolean;
}

/** Serves services to the server at the other end: the value of a channel's option `serve`. */
export function serve<S extends AnyService>(service: S, handlers: Handlers<S>, also?: Serving): Serving {
  return new Server(service, handlers as Readonly<Record<string, AnyHandler>>, also as Server | undefined);
}

class Server implements Serving {
  readonly services: readonly AnyService[];
  private readonly methods: Map<number, Served>;
  private readonly progress = new WeakMap<Link, InProgress>();

  constructor(service: AnyService, handlers: Readonly<Record<string, AnyHandler>>, also: Server | undefined) {
    this.services = [...(also?.services ?? []), service];
    this.methods = new Map(also?.methods);
    const names = Object.keys(service.methods);
    methodsOf(service).forEach((method, at) => {
      const name = names[at] as string;
      const handler: AnyHandler = (request, call) => (handlers[name] as AnyHandler)(request, call);
      this.methods.set(method.operation, { service, method, handler });
    });
  }

  request(link: Link, id: number, operation: number, body: Uint8Array): void {
    const answer = (put: (to: Writer) => void): void => {
      if (link.isClosed) return;
      try {
        link.write(id, operation, put);
      } catch (error) {
        link.write(id, operation, (to) => writeStatus(to, Status.from(error), true));
      }
    };
    const fail = (error: unknown): void => answer((to) => writeStatus(to, Status.from(error), true));
    try {
      const from = new Reader(body);
      const prefix = readPrefix(from);
      const { method, handler, left } = this.find(link, operation, false);
      const request = read(from, method.request, left);
      const { call, end } = this.begin(link, id, operation, prefix, fail);
      // A handler that throws at once fails like any other.
      void new Promise((resolve) => resolve(handler(request, call))).then(
        (reply) => {
          if (!end()) return;
          answer((to) => {
            writePrefix(to, { backward: true });
            write(to, method.reply, reply as object);
          });
        },
        (error: unknown) => end() && fail(error),
      );
    } catch (error) {
      fail(refusal(error));
    }
  }

  open(link: Link, id: number, body: Uint8Array): void {
    const from = new Reader(body);
    const prefix = readPrefix(from);
    if (from.byte() !== 9) throw new Malformed("a stream begins with no operation");
    const operation = from.varint(3);
    const { method, handler, left } = this.find(link, operation, true);
    // Apart from the ids of calls.
    const { call, end } = this.begin(link, id + 0x1_0000, operation, prefix, (status) => stream.fail(status));
    const stream: Stream = new Stream(method.reply, method.request, () => end(true));
    stream.begin(link, id, left);
    void (async () => {
      try {
        let request: unknown = stream;
        if (!method.sends) {
          const first = await stream.next();
          if (first.done) throw notRun(Is.INVALID_ARGUMENT, "there was no request");
          request = first.value;
        }
        const replies = handler(request, call);
        if (method.receives) await stream.pump(replies as Source<object>, true);
        else {
          stream.send((await replies) as object);
          stream.finish();
        }
      } catch (error) {
        stream.send(Status.from(error));
      }
      if (!stream.isOver) stream.discard();
    })();
  }

  /** The method of an operation, and how many fields at the end of its requests may be missing. Throws a refusal. */
  private find(link: Link, operation: number, isStream: boolean): Served & { readonly left: number } {
    const served = this.methods.get(operation);
    if (!served || !(served.method.sends || served.method.receives) === isStream) throw notRun(Is.UNIMPLEMENTED, `there is no operation ${operation} here`);
    if (this.busy(link) >= SERVED_MAX) throw notRun(Is.RESOURCE_EXHAUSTED, "too many calls are in progress");
    const { service, method } = served;
    const theirs = link.calling.find((told) => told.service === service.name);
    return { ...served, left: missing(method, theirs ? fit(service, theirs) : Fit.Whole, 0) };
  }

  /**
   * Enters a call. What ends it returns whether it was in progress until then, and tells its handler if nobody waits for
   * it. `fail` is called if that is so before its end.
   */
  private begin(link: Link, key: number, operation: number, { timeout, metadata }: Prefix, fail: (status: Status) => void): Begun {
    const controller = new AbortController();
    const calls = this.of(link);
    const end = (abort = false): boolean => {
      clearTimeout(timer);
      if (abort) controller.abort();
      const was = calls.delete(key);
      link.closeIfIdle();
      return was;
    };
    const stop = (status: Status): void => {
      fail(status);
      end(true);
    };
    const timer = timeout === undefined ? undefined : after(timeout, () => stop(late()));
    calls.set(key, { operation, stop });
    return { call: { signal: controller.signal, metadata }, end };
  }

  cancel(link: Link, id: number, operation: number): void {
    const call = this.of(link).get(id);
    if (call?.operation === operation) call.stop(givenUp());
  }

  busy(link: Link): number {
    return this.of(link).size;
  }

  down(link: Link): void {
    for (const { stop } of [...this.of(link).values()]) stop(new Status(Is.UNAVAILABLE, "the connection was lost"));
  }

  private of(link: Link): InProgress {
    let calls = this.progress.get(link);
    if (!calls) this.progress.set(link, (calls = new Map()));
    return calls;
  }
}

const refusal = (error: unknown): Status =>
  error instanceof Malformed ? notRun(Is.INVALID_ARGUMENT, `the request cannot be read: ${error.message}`) : Status.from(error);
