/** Services and methods as declared by generated code, and the layouts that peers exchange. */

import { remaining, putByte, putItem, putText, putVarint, takeByte, takeText, takeVarint, type Cursor } from "./bytes.js";
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
  /** Whether a call that may have run can be retried. */
  readonly idempotent?: boolean;
  /** Numbers of trailing fields of the request and the reply that compatible peers may not know. */
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
  /** The fingerprints of compatible earlier layouts. */
  readonly compatible: readonly string[];
  readonly methods: M;
  /** The operations of its methods. @internal */
  readonly operations: readonly number[];
}

export type AnyService = Service<object>;

/** Creates a service. For generated code. */
export const service = <M>(name: string, fingerprint: string, compatible: readonly string[], methods: M): Service<M> => ({
  name, fingerprint, compatible, methods, operations: Object.values(methods as object).map(({ operation }: AnyMethod) => operation),
});

/** The context of a call, for its handler. */
export interface ServerCall {
  /**
   * Aborted when the caller has cancelled, the deadline has passed or the connection was lost. A handler that continues
   * still counts towards the limit of 256 running handlers per connection.
   */
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

/** A layout announced by a peer in HELLO. */
export interface PeerLayout {
  readonly service: string;
  readonly fingerprint: string;
  compatible: readonly string[];
  readonly operations: readonly number[];
}

/** The type of HELLO items for earlier layouts. */
export const EARLIER = 37;

/** How the layouts of two peers match. */
export const enum Fit {
  Whole,
  /** The peer's layout is earlier: its messages lack later fields at the end. */
  Older,
}

/** Compares two layouts. Throws a `Status` if they are incompatible. */
export function fit(ours: AnyService, theirs: PeerLayout): Fit {
  const own = whole(ours.fingerprint);
  if (own === theirs.fingerprint || theirs.compatible.includes(own)) return Fit.Whole;
  if (!ours.compatible.map(whole).includes(theirs.fingerprint)) throw notRun(Is.FAILED_PRECONDITION, `incompatible layouts of ${ours.name}`);
  return Fit.Older;
}

/** Returns the number of fields that may be missing at the end of the peer's requests (0) or replies (1). */
export const missing = ({ added = [0, 0] }: Pick<Method<never, unknown>, "added">, how: Fit, of: 0 | 1): number => how * added[of];

/** Pads a fingerprint to its wire form. Those of the schema lock are the last 8 of 16 bytes. */
export const whole = (fingerprint: string): string => fingerprint.padStart(32, "0");

/** Writes fingerprints of 16 bytes. */
const putFingerprints = (to: Cursor, ...all: readonly string[]): void => {
  for (const hex of all) whole(hex).match(/../g)?.forEach((byte) => putByte(to, parseInt(byte, 16)));
};

/** Writes the HELLO items for a service. The first has this type. */
export function writeLayout(to: Cursor, type: number, of: AnyService): void {
  putItem(to, type, () => putLayout(to, of));
  if (of.compatible.length) putItem(to, EARLIER, () => putFingerprints(to, of.fingerprint, ...of.compatible));
}

function putLayout(to: Cursor, of: AnyService): void {
  putText(to, of.name);
  putFingerprints(to, of.fingerprint);
  let last = 0;
  for (const operation of [...of.operations].sort((a, b) => a - b)) {
    putVarint(to, operation - last);
    last = operation;
  }
}

/** Takes a fingerprint of 16 bytes. */
function takeFingerprint(from: Cursor): string {
  let hex = "";
  while (hex.length < 32) hex += takeByte(from).toString(16).padStart(2, "0");
  return hex;
}

/**
 * Reads the earlier layouts of a layout. The first fingerprint is that of the layout itself. Throws if the item is
 * malformed.
 */
export function readEarlier(from: Cursor): readonly string[] {
  const all: string[] = [];
  do all.push(takeFingerprint(from));
  while (remaining(from));
  return all;
}

/** Reads the item for a service. Throws if it is malformed. */
export function readLayout(from: Cursor): PeerLayout {
  const layout = { service: takeText(from), fingerprint: takeFingerprint(from), compatible: [] as string[], operations: [] as number[] };
  for (let last = 0; remaining(from); ) layout.operations.push((last += takeVarint(from)));
  return layout;
}
