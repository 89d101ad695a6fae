/** Services and methods as declared by generated code, and the layouts that peers exchange in HELLO. */

import { malformed, remaining, putByte, putHex, putText, putVarint, takeHex, takeText, takeVarint, type Cursor } from "./bytes.js";
import type { Init, Type } from "./codec.js";
import type { Metadata } from "./status.js";

/** A method of a service, as declared by generated code. */
export interface Method<A, B> {
  readonly operation: number;
  readonly request: Type<A>;
  readonly reply: Type<B>;
  /** Whether the client sends a stream of requests. */
  readonly sends?: boolean;
  /** Whether the server sends a stream of replies. */
  readonly receives?: boolean;
  /** Whether a call may be retried after the server may have run it. */
  readonly idempotent?: boolean;
}

/** The kinds of methods. They determine the types of handlers. */
export interface Unary<A, B> extends Method<A, B> {
  readonly sends?: never;
  readonly receives?: never;
}
export interface ServerStreaming<A, B> extends Method<A, B> {
  readonly sends?: never;
  readonly receives: true;
}
export interface ClientStreaming<A, B> extends Method<A, B> {
  readonly sends: true;
  readonly receives?: never;
}
export interface TwoWay<A, B> extends Method<A, B> {
  readonly sends: true;
  readonly receives: true;
}

/** Any method, for code that does not access messages. */
export type AnyMethod = Method<never, unknown> | Method<unknown, unknown>;

/** A service with its methods and its layout. */
export interface Service<M = Readonly<Record<string, Method<unknown, unknown>>>> {
  readonly name: string;
  /** Fingerprint of the service's layout, as 32 hexadecimal digits. */
  readonly fingerprint: string;
  /**
   * Description of the layout, in base64. A server with another version of the schema uses it to translate messages.
   * Empty if there is none.
   */
  readonly layout: string;
  readonly methods: M;
  /** Operations of the methods, in ascending order. @internal */
  readonly operations: readonly number[];
}

export type AnyService = Service<object>;

/** Creates a service. For generated code. */
export const service = <M>(name: string, fingerprint: string, layout: string, methods: M): Service<M> => ({
  name, fingerprint, layout, methods, operations: Object.values(methods as object).map(({ operation }: AnyMethod) => operation).sort((a, b) => a - b),
});

/** Context of a call, passed to its handler. */
export interface ServerCall {
  /**
   * Aborted when the caller cancels the call, its deadline passes or the connection is lost. A handler that continues
   * still counts towards the limit of 256 running handlers per connection.
   */
  readonly signal: AbortSignal;
  readonly metadata: Metadata;
}

/** A source of messages for a stream. */
export type Source<T> = AsyncIterable<T> | Iterable<T>;

type Handler<M> =
  M extends Unary<infer A, infer B> ? (request: A, call: ServerCall) => Init<B> | PromiseLike<Init<B>>
  : M extends ServerStreaming<infer A, infer B> ? (request: A, call: ServerCall) => Source<Init<B>>
  : M extends ClientStreaming<infer A, infer B> ? (requests: AsyncIterable<A>, call: ServerCall) => Init<B> | PromiseLike<Init<B>>
  : M extends TwoWay<infer A, infer B> ? (requests: AsyncIterable<A>, call: ServerCall) => Source<Init<B>>
  : never;

/** The handlers of a service: `Handlers<typeof Greeter>`. */
export type Handlers<S> = S extends Service<infer M> ? { readonly [K in keyof M]: Handler<M[K]> } : never;

/** A layout announced by a peer in HELLO. */
export type PeerLayout = { readonly fingerprint: string; readonly operations: readonly number[] };

/** Writes a service as an item of HELLO or the body of CALLS. */
export function putService(to: Cursor, of: AnyService): void {
  putText(to, of.name);
  putHex(to, of.fingerprint);
  let last = 0;
  for (const operation of of.operations) {
    putVarint(to, operation - last);
    last = operation;
  }
}

/** Maximum length of a description in bytes. */
const LAYOUT_MAX = 64 << 10;

/** Writes the description of a layout, or the fingerprint alone if there is no description or it is too long. */
export function putLayout(to: Cursor, fingerprint: string, layout = ""): void {
  const description = atob(layout);
  if (description && description.length <= LAYOUT_MAX) {
    for (const byte of description) putByte(to, byte.charCodeAt(0));
  } else {
    putByte(to, 0);
    putHex(to, fingerprint);
  }
}

/** Reads the name and the layout of a service from an item of HELLO. Throws if the item is malformed. */
export function takeService(from: Cursor): [name: string, PeerLayout] {
  const name = takeText(from, takeVarint(from, 10));
  const operations: number[] = [];
  const layout = { fingerprint: takeHex(from), operations };
  let last = 0;
  while (remaining(from)) operations.push((last += takeVarint(from, 10)));
  if (last > 0xffff) malformed("a number is too long");
  return [name, layout];
}
