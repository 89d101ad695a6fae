/** The prefix of a message, with its timeout, metadata and status. `codec.ts` encodes the message itself. */

import { Malformed, expect, isBytes, remaining, malformed, peek, putItem, putRaw, putText, putVarint, takeByte, takeNumber, takeRest, takeText, takeValue, takeVarint, utf8, type Cursor } from "./bytes.js";
import { Is, Status, codeOf, notRun, type Metadata } from "./status.js";

/** First byte of a prefix. A message starts with 0, 6 or 8 instead. */
export const PREFIX = 0x10;
/** Maximum length of a prefix in bytes. */
const PREFIX_MAX = 64 << 10;
/**
 * Maximum length of the text sent in TRAILERS, in UTF-16 units. Together with the longest metadata, TRAILERS then fit
 * into 64 KiB.
 */
const SENT_TEXT_MAX = 1000;
/**
 * Limits of metadata: number of entries, and total length in bytes. Each entry is charged eight bytes in addition to
 * its key and value.
 */
const ENTRIES_MAX = 256;
const METADATA_MAX = 61_440;

/** Contents of a prefix to write. */
export interface PrefixFields {
  /** The timeout in milliseconds. */
  readonly timeout?: number | undefined;
  readonly metadata?: Metadata | undefined;
  readonly status?: Status;
}

/** Contents of a received prefix. */
export interface Prefix {
  timeout?: number;
  metadata: Metadata;
  code?: number;
  details?: Uint8Array;
  isRefused?: boolean;
  /** Text of the status. Present only in TRAILERS. */
  text?: string;
}

export const NOTHING: Prefix = { metadata: {} };

/** Returns all values of a metadata key. */
const valuesOf = (values: Metadata[string]): readonly (string | Uint8Array)[] => [values].flat() as (string | Uint8Array)[];

const isBinary = (key: string): boolean => key.endsWith("-bin");

/** Returns whether a metadata entry is valid. */
const fits = (key: string, entry: string | Uint8Array): boolean =>
  isBinary(key) !== (typeof entry === "string") && /^[a-z0-9_.-]{1,256}\n[ -~]*$/.test(`${key}\n${isBinary(key) ? "" : entry}`);

/** Converts text or bytes to bytes. Throws a `Status` for any other value. */
export function bytesOf(content: string | Uint8Array): Uint8Array {
  if (typeof content === "string") return utf8(content);
  if (!isBytes(content)) throw notRun(Is.INVALID_ARGUMENT, `content is a Uint8Array or a string, not ${String(content)}`);
  return content;
}

/** Writes a prefix, or nothing if it would be empty. Throws a `Status` for invalid metadata. */
export function writePrefix(to: Cursor, fields: PrefixFields): void {
  const { at } = to;
  if (!putItem(to, PREFIX, () => writeItems(to, fields))) to.at = at;
}

/** Writes the items of a prefix, without the bytes that introduce it. */
export function writeItems(to: Cursor, { timeout, metadata = {}, status }: PrefixFields): void {
  const { at } = to;
  if (timeout !== undefined) putItem(to, 1, () => putVarint(to, Math.min(Math.max(0, Math.round(timeout * 1000)), Number.MAX_SAFE_INTEGER)));
  let total = 0;
  let count = 0;
  for (const [key, entries] of Object.entries(metadata)) for (const entry of valuesOf(entries)) {
    if (!fits(key, entry)) throw notRun(Is.INVALID_ARGUMENT, `invalid metadata ${key}: keys have a-z 0-9 - _ . and values printable ASCII, or bytes under -bin`);
    total += key.length + entry.length + 8;
    if (++count > ENTRIES_MAX || total > METADATA_MAX) throw notRun(Is.RESOURCE_EXHAUSTED, "too much metadata");
    putItem(to, 2, () => {
      putText(to, key);
      putRaw(to, bytesOf(entry));
    });
  }
  if (status) {
    const { code, details, mayHaveRun } = status;
    putItem(to, 3, () => {
      putVarint(to, code);
      // Details that would exceed the maximum length are omitted, so that the peer can still read the rest.
      if (to.at - at + details.length + 32 <= PREFIX_MAX) putRaw(to, details);
    });
    if (!mayHaveRun) putItem(to, 5, () => {});
  }
}

/** Reads the prefix, if there is one. Rejects a request that contains an unknown item marked as mandatory. */
export function readPrefix(from: Cursor, isRequest = false): Prefix {
  if (peek(from) !== PREFIX) return NOTHING;
  from.at++;
  const items = takeValue(from);
  if (remaining(items) > PREFIX_MAX) malformed("a prefix is too long");
  return readItems(items, isRequest);
}

/** Reads the items of a prefix, of HEADERS or of TRAILERS. */
export function readItems(items: Cursor, isRequest = false): Prefix {
  // The peer chooses the keys, so the object must not have a prototype.
  const metadata: Record<string, Metadata[string]> = Object.create(null) as {};
  const prefix: Prefix = { metadata };
  let entries = 0;
  let total = 0;
  let seen = 0;
  while (remaining(items)) {
    const type = takeByte(items);
    const value = takeValue(items);
    if (type > 127) {
      const problem = `prefix item ${type} must be understood and is unknown`;
      throw isRequest ? notRun(Is.UNIMPLEMENTED, problem) : new Malformed(problem);
    }
    // Metadata, load reports and unknown items may occur more than once.
    if ([1, 3, 5, 6, 8].includes(type)) {
      if ((seen >> type) & 1) malformed(`prefix item ${type} occurs twice`);
      seen |= 1 << type;
    }
    if (type === 1) prefix.timeout = takeNumber(value) / 1000;
    else if (type === 2) {
      const key = takeText(value, takeVarint(value, 10));
      const entry = isBinary(key) ? takeRest(value) : takeText(value, remaining(value));
      total += key.length + entry.length + 8;
      if (!fits(key, entry) || ++entries > ENTRIES_MAX || total > METADATA_MAX) malformed("invalid metadata");
      metadata[key] = key in metadata ? [...valuesOf(metadata[key] as string), entry] : entry;
    } else if (type === 3) {
      prefix.code = takeVarint(value, 10);
      prefix.details = takeRest(value);
    } else if (type === 5) prefix.isRefused = true;
    else if (type === 8) prefix.text = lossy(value);
  }
  return prefix;
}

/** Decodes text that may have been truncated within a character. */
export const lossy = (from: Cursor, most?: number): string => new TextDecoder().decode(takeRest(from).subarray(0, most));

const statusOf = ({ metadata, code, details, isRefused }: Prefix, text = ""): Status =>
  new Status(codeOf(code ?? 0), text, { metadata, mayHaveRun: !isRefused, ...(details && { details }) });

/** Returns the status sent in place of a message, or `undefined` if a message follows. */
export function readStatus(from: Cursor, prefix: Prefix): Status | undefined {
  if (peek(from) !== 6) return;
  from.at++;
  expect(from, 5);
  expect(from, 10);
  return statusOf(prefix, takeText(from));
}

/** Returns the failure in TRAILERS, or `undefined` if the direction ended normally. */
export function readTrailers(items: Cursor): Status | undefined {
  const prefix = readItems(items);
  return prefix.code ?? prefix.isRefused ? statusOf(prefix, prefix.text) : undefined;
}

/** Writes the items of TRAILERS. Truncates a long text. */
export function writeTrailers(to: Cursor, status: Status): void {
  writeItems(to, { status, metadata: status.metadata });
  putItem(to, 8, () => putRaw(to, utf8(status.message.slice(0, SENT_TEXT_MAX))));
}

/** Writes a status in place of a message. */
export function writeStatus(to: Cursor, status: Status): void {
  writePrefix(to, { status, metadata: status.metadata });
  putRaw(to, [6, 5, 10]);
  putText(to, status.message);
}
