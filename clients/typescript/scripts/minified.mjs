// Minifies a program with terser. terser reuses the same variable names in several functions, whereas esbuild avoids
// shadowing and assigns different names. The reused names make the program more repetitive, so it compresses better.
import { minify } from "terser";

export const minified = (program, options = {}) =>
  minify(program, {
    module: true,
    ecma: 2022,
    compress: { ecma: 2022, passes: 2, lhs_constants: false, unsafe_methods: true },
    ...options,
  });
