/**
 * Encodes and splits packets in both header forms, for Node transports that inspect packets. `link.ts` has a faster
 * implementation of its own.
 */

import { putHalf, putRaw, putVarint, writer, written, type Cursor } from "./bytes.js";

/** Header form of packets. `old` has no magic number and is used by frisbee-go up to v0.10.2. */
export type HeaderForm = "current" | "old";

const MAGIC = 15;
const HEADER = { current: 10, old: 8 };
/** Maximum length of a packet's body in bytes. */
const BODY_MAX = 5 << 20;

/** Writes a packet with the given header form. */
export function putPacket(to: Cursor, form: HeaderForm, id: number, operation: number, body: ArrayLike<number> = []): void {
  if (form === "current") putHalf(to, MAGIC);
  for (const half of [id, operation, body.length >>> 16, body.length]) putHalf(to, half);
  putRaw(to, body);
}

/** Returns the bytes of a packet. */
export function packet(form: HeaderForm, id: number, operation: number, body: ArrayLike<number> = []): Uint8Array {
  const to = writer(HEADER[form] + body.length);
  putPacket(to, form, id, operation, body);
  return written(to);
}

/**
 * Returns a function that receives bytes, split at any position, and calls `take` for each complete packet. If `take`
 * returns true, no more packets are cut, and the function returns the bytes after that packet. Throws for malformed
 * packets.
 */
export function cutter(form: HeaderForm, take: (id: number, operation: number, body: Uint8Array) => boolean | void): (bytes: Uint8Array) => Uint8Array | undefined {
  const header = HEADER[form];
  let partial: Cursor | undefined;
  let need = header;
  return (bytes) => {
    if (partial) {
      // The buffer grows with the received bytes, not to the announced length.
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

/** Returns a body that starts with a number, encoded as a varint. */
export function numbered(value: number, body: ArrayLike<number> = []): Uint8Array {
  const to = writer();
  putVarint(to, value);
  putRaw(to, body);
  return written(to);
}
