/** The WebSocket transport, for browsers, Deno, Bun and recent versions of Node. */

import { Channel, type ChannelOptions } from "./channel.js";
import type { Dial } from "./link.js";

/** The subprotocol for frisbee packets. Packets may be split across WebSocket messages at any position. */
export const SUBPROTOCOL = "frisbee.1";

/** Settings of a WebSocket connection. */
export interface WebSocketOptions extends ChannelOptions {
  /**
   * Additional subprotocols to offer. Put a token here or in `metadata`. Do not put it into the URL, because URLs are
   * logged.
   */
  readonly protocols?: readonly string[] | undefined;
  /** The WebSocket class to use. Defaults to the global one. */
  readonly WebSocket?: (new (url: string, protocols: string[]) => WebSocketLike) | undefined;
}

/** The part of the WebSocket interface that this package uses. */
export interface WebSocketLike {
  binaryType: string;
  readonly bufferedAmount: number;
  readonly protocol: string;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: Uint8Array<ArrayBuffer>): void;
  close(): void;
}

/** Returns a dialler that opens a WebSocket. */
export function webSocket(url: string | URL, { protocols = [], WebSocket = globalThis.WebSocket }: WebSocketOptions = {}): Dial {
  return (events) => {
    if (!WebSocket) throw new Error("no WebSocket; set the option `WebSocket` or use frisbee-rpc/node");
    const socket: WebSocketLike = new WebSocket(String(url), [SUBPROTOCOL, ...protocols]);
    socket.binaryType = "arraybuffer";
    let problem = "";
    socket.onopen = () => {
      if (socket.protocol === SUBPROTOCOL) return events.open();
      problem = `the server does not speak ${SUBPROTOCOL}`;
      socket.close();
    };
    socket.onmessage = ({ data }: Pick<MessageEvent<unknown>, "data">) => {
      if (data instanceof ArrayBuffer) events.data(new Uint8Array(data));
      else socket.close();
    };
    // A close event always follows. Browsers provide no message.
    socket.onerror = ({ message = "" }: { message?: string }) => void (problem ||= message);
    socket.onclose = ({ code, reason }: Pick<CloseEvent, "code" | "reason">) => {
      events.close(problem || `the WebSocket was closed (${code}${reason && `, ${reason}`})`);
    };
    return {
      // Copied, because the library `ws` compresses asynchronously, and the caller reuses the buffer.
      send: (bytes) => socket.send(bytes.slice() as Uint8Array<ArrayBuffer>),
      close: () => socket.close(),
      buffered: () => socket.bufferedAmount,
    };
  };
}

/** Creates a channel over WebSocket: `connect("wss://example.com/")`. The first call opens the connection. */
export const connect = (url: string | URL, options: WebSocketOptions = {}): Channel => new Channel(webSocket(url, options), options);
