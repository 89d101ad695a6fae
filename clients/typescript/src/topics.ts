/**
 * Topics of a broker, on the connections of a channel.
 */

import { Reader, utf8 } from "./bytes.js";
import type { Channel } from "./channel.js";
import { Inbox } from "./inbox.js";
import type { Link } from "./link.js";
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

/** The topics of the broker that a channel's server has. */
export class Topics {
  private readonly subscriptions = new Map<number, Subscribed>();
  private link: Link | undefined;
  private next = 0;

  constructor(private readonly channel: Channel) {
    channel.mount({
      packet: (link, id, operation, body) => this.handle(link, id, operation - FIRST, body),
      down: (link, status) => {
        if (link === this.link) for (const one of this.subscriptions.values()) one.end(status);
      },
    });
  }

  /**
   * Subscribes to the topics that match a pattern, and returns when the broker sends them. With a `group`, each message
   * goes to one of the group's subscriptions. A subscription ends with `UNAVAILABLE` when its connection is lost, since
   * messages may be lost with it.
   */
  async subscribe(pattern: string, { group = "" }: { readonly group?: string } = {}): Promise<Subscription> {
    return this.ask(Op.Subscribe, pattern, group);
  }

  /** Publishes a message. Resolves when it is on its way. */
  async publish(topic: string, payload: string | Uint8Array): Promise<void> {
    let link: Link;
    do link = await this.channel.connected();
    while (link.isClosed);
    link.write(0, FIRST + Op.Message, (to) => {
      to.sized(utf8(topic));
      to.raw(typeof payload === "string" ? utf8(payload) : payload);
    });
  }

  /** Resolves when the broker has received everything that was published before. */
  async sync(): Promise<void> {
    await (await this.ask(Op.Sync)).return();
  }

  /** Asks the broker for something, and resolves when it has agreed. To that, and to all that follows, belongs an id. */
  private async ask(operation: Op, pattern?: string, group?: string): Promise<Subscribed> {
    let link: Link;
    // It may have been lost before this goes on.
    do link = this.link = await this.channel.connected();
    while (link.isClosed);
    const id = (this.next = (this.next % 0xffff) + 1);
    const subscribed = new Subscribed(group ? undefined : pattern?.split("."), () => {
      if (this.subscriptions.delete(id) && pattern !== undefined && !link.isClosed) link.write(id, FIRST + Op.Unsubscribe);
    });
    this.subscriptions.set(id, subscribed);
    link.write(id, FIRST + operation, (to) => {
      if (pattern !== undefined) to.sized(utf8(pattern));
      to.raw(utf8(group ?? ""));
    });
    await subscribed.active;
    return subscribed;
  }

  private handle(link: Link, id: number, operation: Op, body: Uint8Array): void {
    if (link !== this.link) return;
    const from = new Reader(body);
    const subscribed = this.subscriptions.get(id);
    if (operation === Op.Message) {
      const topic = from.text();
      const message = { topic, payload: from.rest() };
      for (const one of this.subscriptions.values()) if (id ? one === subscribed : one.matches(topic)) one.put(message);
    } else if (operation === Op.Lagged) {
      const count = from.varint(10);
      for (const one of this.subscriptions.values()) if (id ? one === subscribed : count) one.lost += count;
    } else if (!body.length) subscribed?.activate();
    // Also the answer of a server that has no broker.
    else {
      const code = [Is.RESOURCE_EXHAUSTED, Is.UNIMPLEMENTED, Is.PERMISSION_DENIED][from.byte() - 3];
      const status = notRun(code ?? Is.INVALID_ARGUMENT, from.text(from.left));
      this.subscriptions.delete(id);
      subscribed?.end(status);
    }
  }
}

interface Message {
  readonly topic: string;
  readonly payload: Uint8Array;
}

class Subscribed extends Inbox<Message, Published> {
  /** Resolves when the broker has taken it. */
  readonly active: Promise<void>;
  /** How many messages were lost since the last that was read. */
  lost = 0;
  activate: () => void = () => {};
  private refuse: (status: Status) => void = () => {};
  private unread = 0;

  constructor(
    /** The pattern, unless messages come for it by its id alone. */
    private readonly tokens: readonly string[] | undefined,
    readonly leave: () => void,
  ) {
    super();
    this.active = new Promise((resolve, reject) => {
      this.activate = resolve;
      this.refuse = reject;
    });
  }

  matches(topic: string): boolean {
    const { tokens } = this;
    const parts = topic.split(".");
    if (!tokens || (tokens.at(-1) === ">" ? parts.length < tokens.length : parts.length !== tokens.length)) return false;
    return tokens.every((token, at) => token === ">" || token === "*" || token === parts[at]);
  }

  put(message: Message): void {
    this.unread += message.payload.length + MESSAGE_COST;
    while (this.unread > QUEUE_MAX && this.items.length > 0) {
      this.unread -= (this.items.shift() as Message).payload.length + MESSAGE_COST;
      this.lost++;
    }
    this.arrived(message);
  }

  end(status: Status): void {
    this.leave();
    this.refuse(status);
    this.finished(status);
  }

  protected taken({ topic, payload }: Message): Published {
    const { lost } = this;
    this.unread -= payload.length + MESSAGE_COST;
    this.lost = 0;
    return { topic, payload, lagged: lost };
  }
}
