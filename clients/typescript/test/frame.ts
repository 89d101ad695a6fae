/** Packets that tests encode and read by hand. */

/** Returns the bytes of a packet. `length` overrides the length in the header. */
export const frame = (id: number, operation: number, body: readonly number[] | Uint8Array = [], length = body.length): Buffer => {
  const header = Buffer.from([0, 15, id >> 8, id, operation >> 8, operation, 0, 0, 0, 0]);
  header.writeUInt32BE(length, 6);
  return Buffer.concat([header, Buffer.from(body)]);
};

export const idOf = (packet: Buffer): number => packet.readUInt16BE(2);
export const operationOf = (packet: Buffer): number => packet.readUInt16BE(4);

/** Returns a function that receives bytes, split at any position, and calls `take` for each complete packet. */
export function splitter(take: (packet: Buffer) => void): (bytes: Uint8Array) => void {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (let end: number; rest.length >= 10 && rest.length >= (end = 10 + rest.readUInt32BE(6)); ) {
      const packet = rest.subarray(0, end);
      rest = rest.subarray(end);
      take(packet);
    }
  };
}
