// Provides the schema to grpc-js, which can only read it from files.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { loadSync } from "@grpc/proto-loader";
import { PROTO } from "./schema.mjs";

export function definition() {
  const folder = mkdtempSync(`${tmpdir()}/bench-`);
  writeFileSync(`${folder}/bench.proto`, PROTO);
  try {
    return loadSync(`${folder}/bench.proto`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
