/**
 * Transports of Node: TCP, Unix sockets and TLS. The entry `frisbee-rpc/node`.
 */

import { connect as connectTcp, type NetConnectOpts, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import { Channel, type ChannelOptions } from "./index.js";
import type { Dial } from "./index.js";

/** The address of a server: host and port, or the path of a Unix socket. */
export type Address = { readonly host?: string; readonly port: number } | { readonly path: string };

/** The settings of a connection over a socket. */
export interface SocketOptions extends ChannelOptions {
  /** Speaks TLS, with these settings of `node:tls` beside the address. */
  readonly tls?: ConnectionOptions;
}

/** Dials a socket. */
export function socket(address: Address, tls?: ConnectionOptions): Dial {
  return (events) => {
    const socket: Socket = tls ? connectTls({ ...tls, ...address }) : connectTcp({ ...address } as NetConnectOpts);
    let reason = "the server closed the connection";
    socket.setNoDelay(true);
    socket.once(tls ? "secureConnect" : "connect", () => events.open());
    socket.on("data", (data: Buffer) => events.data(new Uint8Array(data.buffer, data.byteOffset, data.length)));
    socket.on("error", (error) => (reason = error.message));
    socket.on("close", () => events.close(reason));
    return {
      // Copied, since the socket may keep it until later.
      send: (bytes) => void socket.write(Buffer.from(bytes)),
      close: () => void socket.destroySoon(),
      buffered: () => socket.writableLength,
    };
  };
}

/** Makes a channel over a socket: `connect({ port: 9090 })`. It connects with the first call. */
export const connect = (address: Address, options: SocketOptions = {}): Channel => new Channel(socket(address, options.tls), options);
