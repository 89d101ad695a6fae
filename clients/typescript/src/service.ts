/**
 * Services and methods as generated code states them, and the layouts that two ends exchange. */

import { remaining, putByte, putText, putVarint, takeByte, takeText, takeVarint, type Cursor } from "./bytes.js";
import type { Init, Type } from "./codec.js";
import { Is, notRun, type Metadata } from "./status.js";

/** A method. */
export interface Method<A, B> {
  readonly operation: number;
  readonly request: Type<A>;
  readonly reply: Type<B>;
  /** Whether the client streams. */
  readonly sends?: boolean;
  /** Whether the server streams. */
  readonly receives?: boolean;
  /** Whether the call may be made again if it may have run. */
  readonly idempotent?: boolean;
  /** How many fields at the end of the request and of the reply compatible peers may not know. */
  readonly added?: readonly [number, number];
}

/** The kinds of methods, for the types of handlers. */
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

/** Any method, for code that does not read messages. */
export type AnyMethod = Method<never, unknown> | Method<unknown, unknown>;

/** A service with its layout. */
export interface Service<M = Readonly<Record<string, Method<unknown, unknown>>>> {
  readonly name: string;
  /** Sixteen hexadecimal digits, as in the schema lock. */
  readonly fingerprint: string;
  /** The fingerprints of earlier layouts that this one understands. */
  readonly compatible: readonly string[];
  readonly methods: M;
  /** Those of its methods. @internal */
  readonly operations: readonly number[];
}

export type AnyService = Service<object>;

/** Makes a service. For generated code. */
export const service = <M>(name: string, fingerprint: string, compatible: readonly string[], methods: M): Service<M> => ({
  name, fingerprint, compatible, methods, operations: Object.values(methods as object).map(({ operation }: AnyMethod) => operation),
});

/** The context of a call, for its handler. */
export interface ServerCall {
  /** Aborted when the caller has cancelled, its deadline has passed or the connection was lost. A handler that then continues still
   * counts among the 256 that may run for a connection. */
  readonly signal: AbortSignal;
  readonly metadata: Metadata;
}

/** The source of the messages of a stream. */
export type Source<T> = AsyncIterable<T> | Iterable<T>;

type Handler<M> =
  M extends Unary<infer A, infer B> ? (request: A, call: ServerCall) => Init<B> | PromiseLike<Init<B>>
  : M extends ServerStreaming<infer A, infer B> ? (request: A, call: ServerCall) => Source<Init<B>>
  : M extends ClientStreaming<infer A, infer B> ? (requests: AsyncIterable<A>, call: ServerCall) => Init<B> | PromiseLike<Init<B>>
  : M extends TwoWay<infer A, infer B> ? (requests: AsyncIterable<A>, call: ServerCall) => Source<Init<B>>
  : never;

/** The handlers of a service: `Handlers<typeof Greeter>`. */
export type Handlers<S> = S extends Service<infer M> ? { readonly [K in keyof M]: Handler<M[K]> } : never;

/** A layout that a peer has announced in HELLO. */
export interface PeerLayout {
  readonly service: string;
  readonly fingerprint: string;
  readonly compatible: readonly string[];
  readonly operations: readonly number[];
}

/** Whether the layouts of two ends fit. */
export const enum Fit {
  Whole,
  /** The peer's is an earlier one: later fields are missing at the end of its messages. */
  Older,
}

/** Compares them. Throws a `Status` if they do not fit. */
export function fit(ours: AnyService, theirs: PeerLayout): Fit {
  if (ours.fingerprint === theirs.fingerprint || theirs.compatible.includes(ours.fingerprint)) return Fit.Whole;
  if (!ours.compatible.includes(theirs.fingerprint)) throw notRun(Is.FAILED_PRECONDITION, `incompatible layouts of ${ours.name}`);
  return Fit.Older;
}

/** How many fields may be missing at the end of the peer's requests (0) or replies (1). */
export const missing = ({ added = [0, 0] }: Pick<Method<never, unknown>, "added">, how: Fit, of: 0 | 1): number => how * added[of];

/** Writes the item of HELLO for a service. */
export function writeLayout(to: Cursor, of: AnyService): void {
  const putFingerprint = (hex: string): void => hex.match(/../g)?.forEach((byte) => putByte(to, parseInt(byte, 16)));
  putText(to, of.name);
  putFingerprint(of.fingerprint);
  putVarint(to, of.compatible.length);
  of.compatible.forEach(putFingerprint);
  let last = 0;
  for (const operation of [...of.operations].sort((a, b) => a - b)) {
    putVarint(to, operation - last);
    last = operation;
  }
}

/** Reads such an item. Throws if it has another form. */
export function readLayout(from: Cursor): PeerLayout {
  const takeFingerprint = (): string => {
    let hex = "";
    while (hex.length < 16) hex += takeByte(from).toString(16).padStart(2, "0");
    return hex;
  };
  const layout = { service: takeText(from), fingerprint: takeFingerprint(), compatible: [] as string[], operations: [] as number[] };
  // A truncated fingerprint ends this, for any count.
  for (let count = takeVarint(from); count > 0; count--) layout.compatible.push(takeFingerprint());
  for (let last = 0; remaining(from); ) layout.operations.push((last += takeVarint(from)));
  return layout;
}
