/** Queue of received items, read as an async iterable. `stream.ts` and `topics.ts` define the items. */

import { Status } from "./status.js";

/** A queue of items that are converted to values when they are read. */
export interface Inbox<Item, T> {
  /** Async iterator over the values. The queue has only one reader. */
  readonly messages: AsyncGenerator<T, undefined>;
  put(item: Item): void;
  /** Returns the next item without removing it. */
  first(): Item | undefined;
  /** Removes and returns the next item. */
  take(): Item | undefined;
  /**
   * Ends the queue after the items it already holds. Only the first call has an effect. A status is thrown to the
   * reader once.
   */
  end(end: Status | true): void;
}

interface Node<Item> {
  item?: Item | undefined;
  next?: Node<Item>;
}

/**
 * Creates a queue. `convert` turns an item into its value, or into `undefined` to skip the item; its exceptions are
 * thrown to the reader. `onReturn` is called when the reader stops, possibly more than once.
 */
export function inbox<Item, T>(convert: (item: Item) => T | undefined, onReturn: () => void): Inbox<Item, T> {
  /** A linked list, because removing the first item of an array would move all others. Its first node has no item. */
  let head: Node<Item> = {};
  let tail = head;
  let last: Status | boolean = false;
  let wake = (): void => {};
  const end = (status: Status | true): void => {
    last ||= status;
    wake();
  };
  const first = (): Item | undefined => head.next?.item;
  const take = (): Item | undefined => {
    const item = first();
    head = head.next ?? head;
    head.item = undefined;
    return item;
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
  // The default `return` of a generator would wait until a pending read completes.
  messages.return = () => {
    onReturn();
    head = tail = {};
    end(true);
    return finish.call(messages, undefined);
  };
  return {
    messages,
    first,
    take,
    put: (item) => {
      tail = tail.next = { item };
      wake();
    },
    end,
  };
}
