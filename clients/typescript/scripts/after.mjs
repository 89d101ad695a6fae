// What stands for `node:test` where the tests' browser is driven outside of a test: it is closed by `finish`.
const closing = [];
export const after = (close) => closing.unshift(close);
export const finish = async () => {
  for (const close of closing) await close();
};
