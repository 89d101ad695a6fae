/**
 * Calls of the server to this end. `channel.ts` owns those to the server.
 */

import { Malformed, expect, malformed, reader, takeVarint } from "./bytes.js";
import { read, write, type Init } from "./codec.js";
import { SERVED_MAX, after, type Serving } from "./link.js";
import { readPrefix, writeStatus } from "./prefix.js";
import { Fit, fit, missing, type AnyService, type Handlers, type Method, type ServerCall, type Source } from "./service.js";
import { Is, Status, givenUp, late, mayHaveRun, notRun, textOf } from "./status.js";
import { stream, type Stream } from "./stream.js";

type AnyHandler = (request: unknown, call: ServerCall) => unknown;

interface Served {
  readonly service: AnyService;
  readonly method: Method<unknown, unknown>;
  readonly handler: AnyHandler;
}

/** Serves services to the server at the other end: the value of a channel's option `serve`. */
export function serve<S extends AnyService>(service: S, handlers: Handlers<S>, also?: Serving): Serving {
  const methods = new Map((also as Server | undefined)?.methods);
  for (const [name, method] of Object.entries(service.methods) as [string, Method<unknown, unknown>][]) {
    methods.set(method.operation, { service, method, handler: (request, call) => (handlers as Record<string, AnyHandler>)[name]?.(request, call) });
  }
  return {
    services: [...(also?.services ?? []), service],
    methods,
    on(link, named) {
      /** The calls in progress, as the functions that end them with a failure, which their callers receive. */
      const progress = new Map<number, (status: Status) => void>();
      /** The handlers that run, also of calls that have ended: nothing but itself ends a handler. */
      let running = 0;

      /** The method of an operation, and how many fields at the end of its requests may be missing. Throws a refusal. */
      const find = (operation: number, isStream: boolean): Served & { readonly left: number } => {
        const served = methods.get(operation);
        if (!served || !(served.method.sends || served.method.receives) === isStream) throw notRun(Is.UNIMPLEMENTED, `unknown operation ${operation}`);
        if (progress.size >= SERVED_MAX || running >= SERVED_MAX) throw notRun(Is.RESOURCE_EXHAUSTED, "too many calls are in progress");
        const { service, method } = served;
        const theirs = named.get(service.name);
        return { ...served, left: missing(method, theirs ? fit(service, theirs) : Fit.Whole, 0) };
      };

      return {
        progress,
        packet(id, operation, body, isStream) {
          let method: Served["method"];
          const answer = (reply: unknown): void => link.write(id, operation, (to) => {
            if (reply instanceof Status) writeStatus(to, reply);
            else write(to, method.reply, reply as object);
          });
          const key = isStream ? id : keyOf(id, operation);
          // Its reply would be taken for that of the first call, which would not count any more.
          if (progress.has(key)) malformed("a request with the id of another");
          try {
            const from = reader(body);
            const { timeout, metadata } = readPrefix(from, true);
            if (isStream) {
              expect(from, 9);
              operation = takeVarint(from, 3);
            }
            const found = find(operation, isStream);
            ({ method } = found);
            const request = isStream || read(from, method.request, found.left);
            const controller = new AbortController();
            // Its id may be that of another call then.
            let isOver = false;
            /** Ends it on this end, and aborts its handler unless that has replied. */
            const end = (hasReplied: boolean): void => {
              if (isOver) return;
              isOver = true;
              clearTimeout(timer);
              if (!hasReplied) controller.abort();
              progress.delete(key);
              link.closeIfIdle();
            };
            const replies: Replying = isStream ? stream(method.reply, method.request, false, () => end(false)) : {
              send(reply) {
                if (isOver) return;
                answer(reply);
                end(true);
              },
              fail: answer,
              finish() {},
              discard() {},
            };
            const stop = (status: Status): void => {
              replies.fail(status);
              end(false);
            };
            const timer = timeout === undefined ? undefined : after(timeout, () => stop(late(true)));
            progress.set(key, stop);
            if (isStream) link.accept(replies as Stream, id, found.left);
            running++;
            void answering(found, isStream, request, replies, { signal: controller.signal, metadata }).finally(() => running--);
          } catch (error) {
            const status = error instanceof Malformed ? notRun(Is.INVALID_ARGUMENT, `malformed request: ${error.message}`) : Status.from(error);
            if (isStream) link.refuse(id, status);
            else answer(status);
          }
        },
        cancel(id, operation) {
          progress.get(keyOf(id, operation))?.(givenUp(true));
        },
        down(status) {
          for (const stop of progress.values()) stop(status);
        },
      };
    },
  } as Server;
}

interface Server extends Serving {
  readonly methods: ReadonlyMap<number, Served>;
}

/** The key of a call: ids count within an operation, apart from those of streams. */
const keyOf = (id: number, operation: number): number => operation * 0x1_0000 + id;

/** The destination of the replies of a call: a stream, or for a single reply part of its interface. */
type Replying = Pick<Stream<unknown>, "send" | "fail" | "finish" | "discard"> & Partial<Stream<unknown>>;

/** Runs a handler, and sends its replies. */
async function answering({ method, handler }: Served, isStream: boolean, request: unknown, replies: Replying, call: ServerCall): Promise<void> {
  let hasRun = false;
  try {
    if (method.sends) request = replies.messages;
    else if (isStream) {
      const first = await (replies as Stream).messages.next();
      if (first.done) throw notRun(Is.INVALID_ARGUMENT, "no request");
      request = first.value;
    }
    hasRun = true;
    const answer = handler(request, call);
    if (method.receives) await replies.pump?.(answer as Source<Init<unknown>>);
    else {
      replies.send((await answer) as Init<unknown>);
      replies.finish();
    }
  } catch (error) {
    try {
      replies.send(hasRun ? mayHaveRun(error) : Status.from(error));
    } catch (error) {
      replies.send(new Status(Is.INTERNAL, textOf(error)));
    }
  }
  replies.discard();
}
