/**
 * Topics of a broker, over the connections of a channel. After a connection is lost, subscriptions continue on the next
 * one.
 */

import { remaining, malformed, putByte, putHex, putRaw, putSized, putText, putVarint, reader, takeByte, takeHex, takeRest, takeText, takeVarint, utf8, type Cursor } from "./bytes.js";
import type { Channel } from "./channel.js";
import { inbox } from "./inbox.js";
import { after, type Link } from "./link.js";
import { bytesOf, lossy, readPrefix, readStatus } from "./prefix.js";
import { Is, Status, late, notRun } from "./status.js";

/** Operations of a broker, relative to `FIRST`. */
const enum Op {
  Subscribe,
  Unsubscribe,
  Message,
  Sync,
  Lagged,
  Refused,
  Follow,
  Position,
}

const FIRST = 0xff00;
/** Last operation of a broker. */
const LAST = FIRST + 8;
/**
 * Maximum number of queued bytes per subscription. When it is exceeded, the oldest messages are dropped. Equal to the
 * limit in Rust.
 */
const QUEUE_MAX = 16 << 20;
/** Bytes charged for a message in addition to its topic and its payload. */
const MESSAGE_COST = 64;
/** Maximum length of a topic in bytes. Equal to the limit in Rust. */
const TOPIC_MAX = 255;
/**
 * Maximum number of topics whose positions a subscription remembers. With more topics, messages may be lost at a
 * reconnect.
 */
const POSITIONS_MAX = 65536;
/** Reason in the rejection of a broker that does not support history. */
const UNKNOWN_OPERATION = 4;
const STARTS = { now: 0, last: 1, oldest: 2 };
/**
 * Timeout in ms for the broker's answer to a request, on each connection. Equal to the timeout in Rust. A server that
 * is not a broker may never answer.
 */
const ANSWER_TIMEOUT = 10_000;

/** The position of a message in the history of its topic. */
export interface Position {
  /** Identifies the history to which the offset belongs. It changes when the broker restarts. */
  readonly epoch: string;
  /** Number of the message within its topic. Numbers start at 1 and have no gaps. */
  readonly offset: number;
}

/** A published message. */
export interface Published {
  readonly topic: string;
  readonly payload: Uint8Array;
  /**
   * Number of messages lost before this one. They were dropped because the subscriber read too slowly, or are no longer
   * in the history.
   */
  readonly lagged: number;
  /** Whether a connection was lost before this message, so that an unknown number of messages may be missing. */
  readonly reconnected: boolean;
  /** Position in the history. Present only if the topic has a history and the subscription was made with `from`. */
  readonly position: Position | undefined;
}

/** Options of a subscription. */
export interface SubscribeOptions {
  /** Name of a group. Each message is delivered to only one of the group's subscriptions. */
  readonly group?: string | undefined;
  /**
   * The first message to receive, for topics with a history: the next published message, the last or the oldest message
   * of each topic, or the message after a position.
   *
   * A subscription with this option reports every message that was lost with a connection. Without a history, the
   * subscription starts with the next published message.
   */
  readonly from?: "now" | "last" | "oldest" | Position | undefined;
}

/** The messages of a subscription. It ends when the loop over them is left, or when the channel is closed. */
export type Subscription = AsyncIterableIterator<Published, undefined>;

interface Message {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly position: Position | undefined;
  /** Number of messages lost before this one. */
  lagged: number;
  reconnected: boolean;
}

const costOf = ({ topic, payload }: Message): number => topic.length + payload.length + MESSAGE_COST;

/** A subscription or another request to the broker, as seen by the packet handler. */
interface PendingRequest {
  packet(link: Link, id: number, operation: number, from: Cursor): void;
  down(link: Link, status: Status): void;
}

/** Converts a rejection to a status. A server without a broker rejects a request like any unknown operation. */
const refusal = (from: Cursor): Status => {
  const prefix = readPrefix(from);
  const status = from.at ? readStatus(from, prefix) : undefined;
  return status ?? notRun([Is.RESOURCE_EXHAUSTED, Is.UNIMPLEMENTED, Is.PERMISSION_DENIED, Is.UNAVAILABLE][takeByte(from) - 3] ?? Is.INVALID_ARGUMENT, lossy(from));
};

const takeTopic = (from: Cursor): string => {
  const length = takeVarint(from, 10);
  if (length > TOPIC_MAX) malformed("a topic is too long");
  return takeText(from, length);
};

/**
 * Client of the broker at the server of a channel. Each channel has one instance: creating another returns the first.
 */
export class Topics {
  private readonly requests = new Map<number, PendingRequest>();
  private last = 0;
  /** First rejection of a published message since the last `sync`, or the loss of unconfirmed messages. */
  private refused: Status | undefined;
  /** Connection on which the first message after the last `sync` request was published. */
  private published: Link | undefined;

  constructor(private readonly channel: Channel) {
    const { requests } = this;
    // Request ids are unique per channel. Two instances would receive each other's messages.
    if (channel.topics) return channel.topics;
    channel.topics = this;
    channel.mount({
      packet: (link, id, operation, body) => {
        // A packet without an id is delivered to all requests.
        if (operation < FIRST || operation > LAST) return false;
        if (!id && operation === FIRST + Op.Refused) this.refused ??= refusal(reader(body));
        for (const one of id ? [requests.get(id)] : requests.values()) one?.packet(link, id, operation - FIRST, reader(body));
        return true;
      },
      down(link, status) {
        for (const one of [...requests.values()]) one.down(link, status);
      },
    });
  }

  /**
   * Subscribes to the topics that match a pattern. Resolves when the broker has confirmed the subscription. After the
   * connection is lost, the subscription continues on the next one. It ends when the channel is closed. {@link
   * Published} describes how lost messages are reported. Rejects with the code `DEADLINE_EXCEEDED` if the broker does
   * not answer within 10 s. The subscription ends with this error if that happens on a later connection.
   */
  subscribe(pattern: string, { group = "", from }: SubscribeOptions = {}): Promise<Subscription> {
    return this.request(group || from === undefined ? Op.Subscribe : Op.Follow, pattern, group, from);
  }

  /** Publishes a message. Resolves when the message is queued, which is delayed while too many bytes are unsent. */
  async publish(topic: string, payload: string | Uint8Array): Promise<void> {
    await this.channel.connected((link) => {
      link.write(0, FIRST + Op.Message, (to) => {
        putSized(to, utf8(topic));
        putRaw(to, bytesOf(payload));
      });
      this.published ??= link;
    });
  }

  /**
   * Resolves when the broker has received all messages published before. Rejects if the broker has rejected any message
   * since the last call, with the code `DATA_LOSS` if a connection was lost before the broker confirmed the messages
   * published on it, or with `DEADLINE_EXCEEDED` if the broker does not answer within 10 s. If this call fails because
   * the connection is lost, the next one reports the unconfirmed messages.
   */
  async sync(): Promise<void> {
    await (await this.request(Op.Sync)).return?.();
    const { refused } = this;
    this.refused = undefined;
    if (refused) throw refused;
  }

  /**
   * Sends a request, and resolves when the broker confirms it. All further packets of the request carry the same id.
   */
  private request(operation: Op, pattern?: string, group = "", from?: SubscribeOptions["from"]): Promise<Subscription> {
    const { channel, requests } = this;
    return new Promise((resolve, reject) => {
      if (requests.size >= 0xffff) throw notRun(Is.RESOURCE_EXHAUSTED, "too many requests");
      do this.last = (this.last % 0xffff) + 1;
      while (requests.has(this.last));
      const key = this.last;
      let link: Link | undefined;
      let unread = 0;
      /** Number of messages lost before the next one. */
      let lagged = 0;
      let reconnected = false;
      let timer: ReturnType<typeof setTimeout> | undefined;
      /** For SYNC, the connection of the published messages that it confirms. */
      let confirms: Link | undefined;
      /** Aborted when the request is given up. */
      const gone = new AbortController();
      /** Ends the request at the broker and here. */
      const leave = (): void => {
        gone.abort();
        clearTimeout(timer);
        if (requests.delete(key) && pattern !== undefined && link?.isUp) link.write(key, FIRST + Op.Unsubscribe);
      };
      const { first, messages, put, end, take } = inbox((message: Message): Published => {
        unread -= costOf(message);
        return message;
      }, leave);
      const fail = (status: Status): void => {
        clearTimeout(timer);
        requests.delete(key);
        // The messages remain unconfirmed for the next SYNC.
        this.published = confirms ?? this.published;
        reject(status);
        end(status);
      };
      // Messages for a group carry the id of the request, so they need no matching by topic.
      const tokens = group ? [] : (pattern?.split(".") ?? []);
      const isOpen = tokens.at(-1) === ">";
      const matches = (topic: string): boolean => {
        const parts = topic.split(".");
        return (isOpen ? parts.length >= tokens.length : parts.length === tokens.length) && tokens.every((token, at) => token === ">" || token === "*" || token === parts[at]);
      };

      // State of a subscription with history. A position holds the offset of the next message of its topic.
      const isPosition = typeof from === "object";
      if (isPosition && !(/^[\da-f]{16}$/.test(from.epoch) && from.offset >= 0 && Number.isSafeInteger(from.offset))) throw notRun(Is.INVALID_ARGUMENT, `${from.epoch}, ${from.offset} is not a position`);
      let opening = isPosition || from === undefined ? STARTS.oldest : STARTS[from];
      let expected = new Map<string, Position>(isPosition ? [[pattern as string, { ...from, offset: from.offset + 1 }]] : []);
      let positions = new Map<string, Position>();
      let topicsLeft = 0;
      let epoch = "";
      let expectsAll = false;
      let isResumed = false;
      let isLossy = false;
      let isCovered = false;
      /** Whether the broker has confirmed the request on the current connection. */
      let isActive = false;

      /** Returns whether the pattern is a single topic whose position was sent in the last request. */
      const isKnownTopic = (): boolean => !pattern?.match(/[*>]/) && expected.size > 0;
      /** Operation of the last sent request. */
      let asked: Op;
      /** Sends the request on a connection. */
      const request = (as: Op): void => {
        asked = as;
        link?.write(key, FIRST + as, (to) => {
          if (pattern !== undefined) putSized(to, utf8(pattern));
          if (as === Op.Follow) {
            putByte(to, opening);
            for (const [topic, position] of expected) {
              putText(to, topic);
              putHex(to, position.epoch);
              putVarint(to, position.offset);
            }
          } else putRaw(to, utf8(group));
        });
      };
      /**
       * Discards the positions, so that the subscription resumes with the next published message. Returns whether there
       * were any.
       */
      const forget = (): boolean => {
        const hadAny = expected.size > 0;
        expected = new Map();
        opening = STARTS.now;
        expectsAll = false;
        isLossy = true;
        return hadAny;
      };
      /** Sends the request on the next connection. */
      const begin = (reconnectTimeout?: number): void => {
        channel.connected((next) => {
          link = next;
          if (operation === Op.Sync) {
            // The reply confirms the messages of this connection. Those of an earlier one may be lost.
            if ((this.published ?? next) !== next) this.refused = new Status(Is.DATA_LOSS, "the connection was lost");
            confirms = this.published;
            this.published = undefined;
          }
          try {
            request(operation);
          } catch (error) {
            // The positions exceed the maximum message length of the broker.
            if (!isResumed || !forget()) throw error;
            request(Op.Follow);
          }
          timer = after(ANSWER_TIMEOUT, () => {
            leave();
            fail(late(1, "; the server may have no broker"));
          });
        }, reconnectTimeout, gone.signal).catch((status: Status) => {
          // Closing the channel ends the subscription without an error.
          if (isResumed && status.code === Is.FAILED_PRECONDITION) end(true);
          fail(status);
        });
      };
      const activate = (): void => {
        clearTimeout(timer);
        isActive = true;
        if (isResumed && (isLossy || !isCovered)) reconnected = true;
        resolve(messages);
      };
      /** Handles a packet that belongs to the history. Returns whether it was one. */
      const history = (id: number, operation: Op, from: Cursor): boolean => {
        const reason = from.bytes[from.at];
        const isAnswer = id && !isActive;
        if (isAnswer && operation === Op.Refused && reason === UNKNOWN_OPERATION) {
          isLossy = true;
          request(Op.Subscribe);
        } else if (isAnswer && (operation === Op.Refused || (operation === Op.Follow && reason)) && isResumed && forget()) {
          // The broker may accept fewer positions. It refuses FOLLOW with an answer to FOLLOW.
          request(Op.Follow);
        } else if (isAnswer && operation === Op.Follow && reason === 0) {
          takeByte(from);
          isCovered = takeByte(from) === 1;
          const now = takeHex(from, 16);
          topicsLeft = takeVarint(from, 10);
          const isOther = epoch !== "" && epoch !== now;
          epoch = now;
          activate();
          isLossy = false;
          reconnected ||= isKnownTopic() ? !topicsLeft : isOther;
        } else if (operation === Op.Position) {
          while (remaining(from)) {
            const topic = takeTopic(from);
            const next = { epoch: takeHex(from, 16), offset: takeVarint(from, 10) };
            if (!Number.isSafeInteger(next.offset)) malformed("an integer is beyond 2^53");
            if (!isActive || (!id && !matches(topic))) continue;
            let before = positions.get(topic);
            if (id && !before) {
              topicsLeft--;
              before = expected.get(topic) ?? (expectsAll ? { ...next, offset: 1 } : undefined);
            } else if (!id && before?.epoch !== next.epoch) before = undefined;
            if (before && isCovered && (id || !isLossy)) {
              if (before.epoch === next.epoch && before.offset <= next.offset) lagged += next.offset - before.offset;
              else reconnected = true;
            }
            if (positions.size >= POSITIONS_MAX && !positions.has(topic)) {
              positions.clear();
              isLossy = true;
            }
            positions.set(topic, next);
          }
        } else return false;
        return true;
      };
      requests.set(key, {
        packet(on, id, operation, from) {
          if (on !== link || (asked === Op.Follow && history(id, operation, from))) return;
          if (operation === Op.Message) {
            const topic = takeTopic(from);
            // Messages without an id are ignored until the broker confirms the subscription. The history delivers them
            // too.
            if (!id && (!isActive || !matches(topic))) return;
            const payload = takeRest(from);
            const position = positions.get(topic);
            if (position) positions.set(topic, { ...position, offset: position.offset + 1 });
            const message = { topic, payload, position, lagged, reconnected };
            unread += costOf(message);
            put(message);
            lagged = 0;
            reconnected = false;
            while (unread > QUEUE_MAX) {
              const oldest = take() as Message;
              unread -= costOf(oldest);
              // The message after the dropped one. It exists because a single message never exceeds the limit.
              const following = first() as Message;
              following.lagged += oldest.lagged + 1;
              following.reconnected ||= oldest.reconnected;
            }
          } else if (operation === Op.Lagged) {
            // A loss before the confirmation concerns other subscriptions. With a history, the number of lost messages
            // follows from positions instead.
            if (isActive && (isLossy || !isCovered)) lagged += takeVarint(from, 10);
          } else if (id) {
            // A server without a broker also replies with a rejection.
            if (remaining(from)) fail(refusal(from));
            else activate();
          }
        },
        down(on, status) {
          if (on !== link) return;
          if (pattern === undefined || (!isActive && !isResumed)) return fail(status);
          if (isActive) {
            if (topicsLeft > 0 && !isLossy) {
              // Messages of topics that the broker has not listed yet are lost unless their positions are known.
              isLossy = !expectsAll && !isKnownTopic();
              for (const [topic, next] of positions) expected.set(topic, next);
            } else if (isLossy) forget();
            else {
              expected = positions;
              opening = STARTS.oldest;
              expectsAll = true;
            }
          }
          clearTimeout(timer);
          positions = new Map();
          isActive = false;
          isResumed = true;
          begin(Infinity);
        },
      });
      begin();
    });
  }
}
