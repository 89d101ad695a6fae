/** Replacement for `test` of `node:test` in runtimes without it. Registered tests are run by name. */

export const registered = new Map<string, () => unknown>();

export function test(name: string, run: () => unknown): void {
  registered.set(name, run);
}
