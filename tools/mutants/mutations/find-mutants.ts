/** Finds the guards in the SQL statements of a TypeScript file. A mutant is the file with one guard removed or weakened. */
import ts from 'typescript';
import { isSql, type Mutation, sqlMutations } from './sql-mutations.ts';
import type { Span } from './sql-tokens.ts';

/** Positions are counted from the beginning of the file. */
export interface Mutant extends Mutation {
  readonly file: string;
  readonly line: number;
  /** The line of code in which the mutant begins. */
  readonly within: string;
}

export function findMutants(file: string, source: string): Mutant[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const mutants: Mutant[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node)) return;
    if (isText(node)) mutants.push(...mutateText(node, tree));
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return mutants.toSorted((a, b) => a.start - b.start);
}

export function applyMutant(source: string, { start, end, replacement }: Mutation): string {
  return source.slice(0, start) + replacement + source.slice(end);
}

type Text = ts.StringLiteral | ts.NoSubstitutionTemplateLiteral | ts.TemplateExpression;

function isText(node: ts.Node): node is Text {
  return ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node);
}

function mutateText(node: Text, tree: ts.SourceFile): Mutant[] {
  const from = node.getStart(tree) + 1;
  const text = tree.text.slice(from, node.end - 1);
  if (!isSql(text)) return [];
  return sqlMutations(text, ts.isTemplateExpression(node) ? findHoles(node, tree, from) : []).map((mutation) => {
    const start = from + mutation.start;
    const line = tree.getLineAndCharacterOfPosition(start).line + 1;
    const within = tree.text.split('\n')[line - 1]!.trim();
    return { ...mutation, file: tree.fileName, line, within, start, end: from + mutation.end };
  });
}

/** A hole is a `${…}` in the template literal of an SQL statement. */
function findHoles(node: ts.TemplateExpression, tree: ts.SourceFile, from: number): Span[] {
  const texts = [node.head, ...node.templateSpans.map(({ literal }) => literal)];
  return texts.slice(1).map((text, at) => ({
    start: texts[at]!.end - 2 - from,
    end: text.getStart(tree) + 1 - from,
  }));
}
