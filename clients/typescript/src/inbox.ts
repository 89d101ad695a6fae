/**
 * Received and unread items, as an async iterable. `stream.ts` and `topics.ts` define the items. */

import { Status } from "./status.js";

/** A queue of items that become values when they are read. */
export interface Inbox<Item, T> {
  /** Async iterator over the values, for the only reader of the queue. */
  readonly messages: AsyncGenerator<T, undefined>;
  put(item: Item): void;
  /** Returns the next item without taking it. */
  first(): Item | undefined;
  /** Removes and returns the next item. */
  take(): Item | undefined;
  clear(): void;
  /** Ends the queue after its items. Only the first end counts, and a status is thrown once. */
  end(end: Status | true): void;
}

/**
 * Creates a queue. `convert` converts an item to its value, or `undefined` if it has none; its exceptions are thrown to
 * readers. `onReturn` is called when the reader ends, and may be called again.
 */
export function inbox<Item, T>(convert: (item: Item) => T | undefined, onReturn: () => void): Inbox<Item, T> {
  let items: (Item | undefined)[] = [];
  /** Number of taken items at the start of the array. Shifting the array for each item would move all others. */
  let head = 0;
  let last: Status | boolean = false;
  let wake = (): void => {};
  const end = (status: Status | true): void => {
    last ||= status;
    wake();
  };
  const first = (): Item | undefined => items[head];
  const take = (): Item | undefined => {
    const item = first();
    if (item !== undefined) {
      items[head++] = undefined;
      if (head > 999 && head * 2 > items.length) {
        items.splice(0, head);
        head = 0;
      }
    }
    return item;
  };
  const clear = (): void => {
    items = [];
    head = 0;
  };
  const messages = (async function* (): AsyncGenerator<T, undefined> {
    try {
      for (;;) {
        const item = take();
        if (item !== undefined) {
          const value = convert(item);
          if (value !== undefined) yield value;
        } else if (last) {
          if (last !== true) throw last;
          return;
        } else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      onReturn();
    }
  })();
  const { return: finish } = messages;
  // The default implementation would wait for the next message if a reader is waiting.
  messages.return = () => {
    onReturn();
    clear();
    end(true);
    return finish.call(messages, undefined);
  };
  return {
    messages,
    first,
    take,
    clear,
    put: (item) => {
      items.push(item);
      wake();
    },
    end,
  };
}
