/** The WebSocket transport, for browsers, Deno, Bun and recent versions of Node. */

import { Channel, type ChannelOptions } from "./channel.js";
import type { Dial } from "./link.js";

/** The subprotocol for frisbee packets. Message boundaries have no meaning in it. */
export const SUBPROTOCOL = "frisbee.1";

/** The settings of a connection over WebSocket. */
export interface WebSocketOptions extends ChannelOptions {
  /** Further subprotocols to offer. Put a token here or in `metadata`, but not into the URL, which is logged. */
  readonly protocols?: readonly string[] | undefined;
  /** The WebSocket class, if there is no global one. */
  readonly WebSocket?: (new (url: string, protocols: string[]) => WebSocketLike) | undefined;
}

/** The required part of the WebSocket interface. */
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

/** Returns a dialler of a WebSocket. */
export function webSocket(url: string | URL, { protocols = [], WebSocket = globalThis.WebSocket }: WebSocketOptions = {}): Dial {
  return (events) => {
    if (!WebSocket) throw new Error("no global WebSocket; set the option `WebSocket`, or connect by frisbee-rpc/node");
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
    // A close event follows. Browsers provide no reason.
    socket.onerror = ({ message = "" }: { message?: string }) => void (problem ||= message);
    socket.onclose = ({ code, reason }: Pick<CloseEvent, "code" | "reason">) => {
      events.close(problem || `the WebSocket was closed (${code}${reason && `, ${reason}`})`);
    };
    return {
      send: (bytes) => socket.send(bytes as Uint8Array<ArrayBuffer>),
      close: () => socket.close(),
      buffered: () => socket.bufferedAmount,
    };
  };
}

/** Creates a channel over WebSocket: `connect("wss://example.com/")`. It connects at the first call. */
export const connect = (url: string | URL, options: WebSocketOptions = {}): Channel => new Channel(webSocket(url, options), options);
