/** Encodes and decodes every message of the golden schemas, with values and bodies from generated Rust code. */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { decode, encode, message, type Type } from "frisbee-rpc";
import ts from "typescript";
import * as rootless from "../../../crates/frpc-languages/tests/golden/typescript/_.js";
import * as builtins from "../../../crates/frpc-languages/tests/golden/typescript/builtins.js";
import * as collisions from "../../../crates/frpc-languages/tests/golden/typescript/collisions.js";
import * as comments from "../../../crates/frpc-languages/tests/golden/typescript/comments.js";
import * as dataclasses from "../../../crates/frpc-languages/tests/golden/typescript/dataclasses.js";
import * as enums from "../../../crates/frpc-languages/tests/golden/typescript/enum.js";
import * as google from "../../../crates/frpc-languages/tests/golden/typescript/google.protobuf.js";
import * as hostile from "../../../crates/frpc-languages/tests/golden/typescript/hostile.js";
import * as interop from "../../../crates/frpc-languages/tests/golden/typescript/interop.js";
import * as money from "../../../crates/frpc-languages/tests/golden/typescript/money.js";
import * as presence from "../../../crates/frpc-languages/tests/golden/typescript/presence.js";
import * as shapes from "../../../crates/frpc-languages/tests/golden/typescript/shapes.js";
import * as orders from "../../../crates/frpc-languages/tests/golden/typescript/shop.orders.v1.js";
import * as shop from "../../../crates/frpc-languages/tests/golden/typescript/shop.js";
import * as keywords from "../../../crates/frpc-languages/tests/golden/typescript/type.keywords.js";
import * as vec from "../../../crates/frpc-languages/tests/golden/typescript/vec.js";
import * as vecopt from "../../../crates/frpc-languages/tests/golden/typescript/vecopt.js";
import * as wellknown from "../../../crates/frpc-languages/tests/golden/typescript/wellknown.js";
import { bytes, hex } from "./matrix/vectors.js";

const VECTORS = "../../crates/frpc-build/tests/golden/vectors.jsonl";
const FOLDER = "../../crates/frpc-languages/tests/golden/typescript";
const MODULES: Readonly<Record<string, object>> = {
  "_": rootless, builtins, collisions, comments, dataclasses, "enum": enums, "google.protobuf": google, hostile, interop, money, presence, shapes,
  "shop.orders.v1": orders, shop, "type.keywords": keywords, vec, vecopt, wellknown,
};

/** A table in the representation of the codec. */
interface Table extends Type<Record<string, unknown>> {
  fields(): readonly Field[];
}
interface Field {
  readonly name: string;
  readonly case: string;
  readonly number: number;
  readonly isOptional: boolean;
  readonly key: Kind | undefined;
  readonly head: readonly number[] | undefined;
  readonly all: readonly Field[] | undefined;
  readonly of: Kind;
}
interface Kind {
  readonly table?: Table;
  zero(): unknown;
}

interface Vector {
  readonly type: string;
  readonly value: readonly unknown[];
  readonly body: string;
}
const vectors = readFileSync(VECTORS, "utf8").trim().split("\n").map((line) => JSON.parse(line) as Vector);

const tables = new Map<string, { readonly table: Table; readonly module: string; readonly ident: string }>();
for (const [module, exported] of Object.entries(MODULES)) {
  for (const [ident, table] of Object.entries(exported)) {
    if (typeof table === "object" && "fields" in table) tables.set((table as Table).name, { table: table as Table, module, ident });
  }
}

/** Converts the value of a vector to a message of this type. */
function made(table: Table, values: readonly unknown[]): Record<string, unknown> {
  const fields = table.fields().filter(({ all }, at, fields) => !all || all[0] === fields[at]);
  assert.equal(fields.length, values.length, `${table.name} has ${fields.length} fields in its table, and ${values.length} in its schema`);
  return Object.fromEntries(fields.map(({ name, all, head, key, of }, at) => {
    const value = values[at];
    if (all) {
      if (value === null) return [name, undefined];
      const [number, one] = value as [number, unknown];
      const member = all.find((member) => member.number === number);
      assert.ok(member, `${table.name}.${name} has no member ${number}`);
      return [name, { case: member.case, value: single(member.of, one) }];
    }
    if (key) return [name, new Map((value as [unknown, unknown][]).map(([name, one]) => [single(key, name), single(of, one)]))];
    if (head) return [name, (value as unknown[]).map((one) => single(of, one))];
    return [name, single(of, value)];
  }));
}

function single(of: Kind, value: unknown): unknown {
  if (value === null) return undefined;
  if (of.table) return made(of.table, value as unknown[]);
  const zero = of.zero();
  if (typeof zero === "bigint") return BigInt(value as string);
  return zero instanceof Uint8Array ? bytes(value as string) : value;
}

test("golden modules are all here, and each of their messages has vectors", () => {
  const files = readdirSync(FOLDER).map((name) => name.replace(/\.ts$/, ""));
  assert.deepEqual(Object.keys(MODULES).sort(), files.sort());
  const own = [...tables.keys()].filter((name) => !name.startsWith("google.protobuf.")).sort();
  assert.deepEqual([...new Set(vectors.map(({ type }) => type))].sort(), own);
});

test("golden messages are encoded and decoded as in Rust", () => {
  for (const { type, value, body } of vectors) {
    const table = tables.get(type)?.table as Table;
    const of = made(table, value);
    assert.equal(hex(encode(table as Type<object>, of)), body, `${type} ${JSON.stringify(value)}`);
    assert.deepEqual(decode(table, bytes(body)), of, `${type} ${body}`);
  }
});

test("a message that states its layout is refused by name", () => {
  const stored = Uint8Array.of(0x12, ...new Uint8Array(16).fill(0xab), 8, 0);
  const table = tables.get("interop.Text")?.table as Table;
  assert.throws(() => decode(table, stored), { message: `interop.Text has the layout ${"ab".repeat(16)}, which is unknown` });
});

test("golden enums have their numbers in the order of the schema", () => {
  // The wire contains the index of an enum value in the schema.
  for (const [module, exported] of Object.entries(MODULES)) {
    const source = ts.createSourceFile(module, readFileSync(`${FOLDER}/${module}.ts`, "utf8"), ts.ScriptTarget.ES2022);
    for (const [ident, numbers] of Object.entries(exported)) {
      if (typeof numbers !== "object" || "name" in numbers && "fields" in numbers || "fingerprint" in numbers) continue;
      const declared: number[] = [];
      const visit = (node: ts.Node): void => {
        if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.name.text === ident && node.initializer && ts.isAsExpression(node.initializer) && ts.isObjectLiteralExpression(node.initializer.expression)) {
          for (const property of node.initializer.expression.properties) if (ts.isPropertyAssignment(property)) declared.push(Number(property.initializer.getText(source)));
        } else ts.forEachChild(node, visit);
      };
      visit(source);
      assert.deepEqual(Object.values(numbers), declared, `${module}.${ident}`);
    }
  }
});

test("golden interfaces have the properties of their tables", () => {
  for (const [module] of Object.entries(MODULES)) {
    const source = ts.createSourceFile(module, readFileSync(`${FOLDER}/${module}.ts`, "utf8"), ts.ScriptTarget.ES2022);
    for (const statement of source.statements) {
      if (!ts.isInterfaceDeclaration(statement)) continue;
      const found = [...tables.values()].find((it) => it.module === module && it.ident === statement.name.text);
      assert.ok(found, `${module}.${statement.name.text}`);
      const properties = new Set<string>();
      const cases = new Set<string>();
      for (const member of statement.members) {
        if (!ts.isPropertySignature(member) || !member.type) continue;
        properties.add((member.name as ts.Identifier).text);
        if (!ts.isUnionTypeNode(member.type)) continue;
        for (const one of member.type.types) {
          if (!ts.isTypeLiteralNode(one)) continue;
          for (const part of one.members) if (ts.isPropertySignature(part) && part.name.getText(source) === "case") cases.add((((part.type as ts.LiteralTypeNode).literal) as ts.StringLiteral).text);
        }
      }
      const fields = found.table.fields();
      assert.deepEqual(new Set(fields.map(({ name }) => name)), properties, `${module}.${statement.name.text}`);
      assert.deepEqual(new Set(fields.filter(({ all }) => all).map((field) => field.case)), cases, `${module}.${statement.name.text}`);
    }
  }
});

test("a table with an invalid entry is refused and not read in part", () => {
  for (const spec of ["a:s  b:s", "a:", "a:s b", "a:xs", "a:%s", ":s", "a:b/s"]) {
    assert.throws(() => encode(message<Record<string, string>>("a.Wrong", spec), { a: "" }), /invalid entry/, spec);
  }
});
