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
const sources = program.getSourceFiles().filter((file) => !file.isDeclarationFile);

/** Names that we declare, and those that somebody else knows. */
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

const isTheirs = (symbol) => symbol?.declarations?.some((declaration) => declaration.getSourceFile().isDeclarationFile);

/** Adds the names by which a file uses what the platform declares: all others of the platform may be ours too. */
function collectUsed(node) {
  if (ts.isPropertyAccessExpression(node) && isTheirs(checker.getSymbolAtLocation(node.name))) known.add(node.name.text);
  const isPart = ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent);
  const from = isPart ? checker.getTypeAtLocation(node.parent) : ts.isObjectLiteralElementLike(node) ? checker.getContextualType(node.parent) : undefined;
  const name = node.propertyName ?? node.name;
  if (from && name && ts.isIdentifier(name)) {
    for (const type of from.types ?? [from]) if (isTheirs(type.getProperty(name.text))) known.add(name.text);
  }
  ts.forEachChild(node, collectUsed);
}

for (const file of sources) {
  collect(file, ours, false);
  collectUsed(file);
}
for (const entry of entries) {
  for (const exported of checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry)))) {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    for (const declaration of symbol.declarations ?? []) collect(declaration, known, true);
  }
}
export const INTERNAL = new RegExp(`^(${[...ours].filter((name) => /^\w+$/.test(name) && !known.has(name)).join("|")})$`);
