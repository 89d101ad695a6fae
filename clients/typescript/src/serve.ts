/** Handles calls made by the server. `channel.ts` makes calls to the server. */

import { Malformed, expect, malformed, reader, takeVarint } from "./bytes.js";
import { read, write, type Init } from "./codec.js";
import { SERVED_MAX, TEXT_MAX, after, type Serving } from "./link.js";
import { readPrefix, writeStatus } from "./prefix.js";
import type { AnyService, Handlers, Method, ServerCall, Source } from "./service.js";
import { Is, Status, givenUp, late, notRun, textOf, toStatus } from "./status.js";
import { stream, type Stream } from "./stream.js";

/** Time in ms that the caller of a stream has to send its END after the handler has ended. */
const END_WITHIN = 10_000;

type AnyHandler = (request: unknown, call: ServerCall) => unknown;

interface Served {
  readonly method: Method<unknown, unknown>;
  readonly handler: AnyHandler;
}

/**
 * Serves a service to the server at the other end. Pass the result to the channel as the option `serve`. Pass an
 * earlier result as `also` to serve several services.
 */
export function serve<S extends AnyService>(service: S, handlers: Handlers<S>, also?: Serving): Serving {
  const methods = new Map((also as Server | undefined)?.methods);
  for (const [name, method] of Object.entries(service.methods) as [string, Method<unknown, unknown>][]) {
    methods.set(method.operation, { method, handler: (request, call) => (handlers as Record<string, AnyHandler>)[name]?.(request, call) });
  }
  return {
    services: [...(also?.services ?? []), service],
    methods,
    on(link) {
      /** Calls in progress, each with the function that fails it. */
      const progress = new Map<number, (status: Status) => void>();
      /**
       * Number of running handlers. Handlers of ended calls are included, because a handler cannot be stopped from
       * outside.
       */
      let running = 0;

      /** Returns the method of an operation. Throws a status if this end does not serve it. */
      const find = (operation: number, isStream: boolean): Served => {
        const served = methods.get(operation);
        if (!served || !(served.method.sends || served.method.receives) === isStream) throw notRun(Is.UNIMPLEMENTED, `unknown operation ${operation}`);
        if (progress.size >= SERVED_MAX || running >= SERVED_MAX) throw notRun(Is.RESOURCE_EXHAUSTED, "too many calls are in progress");
        return served;
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
          // The peer could not tell the two replies apart, and the first call would no longer be counted.
          if (progress.has(key)) malformed("a request id occurs twice");
          try {
            const from = reader(body);
            const { timeout, metadata } = readPrefix(from, true);
            if (isStream) {
              expect(from, 9);
              operation = takeVarint(from, 3);
            }
            const found = find(operation, isStream);
            // The caller has stopped waiting, so the handler must not run.
            if (timeout === 0) throw notRun(Is.DEADLINE_EXCEEDED, "deadline exceeded");
            ({ method } = found);
            const request = isStream || read(from, method.request);
            const controller = new AbortController();
            // Set when the call has ended. Its id may then belong to another call.
            let isOver = false;
            /** Ends the call at this end. Aborts its handler unless the handler has replied. */
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
              discard() {},
            };
            const stop = (status: Status): void => {
              replies.fail(status);
              end(false);
            };
            let timer: ReturnType<typeof after> | undefined;
            const endWithin = (ms: number): void => {
              clearTimeout(timer);
              timer = after(ms, () => stop(late(1)));
            };
            if (timeout !== undefined) endWithin(timeout);
            progress.set(key, stop);
            if (isStream) link.accept(replies as Stream, id);
            running++;
            void answering(found, isStream, request, replies, { signal: controller.signal, metadata }).finally(() => {
              running--;
              if (!isOver) endWithin(END_WITHIN);
            });
          } catch (error) {
            const status = error instanceof Malformed ? malformedRequest(error) : Status.from(error);
            if (isStream) link.refuse(id, status);
            else answer(status);
          }
        },
        cancel(id, operation) {
          progress.get(keyOf(id, operation))?.(givenUp(1));
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

/** Returns the key of a unary call. Ids are unique per operation, and independent of stream ids. */
const keyOf = (id: number, operation: number): number => operation * 0x1_0000 + id;

/** Returns the status of a call whose request cannot be decoded. */
const malformedRequest = (error: unknown): Status => notRun(Is.INVALID_ARGUMENT, `malformed request: ${textOf(error)}`);

/** Destination of the replies: a stream, or an object with part of its interface for a single reply. */
type Replying = Pick<Stream<unknown>, "send" | "fail" | "discard"> & Partial<Stream<unknown>>;

/** Runs a handler and sends its replies. */
async function answering({ method, handler }: Served, isStream: boolean, request: unknown, replies: Replying, call: ServerCall): Promise<void> {
  let hasRun = false;
  try {
    if (method.sends) request = replies.messages;
    else if (isStream) {
      try {
        const first = await (replies as Stream).messages.next();
        if (first.done) malformed("no request");
        request = first.value;
      } catch (error) {
        throw malformedRequest(error);
      }
    }
    hasRun = true;
    const answer = handler(request, call);
    if (isStream) await replies.pump?.((method.receives ? answer : [await answer]) as Source<Init<unknown>>, method.receives);
    else replies.send((await answer) as Init<unknown>);
  } catch (error) {
    try {
      replies.send(toStatus(error, hasRun));
    } catch (error) {
      replies.send(new Status(Is.INTERNAL, textOf(error).slice(0, TEXT_MAX)));
    }
  }
  replies.discard();
}
