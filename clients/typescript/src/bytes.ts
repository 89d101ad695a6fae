/**
 * Reads and writes varints and text. `codec.ts` encodes messages.
 *
 * Functions take a cursor instead of being methods of a class, because this yields smaller bundles at the same speed.
 */

const ENCODER = /* @__PURE__ */ new TextEncoder();
// Byte order marks are kept, and invalid UTF-8 is rejected.
const DECODER = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Maximum length of text that is processed one character at a time. Below this length a loop is faster than
 * `TextEncoder` and `TextDecoder`.
 */
const SHORT = 40;

/** The error for malformed bytes from the peer. */
export class Malformed extends Error {
  override readonly name = "Malformed";
}

export const malformed = (problem: string): never => {
  throw new Malformed(problem);
};

/** A buffer with the position of the next byte to read or write. */
export interface Cursor {
  bytes: Uint8Array<ArrayBuffer>;
  at: number;
  /** Remaining nesting levels of messages, for `codec.ts`. */
  depth: number;
  /** Remaining memory of messages in bytes, for `codec.ts`. */
  memory: number;
  /** Whether messages are written in the flat form, for `codec.ts`. */
  isFlat?: boolean | undefined;
}

/** Returns a cursor over bytes. Functions that read from it throw `Malformed`. */
export const reader = (bytes: Uint8Array): Cursor => ({ bytes: bytes as Uint8Array<ArrayBuffer>, at: 0, depth: 0, memory: 0 });

/** Returns a cursor in a growing buffer. */
export const writer = (size = 64): Cursor => reader(new Uint8Array(size));

/** Returns whether a value is a `Uint8Array`, even one created in another realm, such as a frame. */
export const isBytes = (value: unknown): boolean => ArrayBuffer.isView(value) && (value as Uint8Array).length === value.byteLength;

export const utf8 = (text: string): Uint8Array => ENCODER.encode(text);

// Functions that write.

/** Reserves space for `count` bytes. */
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

/** Writes a 16-bit number in big-endian byte order. */
export function putHalf(to: Cursor, half: number): void {
  putByte(to, half >> 8);
  putByte(to, half);
}

/** Writes a number of at most 53 bits as a varint. */
export function putVarint(to: Cursor, value: number): void {
  for (; value > 127; value = Math.floor(value / 128)) putByte(to, value | 128);
  putByte(to, value);
}

export function putRaw(to: Cursor, bytes: ArrayLike<number>): void {
  room(to, bytes.length);
  to.bytes.set(bytes, to.at);
  to.at += bytes.length;
}

/** Writes the bytes that a string represents as hexadecimal digits. */
export const putHex = (to: Cursor, hex: string): void => hex.match(/../g)?.forEach((byte) => putByte(to, parseInt(byte, 16)));

/** Writes bytes after their length. */
export function putSized(to: Cursor, bytes: Uint8Array): void {
  putVarint(to, bytes.length);
  putRaw(to, bytes);
}

/** Writes text after its length. */
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

/**
 * Writes an item: its type, the length of its value, and the value, which `put` writes. Returns whether the value is
 * non-empty.
 */
export function putItem(to: Cursor, type: number, put: () => void): boolean {
  putByte(to, type);
  const { at } = to;
  put();
  const value = to.bytes.slice(at, to.at);
  to.at = at;
  putSized(to, value);
  return value.length > 0;
}

/** Returns the bytes written so far, as a view that the next write from position 0 overwrites. */
export const written = ({ bytes, at }: Cursor): Uint8Array<ArrayBuffer> => bytes.subarray(0, at);

// Functions that read.

/** Returns the number of unread bytes. */
export const remaining = ({ bytes, at }: Cursor): number => bytes.length - at;

/** Returns the next byte without consuming it, or `undefined` at the end. */
export const peek = ({ bytes, at }: Cursor): number | undefined => bytes[at];

export const takeByte = (from: Cursor): number => from.bytes[from.at++] ?? malformed("truncated");

/** Reads bytes and returns them as `digits` hexadecimal digits. Defaults to the 16 bytes of a fingerprint. */
export function takeHex(from: Cursor, digits = 32): string {
  let hex = "";
  while (hex.length < digits) hex += takeByte(from).toString(16).padStart(2, "0");
  return hex;
}

/** Reads a byte. Throws `Malformed` unless it equals `byte`. */
export function expect(from: Cursor, byte: number): void {
  const found = takeByte(from);
  if (found !== byte) malformed(`found byte ${found}, expected ${byte}`);
}

/**
 * Reads a varint of at most `max` bytes. The result is exact up to 2^53. Five bytes hold more than the 32 bits of a
 * number in a message, and the rest is dropped.
 */
export function takeVarint(from: Cursor, max = 5): number {
  let value = 0;
  for (let scale = 1, left = max; left-- > 0; scale *= 128) {
    const byte = takeByte(from);
    value += (byte & 127) * scale;
    if (byte < 128) return max > 5 ? value : value >>> 0;
  }
  return malformed("a number is too long");
}

/** Reads the remaining bytes as one varint of at most 64 bits. */
export function takeNumber(from: Cursor): number {
  const { at } = from;
  const value = takeVarint(from, 10);
  if (remaining(from) || (from.bytes[at + 9] as number) > 1) malformed("a number is too long");
  return value;
}

/** Reads `length` bytes and returns them as a view. Without `length`, a varint before the bytes states their number. */
export function takeView(from: Cursor, length = takeVarint(from)): Uint8Array {
  if (length > remaining(from)) malformed("truncated");
  return from.bytes.subarray(from.at, (from.at += length));
}

/** Reads the length and the value of an item. Lengths in the extensions may be padded to ten bytes. */
export const takeValue = (from: Cursor): Cursor => reader(takeView(from, takeVarint(from, 10)));

/** Copies the remaining bytes. `slice` of a `Buffer` would return a view. */
export const takeRest = ({ bytes, at }: Cursor): Uint8Array => new Uint8Array(bytes.subarray(at));

/** Reads UTF-8 text. `length` is in bytes; without it, a varint before the text states the length. */
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
