/**
 * Custom protocols on the connections of a channel, next to its calls. */

import { putRaw } from "./bytes.js";
import type { Channel } from "./channel.js";
import { bytesOf } from "./prefix.js";
import type { Status } from "./status.js";

/**
 * A protocol that the server has mounted too. It gives packets their meaning. An exception of its functions is uncaught, as
 * that of a listener of events, and the connection stays. */
export interface Protocol {
  /** Its operations, from the first to the last, of 10 to 65535. No service may have one of them: begin at 1000. */
  readonly operations: readonly [first: number, last: number];
  /** Handles a packet of the server. The body is a view that is valid until this returns. */
  packet(id: number, operation: number, body: Uint8Array): void;
  /** The connection was lost, with all pending replies. The next packet opens a new one. */
  down?(status: Status): void;
}

/** Sends a packet. Resolves when it is queued for sending, which waits while much is unsent; rejects if there is no connection or the body is too long. */
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
