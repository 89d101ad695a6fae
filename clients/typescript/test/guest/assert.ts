/** The part of `node:assert/strict` that the matrix needs, for runtimes without it. */

class AssertionError extends Error {}

const shown = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}n` : part instanceof Map ? [...part] : part))?.slice(0, 500) ?? String(value);

function same(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return Object.is(a, b);
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (a instanceof Uint8Array && b instanceof Uint8Array) return a.length === b.length && a.every((byte, at) => byte === b[at]);
  if (a instanceof Map && b instanceof Map) return same([...a], [...b]);
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length &&
    keys.every((key) => key in b && same((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]));
}

function fail(message?: string): never {
  throw new AssertionError(message);
}

function ok(value: unknown, message = "it is not so"): asserts value {
  if (!value) fail(message);
}

function deepEqual(found: unknown, expected: unknown, message = ""): void {
  if (!same(found, expected)) fail(`${message} ${shown(found)} is not ${shown(expected)}`);
}

function match(text: string, pattern: RegExp): void {
  ok(pattern.test(text), `${text} does not match ${String(pattern)}`);
}

function throws(run: () => unknown, expected?: unknown, message = ""): void {
  try {
    run();
  } catch (error) {
    if (typeof expected === "function" && !(error instanceof expected)) throw error;
    return;
  }
  fail(`${message} it did not throw`);
}

export default { AssertionError, fail, ok, equal: deepEqual, notEqual: (a: unknown, b: unknown, message = "") => ok(!same(a, b), message), deepEqual, match, throws };
