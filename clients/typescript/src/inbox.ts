/**
 * Received and unread items, as an async iterable. `stream.ts` and `topics.ts` define the items. */

import { Status } from "./status.js";

/** A queue of items that become values when they are read. */
export interface Inbox<Item, T> {
  /** Its reader. */
  readonly messages: AsyncGenerator<T, undefined>;
  readonly items: Item[];
  put(item: Item): void;
  /** Ends it behind what waits. The first end counts, and a status is told once. */
  end(end: Status | true): void;
}

/**
 * Makes a queue. `taken` makes an item a value, or `undefined` if it has none, and readers get its exception. `leave`
 * is called when the reader is gone, and may be called again. */
export function inbox<Item, T>(taken: (item: Item) => T | undefined, leave: () => void): Inbox<Item, T> {
  const items: Item[] = [];
  let last: Status | boolean = false;
  let wake = (): void => {};
  const end = (status: Status | true): void => {
    last ||= status;
    wake();
  };
  const messages = (async function* (): AsyncGenerator<T, undefined> {
    try {
      for (;;) {
        const item = items.shift();
        if (item !== undefined) {
          const value = taken(item);
          if (value !== undefined) yield value;
        } else if (last) {
          if (last !== true) throw last;
          return;
        } else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      leave();
    }
  })();
  const { return: finish } = messages;
  // It would wait for the next message, if a reader does.
  messages.return = () => {
    leave();
    items.length = 0;
    end(true);
    return finish.call(messages, undefined);
  };
  return {
    messages,
    items,
    put: (item) => {
      items.push(item);
      wake();
    },
    end,
  };
}
