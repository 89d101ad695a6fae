/**
 * Topics of a broker, on the connections of a channel.
 */

import { left, putRaw, putSized, reader, takeByte, takeRest, takeText, takeVarint, utf8, type Cursor } from "./bytes.js";
import type { Channel } from "./channel.js";
import { inbox } from "./inbox.js";
import type { Link } from "./link.js";
import { bytesOf } from "./prefix.js";
import { Is, notRun, type Status } from "./status.js";

/** The operations of a broker, from its first on. */
const enum Op {
  Subscribe,
  Unsubscribe,
  Message,
  Sync,
  Lagged,
  Refused,
}

const FIRST = 0xff00;
/** How many bytes may wait in a subscription, of which the oldest are dropped then. The same as in Rust. */
const QUEUE_MAX = 16 << 20;
/** What a message costs besides its length. */
const MESSAGE_COST = 64;

/** What has been published. */
export interface Published {
  readonly topic: string;
  readonly payload: Uint8Array;
  /** How many messages were lost in front of this one, since they were not taken in time. */
  readonly lagged: number;
}

/** The messages of a subscription. Leaving a loop over them ends it. */
export type Subscription = AsyncIterableIterator<Published, undefined>;

interface Message {
  readonly topic: string;
  readonly payload: Uint8Array;
}

/** What the broker was asked for: takes its packets, until the connection is lost. */
interface Asked {
  packet(link: Link, id: number, operation: number, from: Cursor): void;
  down(link: Link, status: Status): void;
}

/** The topics of the broker that a channel's server has. */
export class Topics {
  private readonly asked = new Map<number, Asked>();
  private last = 0;

  constructor(private readonly channel: Channel) {
    const { asked } = this;
    channel.mount({
      packet(link, id, operation, body) {
        // Without an id it is for all.
        for (const [key, one] of asked) if (!id || id === key) one.packet(link, id, operation - FIRST, reader(body));
      },
      down(link, status) {
        for (const one of asked.values()) one.down(link, status);
      },
    });
  }

  /**
   * Subscribes to the topics that match a pattern, and returns when the broker sends them. With a `group`, each message
   * goes to one of the group's subscriptions. A subscription ends with `UNAVAILABLE` when its connection is lost, since
   * messages may be lost with it.
   */
  subscribe(pattern: string, { group = "" }: { readonly group?: string } = {}): Promise<Subscription> {
    return this.ask(Op.Subscribe, pattern, group);
  }

  /** Publishes a message. Resolves when it is on its way. */
  async publish(topic: string, payload: string | Uint8Array): Promise<void> {
    (await this.connected()).write(0, FIRST + Op.Message, (to) => {
      putSized(to, utf8(topic));
      putRaw(to, bytesOf(payload));
    });
  }

  /** Resolves when the broker has received everything that was published before. */
  async sync(): Promise<void> {
    await (await this.ask(Op.Sync)).return?.();
  }

  private async connected(): Promise<Link> {
    let link: Link;
    // It may have been lost before this continues.
    do link = await this.channel.connected();
    while (!link.isUp);
    return link;
  }

  /** Asks the broker for something, and resolves when it has agreed. To that, and to all that follows, belongs an id. */
  private async ask(operation: Op, pattern?: string, group = ""): Promise<Subscription> {
    const { asked } = this;
    const link = await this.connected();
    const key = (this.last = (this.last % 0xffff) + 1);
    return new Promise((resolve, reject) => {
      let unread = 0;
      let lost = 0;
      const { items, messages, put, end } = inbox(({ topic, payload }: Message): Published => {
        const lagged = lost;
        unread -= payload.length + MESSAGE_COST;
        lost = 0;
        return { topic, payload, lagged };
      }, () => {
        if (asked.delete(key) && pattern !== undefined) link.write(key, FIRST + Op.Unsubscribe);
      });
      const fail = (status: Status): void => {
        asked.delete(key);
        reject(status);
        end(status);
      };
      // Messages for a group come for it by its id alone.
      const tokens = group ? [] : (pattern?.split(".") ?? []);
      asked.set(key, {
        packet(on, id, operation, from) {
          if (on !== link) return;
          if (operation === Op.Message) {
            const topic = takeText(from);
            const parts = topic.split(".");
            const isOpen = tokens[tokens.length - 1] === ">";
            const isMatch = (isOpen ? parts.length >= tokens.length : parts.length === tokens.length) && tokens.every((token, at) => token === ">" || token === "*" || token === parts[at]);
            if (!id && !isMatch) return;
            const payload = takeRest(from);
            unread += payload.length + MESSAGE_COST;
            while (unread > QUEUE_MAX && items.length) {
              unread -= (items.shift() as Message).payload.length + MESSAGE_COST;
              lost++;
            }
            put({ topic, payload });
          } else if (operation === Op.Lagged) lost += takeVarint(from, 10);
          else if (id) {
            // Also the answer of a server that has no broker.
            if (left(from)) fail(notRun([Is.RESOURCE_EXHAUSTED, Is.UNIMPLEMENTED, Is.PERMISSION_DENIED][takeByte(from) - 3] ?? Is.INVALID_ARGUMENT, takeText(from, left(from))));
            else resolve(messages);
          }
        },
        down(on, status) {
          if (on === link) fail(status);
        },
      });
      link.write(key, FIRST + operation, (to) => {
        if (pattern !== undefined) putSized(to, utf8(pattern));
        putRaw(to, utf8(group));
      });
    });
  }
}
