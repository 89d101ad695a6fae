/**
 * Calls of the server to this end. `channel.ts` owns those to the server.
 */

import { Malformed, Reader } from "./bytes.js";
import { read, write } from "./codec.js";
import { SERVED_MAX, after, type Link, type Serving } from "./link.js";
import { readPrefix, writePrefix, writeStatus, type Prefix } from "./prefix.js";
import { Fit, fit, methodsOf, type AnyService, type Handlers, type Method, type ServerCall, type Source } from "./service.js";
import { Is, Status, notRun } from "./status.js";
import { Stream } from "./stream.js";

type AnyHandler = (request: unknown, call: ServerCall) => unknown;

interface Served {
  readonly service: AnyService;
  readonly method: Method<unknown, unknown>;
  readonly handler: AnyHandler;
}

/** Calls in progress on a connection: what ends those that wait no longer, by id. */
type InProgress = Map<number, { readonly operation: number; readonly stop: (status: Status) => void }>;

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
    const served = this.methods.get(operation);
    let isOver = false;
    const answer = (put: () => void): void => {
      if (isOver) return;
      isOver = true;
      this.of(link).delete(id);
      if (link.isClosed) return;
      const at = link.begin(id, operation);
      try {
        put();
        link.finish(at);
      } catch (error) {
        link.out.at = at;
        const again = link.begin(id, operation);
        writeStatus(link.out, Status.from(error), true);
        link.finish(again);
      }
      link.closeIfIdle();
    };
    const fail = (status: Status): void => answer(() => writeStatus(link.out, status, true));
    let prefix: Prefix;
    let request: unknown;
    try {
      if (!served || served.method.sends || served.method.receives) throw notRun(Is.UNIMPLEMENTED, `there is no operation ${operation} here`);
      if (this.of(link).size >= SERVED_MAX) throw notRun(Is.RESOURCE_EXHAUSTED, "too many calls are in progress");
      const from = new Reader(body);
      prefix = readPrefix(from);
      request = read(from, served.method.request, missing(link, served));
    } catch (error) {
      return fail(refusal(error));
    }
    const { call, end } = context(prefix, fail);
    this.of(link).set(id, {
      operation,
      stop: (status) => {
        fail(status);
        end();
      },
    });
    const { handler, method } = served;
    // A handler that throws at once fails like any other.
    void new Promise((resolve) => resolve(handler(request, call))).then(
      (reply) => {
        answer(() => {
          writePrefix(link.out, { backward: true });
          write(link.out, method.reply, reply as object);
        });
        end(false);
      },
      (error: unknown) => {
        fail(Status.from(error));
        end(false);
      },
    );
  }

  open(link: Link, id: number, body: Uint8Array): boolean {
    const from = new Reader(body);
    const prefix = readPrefix(from);
    if (from.byte() !== 9) return false;
    const served = this.methods.get(from.varint(3));
    if (!served || !(served.method.sends || served.method.receives) || this.of(link).size >= SERVED_MAX) return false;
    const { method, handler } = served;
    let left: number;
    try {
      left = missing(link, served);
    } catch {
      return false;
    }
    const key = id + 0x1_0000; // Apart from the ids of calls.
    const { call, end } = context(prefix, (status) => stream.fail(status));
    const stream: Stream = new Stream(method.reply, method.request, () => {
      this.of(link).delete(key);
      end();
      link.closeIfIdle();
    });
    stream.begin(link, id, left);
    this.of(link).set(key, { operation: method.operation, stop: () => end() });
    void (async () => {
      try {
        let request: unknown = stream;
        if (!method.sends) {
          const first = await stream.next();
          if (first.done) return stream.fail(notRun(Is.INVALID_ARGUMENT, "there was no request"));
          request = first.value;
        }
        const replies = handler(request, call);
        if (method.receives) await stream.pump(replies as Source<object>, true);
        else {
          stream.send((await replies) as object);
          stream.finish();
        }
        if (!stream.isOver) stream.discard();
      } catch (error) {
        stream.send(Status.from(error));
        stream.discard();
      }
    })();
    return true;
  }

  cancel(link: Link, id: number, operation: number): void {
    const call = this.of(link).get(id);
    if (call?.operation === operation) call.stop(new Status(Is.CANCELLED, "the caller gave the call up"));
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

/** What a handler is told, and the end of that. */
function context({ timeout, metadata }: Prefix, late: (status: Status) => void): { call: ServerCall; end: (abort?: boolean) => void } {
  const controller = new AbortController();
  const timer =
    timeout === undefined
      ? undefined
      : after(timeout, () => {
          late(new Status(Is.DEADLINE_EXCEEDED, "no answer before the deadline"));
          controller.abort();
        });
  return {
    call: { signal: controller.signal, metadata },
    end: (abort = true) => {
      clearTimeout(timer);
      if (abort) controller.abort();
    },
  };
}

/** How many fields at the end of a request may be missing. */
function missing(link: Link, { service, method }: Served): number {
  const theirs = link.calling.find((told) => told.service === service.name);
  const how = theirs ? fit(service, theirs) : Fit.Whole;
  if (how === Fit.Not) throw notRun(Is.FAILED_PRECONDITION, `incompatible layouts of ${service.name}`);
  return how === Fit.Older ? (method.added?.[0] ?? 0) : 0;
}

const refusal = (error: unknown): Status =>
  error instanceof Malformed ? notRun(Is.INVALID_ARGUMENT, `the request cannot be read: ${error.message}`) : Status.from(error);
