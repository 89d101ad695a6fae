/**
 * Transports for Node: TCP, Unix sockets and TLS, and connection hand-off. This is the entry point `frisbee-rpc/node`.
 */

import { connect as connectTcp, type NetConnectOpts, type OnReadOpts, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import { compat } from "./compat.js";
import type { HeaderForm } from "./frames.js";
import { Channel, type ChannelOptions } from "./index.js";
import type { Dial } from "./index.js";

export type { HeaderForm } from "./frames.js";
export { handOff, type HandOffOptions, type HandedOff } from "./hand-off.js";

/** The address of a server: host and port, or the path of a Unix socket. */
export type Address = { readonly host?: string | undefined; readonly port: number } | { readonly path: string };

/** Settings of a connection over a socket. */
export interface SocketOptions extends ChannelOptions {
  /** Enables TLS. The settings of `node:tls` are combined with the address. */
  readonly tls?: ConnectionOptions | undefined;
  /**
   * Header form of a compat peer, such as a Go program; set it only for such servers. `current` is the usual form, and
   * `old` that of frisbee-go up to v0.10.2. A compat peer receives no metadata, no deadlines and no cancellations, and
   * its errors have the code `UNKNOWN`.
   */
  readonly compat?: HeaderForm | undefined;
}

/** Read buffer shared by all sockets. Allocating one per read would cost more than handling a short reply. */
const read = new Uint8Array(64 << 10);

/** Opens a socket. @internal */
export function openSocket(address: Address, tls?: ConnectionOptions, onread?: OnReadOpts): Socket {
  const options = { ...tls, ...address, ...(onread && { onread }) } as NetConnectOpts & ConnectionOptions;
  const socket: Socket = tls ? connectTls(options) : connectTcp(options);
  socket.setNoDelay(true);
  // If a local server is down, TCP may connect a socket to itself on the server's port. The server could then not bind
  // the port again. With TLS, the handshake of such a connection fails.
  if (!tls && !("path" in address)) {
    socket.prependOnceListener("connect", () => {
      if (socket.localPort === socket.remotePort && socket.localAddress === socket.remoteAddress) socket.resetAndDestroy();
    });
  }
  return socket;
}

/** Time in ms that a closed socket may take to send its remaining bytes: without any progress, and in total. */
const CLOSE_WITHIN = 2000;
const CLOSE_MOST = 60_000;

/** Sends the remaining bytes of a socket and closes it. Destroys the socket if the peer stops reading. @internal */
export function closeSocket(socket: Socket): void {
  if (socket.connecting || socket.destroyed) return void socket.destroy();
  socket.setTimeout(CLOSE_WITHIN, () => socket.destroy());
  // Total limit. A peer that keeps sending would postpone the other timeout forever.
  const last = setTimeout(() => socket.destroy(), CLOSE_MOST);
  socket.once("close", () => clearTimeout(last));
  socket.destroySoon();
}

/**
 * Returns the text of an error. If several addresses failed, such as those of localhost, the texts of all errors are
 * joined. @internal
 */
export const reasonOf = (error: Error & { readonly errors?: readonly Error[] }): string => (error.errors ?? [error]).map(({ message }) => message).join("; ");

/** Returns a dialler that opens a socket. */
export function socket(address: Address, tls?: ConnectionOptions): Dial {
  return (events) => {
    const socket = openSocket(address, tls, {
      buffer: read,
      callback(length) {
        events.data(read.subarray(0, length));
        return true;
      },
    });
    let reason = "the server closed the connection";
    socket.once(tls ? "secureConnect" : "connect", () => socket.destroyed || events.open());
    socket.on("error", (error) => (reason = reasonOf(error)));
    socket.on("close", () => events.close(reason));
    return {
      // Copied, because the socket may keep the bytes after this call.
      send: (bytes) => void socket.write(Buffer.from(bytes)),
      close: () => closeSocket(socket),
      buffered: () => socket.writableLength,
    };
  };
}

/** Creates a channel over a socket: `connect({ port: 9090 })`. The first call opens the connection. */
export const connect = (address: Address, options: SocketOptions = {}): Channel => new Channel(dialing(address, options), options);

const dialing = (address: Address, { tls, compat: form }: SocketOptions): Dial => (form ? compat(socket(address, tls), form) : socket(address, tls));
