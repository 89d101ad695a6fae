/** `test` of `node:test`, for places that do not have it: the tests wait until they are run by name. */

export const registered = new Map<string, () => unknown>();

export function test(name: string, run: () => unknown): void {
  registered.set(name, run);
}
