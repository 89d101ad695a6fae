/** Packets in both forms of header, for the transports of Node that look into them. `link.ts` has its own, for speed. */

import { putByte, putHalf, putRaw, writer, written, type Cursor } from "./bytes.js";

/** The form of headers: `old` is that of frisbee-go up to v0.10.2, without the magic. */
export type HeaderForm = "current" | "old";

const MAGIC = 15;
const HEADER = { current: 10, old: 8 };
/** The longest body. */
const BODY_MAX = 5 << 20;

/** Writes a packet. */
export function putPacket(to: Cursor, form: HeaderForm, id: number, operation: number, body: ArrayLike<number> = []): void {
  if (form === "current") putHalf(to, MAGIC);
  for (const half of [id, operation, body.length >>> 16, body.length]) putHalf(to, half);
  putRaw(to, body);
}

/** The bytes of a packet. */
export function packet(form: HeaderForm, id: number, operation: number, body: ArrayLike<number> = []): Uint8Array {
  const to = writer(HEADER[form] + body.length);
  putPacket(to, form, id, operation, body);
  return written(to);
}

/**
 * Returns a function that takes bytes with whatever boundaries, and calls `take` for each packet. Once `take` returns
 * true, the bytes after that packet are returned. Throws for bytes that are no packets. */
export function cutter(form: HeaderForm, take: (id: number, operation: number, body: Uint8Array) => boolean | void): (bytes: Uint8Array) => Uint8Array | undefined {
  const header = HEADER[form];
  let partial: Cursor | undefined;
  let need = header;
  return (bytes) => {
    if (partial) {
      // It grows with the received bytes, not with the announced length.
      putRaw(partial, bytes);
      if (partial.at < need) return;
      bytes = written(partial);
      partial = undefined;
    }
    let at = 0;
    const half = (offset: number): number => ((bytes[at + offset] as number) << 8) | (bytes[at + offset + 1] as number);
    for (;;) {
      need = at + header;
      if (bytes.length < need) break;
      if (form === "current" && half(0) !== MAGIC) throw new Error("a header without its magic; the server may speak another form of header");
      const length = half(header - 4) * 0x1_0000 + half(header - 2);
      if (length > BODY_MAX) throw new Error(`a packet of ${length} bytes exceeds ${BODY_MAX}`);
      const end = need + length;
      if (bytes.length < end) {
        need = end;
        break;
      }
      const isLast = take(half(header - 8), half(header - 6), bytes.subarray(at + header, end));
      at = end;
      if (isLast) return bytes.subarray(at);
    }
    if (at < bytes.length) putRaw((partial = writer()), bytes.subarray(at));
    need -= at;
    return;
  };
}

/** A number in front of a body, as a varint. */
export function numbered(value: number, body: ArrayLike<number> = []): Uint8Array {
  const to = writer();
  for (; value > 127; value = Math.floor(value / 128)) putByte(to, value | 128);
  putByte(to, value);
  putRaw(to, body);
  return written(to);
}
