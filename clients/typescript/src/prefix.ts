/**
 * What may stand in front of a message: the time that is left, metadata, a status. `codec.ts` owns the message.
 */

import { Malformed, Reader, Writer, utf8 } from "./bytes.js";
import { Is, type Code, Status, codeOf, notRun, type Metadata } from "./status.js";

/** The first byte of a prefix. Messages begin with 0, 6 or 8. */
const PREFIX = 0x10;
/** The longest prefix, in bytes. */
const PREFIX_MAX = 64 << 10;
/** How many entries of metadata there may be, and how long they may be together, with eight bytes more for each. */
const ENTRIES_MAX = 256;
const METADATA_MAX = 61_440;

const KEY = /^[a-z0-9_.-]{1,256}$/;
const PRINTABLE = /^[ -~]*$/;

/** What is written in front of a message. */
export interface Said {
  /** The accepting end has made the call. */
  readonly backward?: boolean;
  /** In milliseconds. */
  readonly timeout?: number | undefined;
  readonly metadata?: Metadata | undefined;
  readonly status?: Status;
}

/** What stood in front of a message. */
export interface Prefix {
  timeout?: number;
  metadata: Metadata;
  code?: Code;
  details?: Uint8Array;
  refused?: boolean;
}

const NOTHING: Prefix = { metadata: {} };

/** Whether the rules allow an entry of metadata. */
const fits = (key: string, entry: string | Uint8Array): boolean =>
  KEY.test(key) && (typeof entry === "string" ? !isBinary(key) && PRINTABLE.test(entry) : isBinary(key));

const isBinary = (key: string): boolean => key.endsWith("-bin");

/** Writes a prefix, if there is anything to say. Throws a `Status` for metadata that breaks the rules. */
export function writePrefix(to: Writer, { backward, timeout, metadata, status }: Said): void {
  const items = new Writer(64);
  if (backward) items.item(4);
  if (timeout !== undefined) items.item(1, (value) => value.varint(Math.min(Math.max(0, Math.round(timeout * 1000)), Number.MAX_SAFE_INTEGER)));
  const entries = Object.entries(metadata ?? {});
  let total = 0;
  for (const [key, entry] of entries) {
    if (!fits(key, entry)) throw notRun(Is.INVALID_ARGUMENT, `metadata cannot have this entry: ${key}`);
    total += key.length + entry.length + 8;
    if (entries.length > ENTRIES_MAX || total > METADATA_MAX) throw notRun(Is.RESOURCE_EXHAUSTED, "too much metadata");
    items.item(2, (value) => {
      value.text(key);
      value.raw(typeof entry === "string" ? utf8(entry) : entry);
    });
  }
  if (status) {
    items.item(3, (value) => {
      value.varint(status.code);
      // Details that would make the prefix too long are left out, so that the rest can be read.
      if (items.at + status.details.length + 16 <= PREFIX_MAX) value.raw(status.details);
    });
    if (!status.mayHaveRun) items.item(5);
  }
  if (items.at) {
    to.byte(PREFIX);
    to.sized(items.done());
  }
}

/** Takes the prefix off, if there is one. */
export function readPrefix(from: Reader): Prefix {
  if (from.next !== PREFIX) return NOTHING;
  from.at++;
  const items = new Reader(from.view());
  if (items.left > PREFIX_MAX) throw new Malformed("a prefix is too long");
  // Without a prototype: the keys are the peer's.
  const metadata: Record<string, string | Uint8Array> = Object.create(null) as {};
  const prefix: Prefix = { metadata };
  let entries = 0;
  while (items.left) {
    const type = items.byte();
    const value = new Reader(items.view());
    if (type === 1) prefix.timeout = value.varint(10) / 1000;
    else if (type === 2) {
      const key = value.text();
      const entry = isBinary(key) ? value.rest() : value.text(value.left);
      if (!fits(key, entry) || ++entries > ENTRIES_MAX) throw new Malformed("metadata breaks the rules");
      metadata[key] = entry;
    } else if (type === 3) {
      prefix.code = codeOf(value.varint(10));
      prefix.details = value.rest();
    } else if (type === 5) prefix.refused = true;
  }
  return prefix;
}

/** Whether a body belongs to a call of the accepting end: its prefix begins with the item that says so. */
export function isBackward(body: Uint8Array): boolean {
  if (body[0] !== PREFIX) return false;
  let at = 1;
  while (at < 6 && (body[at] as number) > 127) at++;
  return body[at + 1] === 4 && body[at + 2] === 0;
}

/** Whether an error stands in the place of a message. */
export const isError = (from: Reader): boolean => from.next === 6;

/** The status in the place of a message. */
export function readStatus(from: Reader, { metadata, code, details, refused }: Prefix): Status {
  from.at++;
  if (from.byte() !== 5 || from.byte() !== 10) throw new Malformed("an error has no text");
  return new Status(code ?? Is.UNKNOWN, from.text(), { metadata, mayHaveRun: !refused, ...(details && { details }) });
}

/** Writes a status in the place of a message. */
export function writeStatus(to: Writer, status: Status, backward: boolean): void {
  writePrefix(to, { backward, status, metadata: status.metadata });
  for (const byte of [6, 5, 10]) to.byte(byte);
  to.text(status.message);
}
