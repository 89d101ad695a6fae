/** Custom protocols that share the connections of a channel with its calls. */

import { putRaw } from "./bytes.js";
import type { Channel } from "./channel.js";
import { bytesOf } from "./prefix.js";
import type { Status } from "./status.js";

/**
 * A custom protocol, which the server must mount as well. The protocol defines the meaning of its packets. Exceptions
 * thrown by its functions are uncaught, like those of event listeners, and do not close the connection.
 */
export interface Protocol {
  /**
   * Inclusive range of the protocol's operations, within 10 to 65535. It must not overlap with the operations of
   * services. Numbers from 1000 are recommended.
   */
  readonly operations: readonly [first: number, last: number];
  /** Handles a packet from the server. `body` is a view that is valid only until this function returns. */
  packet(id: number, operation: number, body: Uint8Array): void;
  /**
   * Called when the connection is lost. No reply to earlier packets will arrive. The next packet opens a new
   * connection.
   */
  down?(status: Status): void;
}

/**
 * Sends a packet. Resolves when the packet is queued, which is delayed while too many bytes are unsent. Rejects if
 * there is no connection or the body is too long.
 */
export type Send = (id: number, operation: number, body: Uint8Array) => Promise<void>;

/**
 * Mounts a protocol on the connections of a channel, later ones included, and returns its sender.
 *
 *     const replies = new Map<number, (text: string) => void>();
 *     const send = mount(channel, {
 *       operations: [1000, 1000],
 *       packet: (id, operation, body) => replies.get(id)?.(new TextDecoder().decode(body)),
 *     });
 *     replies.set(1, console.log);
 *     await send(1, 1000, new TextEncoder().encode("hello"));
 */
export function mount(channel: Channel, protocol: Protocol): Send {
  const [first, last] = protocol.operations;
  const call = (run: () => void): void => {
    try {
      run();
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  };
  channel.mount({
    packet(_, id, operation, body) {
      const isOwn = first <= operation && operation <= last;
      if (isOwn) call(() => protocol.packet(id, operation, body));
      return isOwn;
    },
    down: (_, status) => call(() => protocol.down?.(status)),
  });
  return async (id, operation, body) => void (await channel.connected((link) => link.write(id, operation, putRaw, bytesOf(body))));
}
