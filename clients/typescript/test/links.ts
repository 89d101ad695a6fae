/** Channels whose transports are controlled by a test, which sees each packet that was sent. */

import { Channel, type ChannelOptions, type TransportEvents } from "frisbee-rpc";
import { frame, operationOf, splitter } from "./frame.js";
import { until } from "./transports.js";

/** A HELLO that grants streams their initial credit. */
const HELLO = frame(0, 3, [...Buffer.from("fris\x01"), 4, 3, 0x80, 0x80, 0x10]);

/** Runs a function with a channel and the transports that it has opened, each with its packets and unsent bytes. */
export async function dialled(run: (channel: Channel, links: Opened[]) => Promise<void>, options: ChannelOptions = {}): Promise<void> {
  const links: Opened[] = [];
  const channel = new Channel((events) => {
    const opened: Opened = { events, sent: [], unsent: 0 };
    links.push(opened);
    const split = splitter((packet) => opened.sent.push(packet));
    const send = (bytes: Uint8Array): void => {
      opened.unsent += bytes.length;
      split(bytes);
    };
    return { send, close() {}, buffered: () => opened.unsent };
  }, options);
  try {
    await run(channel, links);
  } finally {
    channel.close();
    for (const { events } of links) events.close("the end of the test");
  }
}

/** A transport that a channel has opened. */
export interface Opened {
  readonly events: TransportEvents;
  readonly sent: Buffer[];
  unsent: number;
}

/** Runs a function with an open connection and the packets that the connection has sent. */
export const connected = (run: (channel: Channel, receive: (bytes: Uint8Array) => void, sent: Buffer[]) => Promise<void>, serving?: ChannelOptions["serve"], hello = HELLO): Promise<void> =>
  dialled(async (channel, links) => {
    await until("it dials", () => links.length > 0);
    const [{ events, sent }] = links as [Opened];
    events.open();
    events.data(hello);
    await run(channel, (bytes) => events.data(bytes), sent);
  }, { stayConnected: true, ...(serving && { serve: serving }) });

/** Completes the handshake of a connection. The server permits `streams` streams. */
export function greet({ events }: Opened, streams = 100): void {
  events.open();
  events.data(frame(0, 3, [...Buffer.from("fris\x01"), 2, 1, streams, 4, 3, 0x80, 0x80, 0x10]));
}

/** Returns the number of sent packets with an operation. */
export const sentWith = (sent: Buffer[], operation: number): number => sent.filter((packet) => operationOf(packet) === operation).length;
