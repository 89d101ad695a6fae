/**
 * Connection hand-off: after a call that requests the connection, the caller owns the socket (docs/hand-off.md). The
 * call runs on a channel with a special transport. This transport sends the request as HAND_OFF and passes the answer
 * to the channel as a reply.
 */

import type { Socket } from "node:net";
import { writer, written } from "./bytes.js";
import { cutter, numbered, packet } from "./frames.js";
import { Channel, Code, Status, type AnyService, type CallOptions, type Init, type TransportEvents, type Unary } from "./index.js";
import { Extension, Op } from "./link.js";
import { closeSocket, openSocket, reasonOf, type Address, type SocketOptions } from "./node.js";
import { putLayout } from "./service.js";

/** Settings of a hand-off. */
export interface HandOffOptions extends SocketOptions, CallOptions {
  /** Makes calls on the same connection before the hand-off, such as a login. */
  readonly before?: ((channel: Channel) => PromiseLike<unknown>) | undefined;
}

/** A connection that has been handed off. */
export interface HandedOff<B> {
  readonly reply: B;
  /** The connection. The next bytes read from it are those after the reply. */
  readonly socket: Socket;
}

/** Answer of the server to a hand-off request. */
const enum Decision {
  Refused,
  Accepted,
  Busy,
  Unsupported,
}

/**
 * Maximum delay in milliseconds before a hand-off is requested again. A server that is still releasing ended calls
 * rejects the request as busy. The delay starts at 1 ms and doubles, so that the request fails after about a second.
 */
const BUSY_MAX = 1000;

/**
 * Calls a method that hands off its connection. Opens a new connection for the call, and returns the reply and the
 * socket:
 *
 * `handOff({ port }, Gateway, Gateway.methods.open, { name: "postgres" })`
 *
 * Rejects with the status of the call. The status is `FAILED_PRECONDITION` if the handler kept the connection or calls
 * are still in progress on it, and `UNIMPLEMENTED` if the method hands off no connection. Aborting the `signal` cancels
 * the call and closes the connection.
 */
export async function handOff<A, B>(address: Address, service: AnyService, method: Unary<A, B>, request: Init<A>, options: HandOffOptions = {}): Promise<HandedOff<B>> {
  let socket: Socket | undefined;
  let problem: Status | undefined;
  let isArmed = false;
  let endLast = (): void => {};

  const dial = (events: TransportEvents): ReturnType<ConstructorParameters<typeof Channel>[0]> => {
    const open = openSocket(address, options.tls);
    let reason = "the server closed the connection";
    let isUp = false;
    /** The id of the call whose request was sent as HAND_OFF. */
    let pending: number | undefined;
    let handOffRequest: Uint8Array;
    let delay = 1;
    // Stop handling answers: a hand-off would remove the error listener of a socket that no caller gets.
    const end = (): void => closeSocket(open.off("data", data).resume());
    endLast = end;
    const closed = (): void => {
      if (isUp && options.before) {
        // The calls of `before` belong to this connection, so a new connection cannot replace it.
        problem ??= new Status(Code.UNAVAILABLE, `the connection was lost before its hand-off: ${reason}`, { mayHaveRun: pending !== undefined });
        channel.close();
      }
      events.close(reason);
    };
    const failed = (error: Error): void => void (reason = reasonOf(error));
    const give = (id: number, operation: number, body?: Uint8Array): void => events.data(packet("current", id, operation, body));

    const outward = cutter("current", (id, operation, body) => {
      if (pending === undefined && isArmed && operation === method.operation) {
        // Nothing may be sent after the request, so the layout is described now. A server that needs none skips it.
        const layout = writer();
        putLayout(layout, service.fingerprint, service.layout);
        open.write(packet("current", Extension.Layout, Op.Extension, written(layout)));
        pending = id;
        open.write(handOffRequest = packet("current", 0, Op.HandOff, numbered(operation, body)));
      } else if (pending === undefined) open.write(packet("current", id, operation, body));
      else if (operation === Op.Ping) {
        // Nothing may be sent after a hand-off request, so this PING is answered here. A separate timeout covers the
        // hand-off.
        queueMicrotask(() => give(0, Op.Pong));
      } else if (operation === Op.Cancel) {
        reason = "the call was cancelled";
        end();
      }
    });
    const inward = cutter("current", (id, operation, body) => {
      if (pending === undefined || operation !== Op.HandOff) return void give(id, operation, body);
      const [decision = NaN] = body;
      if (!(decision <= Decision.Unsupported)) throw new Error(`the answer ${decision} to a hand-off is unknown`);
      if (decision === Decision.Accepted) {
        detach();
        socket = open;
        give(pending, method.operation, body.subarray(1));
        return true;
      }
      if (decision === Decision.Busy && delay < BUSY_MAX) {
        setTimeout(() => open.writable && open.write(handOffRequest), delay);
        delay *= 2;
        return false;
      }
      if (decision === Decision.Refused) give(pending, method.operation, body.subarray(1));
      else {
        problem = decision === Decision.Busy
          ? new Status(Code.FAILED_PRECONDITION, "the connection is busy; end its calls and streams before the hand-off", { mayHaveRun: false })
          : new Status(Code.UNIMPLEMENTED, "the method hands no connection off; name it by method_hand_off at the server", { mayHaveRun: false });
        channel.close();
        reason = problem.message;
        end();
      }
      pending = undefined;
      return false;
    });
    const data = (bytes: Uint8Array): void => {
      try {
        const rest = inward(bytes);
        if (!rest) return;
        open.pause();
        if (rest.length) open.unshift(rest);
        events.close("the connection was handed off");
      } catch (error) {
        reason = `the server broke the protocol: ${(error as Error).message}`;
        end();
      }
    };
    const detach = (): void => void open.off("data", data).off("close", closed).off("error", failed);
    open.once(options.tls ? "secureConnect" : "connect", () => {
      isUp = true;
      events.open();
    });
    open.on("data", data).on("close", closed).on("error", failed);
    return {
      send: (bytes) => {
        // `packet` has copied the bytes. The socket may keep them until they are written.
        if (socket) return;
        open.cork();
        outward(bytes);
        open.uncork();
      },
      close: () => {
        if (socket !== open) end();
      },
      buffered: () => open.writableLength,
    };
  };

  const channel = new Channel(dial, { ...options, serve: undefined, stayConnected: false });
  channel.name(service);
  const { before, signal } = options;
  let giveUp = (): void => {};
  try {
    // If there were no earlier calls, aborting cancels the hand-off call itself.
    if (before && !signal?.aborted) {
      const aborted = new Promise<never>((_, reject) => {
        giveUp = () => reject(new Status(Code.CANCELLED, "not sent: the caller cancelled the call", { mayHaveRun: false }));
      });
      signal?.addEventListener("abort", giveUp);
      await Promise.race([before(channel), aborted]);
    }
    isArmed = true;
    const reply = await channel.unary(service, method, request, options);
    if (socket) return { reply, socket };
    throw new Status(Code.FAILED_PRECONDITION, "the handler kept the connection");
  } catch (error) {
    // Closing the channel would first wait for calls in progress.
    endLast();
    socket?.destroy();
    throw isArmed ? problem ?? error : error;
  } finally {
    signal?.removeEventListener("abort", giveUp);
    channel.close();
  }
}
