/**
 * Topics of a broker, on the connections of a channel.
 */

import { Reader, Writer, text, utf8 } from "./bytes.js";
import type { Channel } from "./channel.js";
import { Inbox } from "./inbox.js";
import type { Link } from "./link.js";
import { Is, Status } from "./status.js";

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
  private readonly syncs = new Map<number, { resolve(): void; reject(status: Status): void }>();
  private link: Link | undefined;
  private next = 0;

  constructor(private readonly channel: Channel) {
    channel.mount({
      packet: (link, id, operation, body) => this.handle(link, id, operation - FIRST, body),
      down: (link, status) => this.down(link, status),
    });
  }

  /**
   * Subscribes to the topics that match a pattern, and returns when the broker sends them. With a `group`, each message
   * goes to one of the group's subscriptions. A subscription ends with `UNAVAILABLE` when its connection is lost, since
   * messages may be lost with it.
   */
  async subscribe(pattern: string, { group = "" }: { readonly group?: string } = {}): Promise<Subscription> {
    const link = await this.channel.connected();
    this.link = link;
    const id = (this.next = (this.next % 0xffff) + 1);
    const subscribed = new Subscribed(pattern, group !== "", () => {
      if (this.subscriptions.delete(id) && !link.isClosed) link.packet(id, FIRST + Op.Unsubscribe);
    });
    this.subscriptions.set(id, subscribed);
    const body = new Writer();
    body.sized(utf8(pattern));
    body.raw(utf8(group));
    link.packet(id, FIRST + Op.Subscribe, body.done());
    await subscribed.active;
    return subscribed;
  }

  /** Publishes a message. Resolves when it is on its way. */
  async publish(topic: string, payload: string | Uint8Array): Promise<void> {
    const link = await this.channel.connected();
    const at = link.begin(0, FIRST + Op.Message);
    link.out.sized(utf8(topic));
    link.out.raw(typeof payload === "string" ? utf8(payload) : payload);
    link.finish(at);
  }

  /** Resolves when the broker has received everything that was published before. */
  async sync(): Promise<void> {
    const link = await this.channel.connected();
    this.link = link;
    const id = (this.next = (this.next % 0xffff) + 1);
    const synced = new Promise<void>((resolve, reject) => this.syncs.set(id, { resolve, reject }));
    link.packet(id, FIRST + Op.Sync);
    return synced;
  }

  private handle(link: Link, id: number, operation: Op, body: Uint8Array): void {
    if (link !== this.link) return;
    const from = new Reader(body);
    const subscribed = this.subscriptions.get(id);
    if (operation === Op.Message) {
      const topic = from.text(from.varint());
      const payload = new Uint8Array(from.view(from.end - from.at));
      if (id !== 0) subscribed?.put({ topic, payload });
      else for (const one of this.subscriptions.values()) if (!one.isGroup && one.matches(topic)) one.put({ topic, payload });
    } else if (operation === Op.Lagged) {
      const count = from.number();
      for (const one of this.subscriptions.values()) one.lost += count;
    } else if (operation === Op.Sync && !body.length) {
      this.syncs.get(id)?.resolve();
      this.syncs.delete(id);
    } else if (operation === Op.Subscribe && !body.length) subscribed?.activate();
    // Also the answer of a server that has no broker.
    else if (body.length) {
      const reason = from.byte();
      const code = reason === 3 ? Is.RESOURCE_EXHAUSTED : reason === 4 ? Is.UNIMPLEMENTED : Is.INVALID_ARGUMENT;
      const status = new Status(code, text(from.view(from.end - from.at)), { mayHaveRun: false });
      subscribed?.end(status);
      this.syncs.get(id)?.reject(status);
      this.syncs.delete(id);
      this.subscriptions.delete(id);
    }
  }

  private down(link: Link, status: Status): void {
    if (link !== this.link) return;
    for (const one of this.subscriptions.values()) one.end(status);
    for (const { reject } of this.syncs.values()) reject(status);
    this.subscriptions.clear();
    this.syncs.clear();
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
  private readonly tokens: readonly string[];
  private unread = 0;

  constructor(
    pattern: string,
    readonly isGroup: boolean,
    readonly leave: () => void,
  ) {
    super();
    this.tokens = pattern.split(".");
    this.active = new Promise((resolve, reject) => {
      this.activate = resolve;
      this.refuse = reject;
    });
  }

  matches(topic: string): boolean {
    const tokens = topic.split(".");
    const { length } = this.tokens;
    if (this.tokens[length - 1] === ">" ? tokens.length < length : tokens.length !== length) return false;
    return this.tokens.every((token, at) => token === ">" || token === "*" || token === tokens[at]);
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
