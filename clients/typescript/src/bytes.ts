/**
 * Bytes that are written and read: varints and text. `codec.ts` owns the encoding of messages.
 */

const ENCODER = /* @__PURE__ */ new TextEncoder();
// A byte order mark is a character like any other, and bytes that are not UTF-8 are refused.
const DECODER = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The longest text that is read and written character by character, which is faster than the platform's codecs. */
const SHORT = 40;

/** Eight bytes, to look at numbers in two ways. */
export const SCRATCH = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(8));

/** A length, a count or a number says that there are more bytes than there are. */
export const PAST_END = "it is cut off";

/** The bytes of a peer are not what they should be. */
export class Malformed extends Error {}

/** Returns a text of at most 200 characters of something, for errors. */
export const utf8 = (text: string): Uint8Array => ENCODER.encode(text);

/** Reads UTF-8. Throws `Malformed` if the bytes are something else. */
export function text(bytes: Uint8Array): string {
  try {
    return DECODER.decode(bytes);
  } catch {
    throw new Malformed("a text is not UTF-8");
  }
}

/** A buffer that grows. */
export class Writer {
  bytes: Uint8Array<ArrayBuffer>;
  at = 0;

  constructor(size = 256) {
    this.bytes = new Uint8Array(size);
  }

  /** Makes room for `count` bytes. */
  room(count: number): void {
    const needed = this.at + count;
    if (needed > this.bytes.length) {
      const bytes = new Uint8Array(Math.max(needed, this.bytes.length * 2));
      bytes.set(this.bytes.subarray(0, this.at));
      this.bytes = bytes;
    }
  }

  byte(byte: number): void {
    if (this.at === this.bytes.length) this.room(1);
    this.bytes[this.at++] = byte;
  }

  /** A number below 2^32, or the halves of one of 64 bits. */
  varint(low: number, high = 0): void {
    this.room(10);
    while (high !== 0 || low > 127) {
      this.bytes[this.at++] = (low & 127) | 128;
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    this.bytes[this.at++] = low;
  }

  raw(bytes: Uint8Array): void {
    this.room(bytes.length);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  /** A length as a varint, and the bytes. */
  sized(bytes: Uint8Array): void {
    this.varint(bytes.length);
    this.raw(bytes);
  }

  /** A length as a varint, and the text. */
  text(text: string): void {
    const { length } = text;
    if (length <= SHORT) {
      const start = this.at;
      this.room(length + 1);
      const { bytes } = this;
      bytes[this.at++] = length;
      let index = 0;
      for (; index < length; index++) {
        const code = text.charCodeAt(index);
        if (code > 127) break;
        bytes[this.at++] = code;
      }
      if (index === length) return;
      this.at = start;
    }
    this.sized(utf8(text));
  }

  /** What has been written. It is overwritten by what is written next, unless that is put behind it. */
  done(): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(0, this.at);
  }
}

/** A cursor over bytes. Its methods throw `Malformed`. */
export class Reader {
  at = 0;
  readonly end: number;
  /** The upper half of the number that was read last. */
  high = 0;

  constructor(readonly bytes: Uint8Array) {
    this.end = bytes.length;
  }

  byte(): number {
    if (this.at >= this.end) throw new Malformed(PAST_END);
    return this.bytes[this.at++] as number;
  }

  /** Returns the lower half of a number of at most `max` bytes, whose upper half is in `high` then. */
  varint(max = 5): number {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 7 * max; shift += 7) {
      const byte = this.byte();
      const bits = byte & 127;
      if (shift < 32) low |= bits << shift;
      if (shift > 27) high |= shift < 32 ? bits >>> 4 : shift < 64 ? bits << (shift - 32) : 0;
      if (byte < 128) {
        this.high = high >>> 0;
        return low >>> 0;
      }
    }
    throw new Malformed("a number is too long");
  }

  /** A number that is exact up to 2^53 and greatest beyond. */
  number(): number {
    const low = this.varint(10);
    return this.high * 0x1_0000_0000 + low;
  }

  /** A view of the next bytes. */
  view(length: number): Uint8Array {
    const from = this.at;
    if (length > this.end - from) throw new Malformed(PAST_END);
    this.at = from + length;
    return this.bytes.subarray(from, this.at);
  }

  /** Text of so many bytes. */
  text(length: number): string {
    if (length > SHORT) return text(this.view(length));
    const { bytes, at } = this;
    const end = at + length;
    if (end > this.end) throw new Malformed(PAST_END);
    let string = "";
    for (let index = at; index < end; index++) {
      const code = bytes[index] as number;
      if (code > 127) return text(this.view(length));
      string += String.fromCharCode(code);
    }
    this.at = end;
    return string;
  }
}
