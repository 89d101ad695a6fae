/** Packets that tests encode by hand. */

/** Returns the bytes of a packet. `length` overrides the length in the header. */
export const frame = (id: number, operation: number, body: readonly number[] | Uint8Array = [], length = body.length): Buffer => {
  const header = Buffer.from([0, 15, id >> 8, id, operation >> 8, operation, 0, 0, 0, 0]);
  header.writeUInt32BE(length, 6);
  return Buffer.concat([header, Buffer.from(body)]);
};
