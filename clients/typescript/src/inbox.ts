/**
 * Received and unread items, as an async iterable. `stream.ts` and `topics.ts` define the items. */

import { Status } from "./status.js";

/** A queue of items that become values when they are read. */
export interface Inbox<Item, T> {
  /** Its reader. */
  readonly messages: AsyncGenerator<T, undefined>;
  readonly items: Item[];
  put(item: Item): void;
  /** Ends it after the queued items. The first end counts, and a status is thrown once. */
  end(end: Status | true): void;
}

/**
 * Makes a queue. `convert` makes an item a value, or `undefined` if it has none; readers get its exception. `onReturn`
 * is called when the reader ends, and may be called again. */
export function inbox<Item, T>(convert: (item: Item) => T | undefined, onReturn: () => void): Inbox<Item, T> {
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
  // Otherwise it would wait for the next message while a reader does.
  messages.return = () => {
    onReturn();
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
