/**
 * Bytes that are written and read: varints and text. `codec.ts` owns the encoding of messages.
 *
 * These are functions of a cursor and not methods of classes, since that is less to load and no slower.
 */

const ENCODER = /* @__PURE__ */ new TextEncoder();
// A byte order mark is a character like any other, and bytes that are not UTF-8 are refused.
const DECODER = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The longest text that is read and written character by character, which is faster than the platform's codecs. */
const SHORT = 40;

/** The peer sent malformed bytes. */
export class Malformed extends Error {
  override readonly name = "Malformed";
}

export const malformed = (problem: string): never => {
  throw new Malformed(problem);
};

/** Bytes, and the position of the next one to write or read. */
export interface Cursor {
  bytes: Uint8Array<ArrayBuffer>;
  at: number;
  /** How many levels of messages may still begin, for `codec.ts`. */
  depth: number;
  /** How much memory messages may still take, for `codec.ts`. */
  memory: number;
  /** Whether messages are written in the flat form, for `codec.ts`. */
  isFlat?: boolean | undefined;
}

/** A cursor over bytes. Functions that read from it throw `Malformed`. */
export const reader = (bytes: Uint8Array): Cursor => ({ bytes: bytes as Uint8Array<ArrayBuffer>, at: 0, depth: 0, memory: 0 });

/** A cursor in a buffer that grows. */
export const writer = (size = 64): Cursor => reader(new Uint8Array(size));

/** Whether a value is a `Uint8Array`, of whatever realm. */
export const isBytes = (value: unknown): boolean => ArrayBuffer.isView(value) && (value as Uint8Array).length === value.byteLength;

export const utf8 = (text: string): Uint8Array => ENCODER.encode(text);

// Writing.

/** Makes room for `count` bytes. */
export function room(to: Cursor, count: number): void {
  const { bytes, at } = to;
  if (at + count > bytes.length) {
    to.bytes = new Uint8Array(Math.max(at + count, bytes.length * 2));
    to.bytes.set(bytes.subarray(0, at));
  }
}

export function putByte(to: Cursor, byte: number): void {
  if (to.at === to.bytes.length) room(to, 1);
  to.bytes[to.at++] = byte;
}

/** Sixteen bits. */
export function putHalf(to: Cursor, half: number): void {
  putByte(to, half >> 8);
  putByte(to, half);
}

/** A number of at most 53 bits. */
export function putVarint(to: Cursor, value: number): void {
  for (; value > 127; value = Math.floor(value / 128)) putByte(to, value | 128);
  putByte(to, value);
}

export function putRaw(to: Cursor, bytes: ArrayLike<number>): void {
  room(to, bytes.length);
  to.bytes.set(bytes, to.at);
  to.at += bytes.length;
}

/** A length as a varint, and the bytes. */
export function putSized(to: Cursor, bytes: Uint8Array): void {
  putVarint(to, bytes.length);
  putRaw(to, bytes);
}

/** A length as a varint, and the text. */
export function putText(to: Cursor, text: string): void {
  const { at } = to;
  const { length } = text;
  let code = length > SHORT ? 128 : 0;
  putByte(to, length);
  for (let index = 0; index < length && code < 128; index++) putByte(to, (code = text.charCodeAt(index)));
  if (code > 127) {
    to.at = at;
    putSized(to, utf8(text));
  }
}

/** An item: its type, and the length and bytes of the value that `put` writes. Returns whether the value has any bytes. */
export function putItem(to: Cursor, type: number, put: () => void): boolean {
  putByte(to, type);
  const { at } = to;
  put();
  const value = to.bytes.slice(at, to.at);
  to.at = at;
  putSized(to, value);
  return value.length > 0;
}

/** The bytes written so far: a view that the next write from position 0 overwrites. */
export const written = ({ bytes, at }: Cursor): Uint8Array<ArrayBuffer> => bytes.subarray(0, at);

// Reading.

/** The number of unread bytes. */
export const remaining = ({ bytes, at }: Cursor): number => bytes.length - at;

/** The next byte, without consuming it; `undefined` at the end. */
export const peek = ({ bytes, at }: Cursor): number | undefined => bytes[at];

export const takeByte = (from: Cursor): number => from.bytes[from.at++] ?? malformed("truncated");

/** Takes a byte that has to be this one. */
export function expect(from: Cursor, byte: number): void {
  const found = takeByte(from);
  if (found !== byte) malformed(`found byte ${found}, expected ${byte}`);
}

/** A number of at most `max` bytes, which is exact up to 2^53. */
export function takeVarint(from: Cursor, max = 5): number {
  let value = 0;
  for (let scale = 1; max-- > 0; scale *= 128) {
    const byte = takeByte(from);
    if (byte < 128) return value + byte * scale;
    value += (byte - 128) * scale;
  }
  return malformed("a number is too long");
}

/** The number of at most 64 bits that the rest consists of. */
export function takeNumber(from: Cursor): number {
  const { at } = from;
  const value = takeVarint(from, 10);
  if (remaining(from) || (from.bytes[at + 9] as number) > 1) malformed("malformed number");
  return value;
}

/** A view of the next bytes, with their length in front of them unless it is given. */
export function takeView(from: Cursor, length = takeVarint(from)): Uint8Array {
  if (length > remaining(from)) malformed("truncated");
  return from.bytes.subarray(from.at, (from.at += length));
}

/** A copy of the bytes that are left. `slice` of a `Buffer` is a view. */
export const takeRest = ({ bytes, at }: Cursor): Uint8Array => new Uint8Array(bytes.subarray(at));

/** Text of so many bytes. */
export function takeText(from: Cursor, length = takeVarint(from)): string {
  const { bytes, at } = from;
  let text = "";
  let index = 0;
  if (length <= SHORT) for (let code; index < length && (code = bytes[at + index] as number) < 128; index++) text += String.fromCharCode(code);
  if (index < length) {
    const view = takeView(from, length);
    try {
      return DECODER.decode(view);
    } catch {
      malformed("a text is not UTF-8");
    }
  }
  from.at += length;
  return text;
}
