/** Reads the source of the apps and libs with the TypeScript compiler. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

export const root = join(import.meta.dirname, '../../..');

export interface Source {
  readonly checker: ts.TypeChecker;
  /** Files of apps and libs, without tests. */
  readonly files: readonly ts.SourceFile[];
}

export function readSource(): Source {
  const names = globSync(['{apps,libs}/*/src/**/*.controller.ts', 'libs/contracts/src/index.ts'], { cwd: root });
  const read = ts.readConfigFile(join(root, 'tsconfig.base.json'), (file) => ts.sys.readFile(file));
  const { compilerOptions } = read.config as { readonly compilerOptions: object };
  const { options } = ts.convertCompilerOptionsFromJson(compilerOptions, root);
  const program = ts.createProgram({
    rootNames: names.sort().map((name) => join(root, name)),
    options: { ...options, composite: false, incremental: false, noEmit: true, types: ['node'] },
  });
  const workspaceFile = new RegExp(`^${root}/(apps|libs)/[^/]+/src/`);
  return {
    checker: program.getTypeChecker(),
    files: program.getSourceFiles().filter(({ fileName }) => workspaceFile.test(fileName)),
  };
}

/** A decorator, such as `@Post('login')`, of a class, method, property or parameter. */
export interface Decorator {
  readonly name: string;
  readonly args: readonly ts.Expression[];
  readonly node: ts.Expression;
}

export function readDecorators(node: ts.Node): Decorator[] {
  const decorators = ts.canHaveDecorators(node) ? (ts.getDecorators(node) ?? []) : [];
  return decorators.map(({ expression }) =>
    ts.isCallExpression(expression)
      ? { name: expression.expression.getText(), args: expression.arguments, node: expression.expression }
      : { name: expression.getText(), args: [], node: expression },
  );
}

/** The text of a docstring without its tags: each paragraph on one line, and `{@link X}` as `X`. */
export function readDescription(symbol: ts.Symbol | undefined, checker: ts.TypeChecker): string {
  return symbol === undefined ? '' : formatDocstring(ts.displayPartsToString(symbol.getDocumentationComment(checker)));
}

export interface Tag {
  readonly name: string;
  /** The first word after the name. */
  readonly key: string;
  readonly text: string;
}

/** The tags of a docstring, such as `@throws payable.paid …`. */
export function readTags(node: ts.Node): Tag[] {
  return ts.getJSDocTags(node).map((tag) => {
    const whole = tag
      .getText()
      .replace(/^@\S+\s*/, '')
      .replaceAll(/\n\s*\*/g, '\n');
    const [, key = '', text = ''] = /^(\S*)\s*([^]*)$/.exec(formatDocstring(whole)) ?? [];
    return { name: tag.tagName.text, key, text };
  });
}

/** A type of the contracts, or of the transformer's responses, by its name. */
export function findType(name: string, { files, checker }: Source): ts.Type {
  for (const file of files) {
    if (!/(libs\/contracts\/src|pos-transformer\/src\/answers)\//.test(file.fileName)) continue;
    const found = file.statements.find(
      (each) =>
        (ts.isInterfaceDeclaration(each) || ts.isTypeAliasDeclaration(each) || ts.isClassDeclaration(each)) &&
        each.name?.text === name,
    ) as ts.InterfaceDeclaration | undefined;
    if (found) return checker.getDeclaredTypeOfSymbol(checker.getSymbolAtLocation(found.name)!);
  }
  throw new Error(`There is no type ${name}.`);
}

function formatDocstring(text: string): string {
  return text
    .replaceAll(/\{@link (\w+)[^}]*\}/g, '`$1`')
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replaceAll(/\s*\n\s*/g, ' ').trim())
    .join('\n\n')
    .trim();
}
