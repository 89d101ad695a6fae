// The names of properties that are ours alone: neither users and generated code nor the platform know them. `dist` has
// short ones in their place.
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("..", import.meta.url));
const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
const entries = ["index", "node"].map((name) => `${root}src/${name}.ts`);
const program = ts.createProgram(entries, options);
const checker = program.getTypeChecker();

const ours = new Set();
const known = new Set();

/** Adds the names of properties that are declared below a node. */
function collect(node, into, isPublic) {
  const isHidden = isPublic && (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Private || ts.getJSDocTags(node).some((tag) => tag.tagName.text === "internal"));
  if (isHidden) return;
  const isProperty = ts.isClassElement(node) || ts.isTypeElement(node) || ts.isObjectLiteralElement(node) || (ts.isParameter(node) && ts.isParameterPropertyDeclaration(node, node.parent));
  if (isProperty && node.name && ts.isIdentifier(node.name)) into.add(node.name.text);
  // The bodies of functions are nobody's business.
  ts.forEachChild(node, (child) => (isPublic && ts.isBlock(child) ? undefined : collect(child, into, isPublic)));
}
for (const file of program.getSourceFiles()) {
  if (file.isDeclarationFile) collect(file, known, false);
  else collect(file, ours, false);
}
for (const entry of entries) {
  for (const exported of checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry)))) {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    for (const declaration of symbol.declarations ?? []) collect(declaration, known, true);
  }
}
export const INTERNAL = new RegExp(`^(${[...ours].filter((name) => /^\w+$/.test(name) && !known.has(name)).join("|")})$`);
