// Replacement for `after` of `node:test` in scripts that control a browser outside of a test. `finish` runs the
// registered functions.
const closing = [];
export const after = (close) => closing.unshift(close);
export const finish = async () => {
  for (const close of closing) await close();
};
