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

/** The bytes of a peer are not what they should be. */
export class Malformed extends Error {}

/** A length, a count or a number says that there are more bytes than there are. */
export const cutOff = (): never => {
  throw new Malformed("it is cut off");
};

export const utf8 = (text: string): Uint8Array => ENCODER.encode(text);

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

  /** Sixteen bits. */
  half(half: number): void {
    this.byte(half >> 8);
    this.byte(half);
  }

  /** A number of at most 53 bits. */
  varint(value: number): void {
    for (; value > 127; value = Math.floor(value / 128)) this.byte(value | 128);
    this.byte(value);
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

  /** An item: its type, and the length of what `put` writes, before that. */
  item(type: number, put?: (to: Writer) => void): void {
    const value = new Writer(64);
    put?.(value);
    this.byte(type);
    this.sized(value.done());
  }

  /** A length as a varint, and the text. */
  text(text: string): void {
    const { at } = this;
    const { length } = text;
    let code = 0;
    if (length <= SHORT) {
      this.room(length + 1);
      this.byte(length);
      for (let index = 0; index < length && code < 128; index++) this.byte((code = text.charCodeAt(index)));
    }
    if (length > SHORT || code > 127) {
      this.at = at;
      this.sized(utf8(text));
    }
  }

  /** What has been written. It is overwritten by what is written next, unless that is put behind it. */
  done(): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(0, this.at);
  }
}

/** A cursor over bytes. Its methods throw `Malformed`. */
export class Reader {
  at = 0;

  constructor(readonly bytes: Uint8Array) {}

  /** How many bytes have not been read. */
  get left(): number {
    return this.bytes.length - this.at;
  }

  /** The next byte, which is not taken; `undefined` behind the last. */
  get next(): number | undefined {
    return this.bytes[this.at];
  }

  byte(): number {
    const { next } = this;
    if (next === undefined) cutOff();
    this.at++;
    return next as number;
  }

  /** A number of at most `max` bytes, which is exact up to 2^53. */
  varint(max = 5): number {
    let value = 0;
    for (let scale = 1; max-- > 0; scale *= 128) {
      const byte = this.byte();
      if (byte < 128) return value + byte * scale;
      value += (byte - 128) * scale;
    }
    throw new Malformed("a number is too long");
  }

  /** A view of the next bytes: of so many as a number says that stands before them. */
  view(length = this.varint()): Uint8Array {
    if (length > this.left) cutOff();
    return this.bytes.subarray(this.at, (this.at += length));
  }

  /** A copy of the bytes that are left. */
  rest(): Uint8Array {
    return this.bytes.slice(this.at);
  }

  /** Text of so many bytes. */
  text(length = this.varint()): string {
    const { bytes, at } = this;
    let string = "";
    let index = 0;
    if (length <= SHORT) for (let code; index < length && (code = bytes[at + index] as number) < 128; index++) string += String.fromCharCode(code);
    if (index < length) {
      const view = this.view(length);
      try {
        return DECODER.decode(view);
      } catch {
        throw new Malformed("a text is not UTF-8");
      }
    }
    this.at += length;
    return string;
  }
}
