// Makes a program small with terser: it gives a name to variables of several functions that esbuild gives different ones,
// since it lets names hide others, and so the same text comes again and is compressed to less.
import { minify } from "terser";

export const minified = (program, options = {}) =>
  minify(program, {
    module: true,
    ecma: 2022,
    compress: { ecma: 2022, passes: 2, lhs_constants: false, unsafe_methods: true },
    ...options,
  });
