/**
 * Finds the guards (conditions on owner, mode, version, state, lease or expiry) of a TypeScript file: in its SQL, its
 * TypeORM criteria, and its conditions. A hole is a `${…}` in the template literal of an SQL statement.
 */
import ts from 'typescript';
import { conditionMutations } from './condition-mutations.ts';
import { criteriaMutations, findCriteriaHelpers } from './criteria-mutations.ts';
import type { Mutation } from './sql-mutations.ts';
import { isSql, sqlMutations } from './sql-mutations.ts';
import type { Span } from './sql-tokens.ts';

export type Kind = 'sql' | 'criteria' | 'condition';

/** An expression in the source that has mutants. */
export interface Site extends Span {
  readonly kind: Kind;
  readonly line: number;
  /** The name of the function, method or constant that contains the expression. */
  readonly within: string;
  readonly mutations: readonly Mutation[];
  /** For SQL: the start and end of the literal's text, and its holes. */
  readonly literal?: Span & { readonly holes: readonly Span[] };
}

/** Returns the sites in the order of the source. Positions are counted from the beginning of the file. */
export function findSites(file: string, source: string): Site[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true, scriptKind(file));
  const helpers = findCriteriaHelpers(tree);
  const sites: Site[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    const site = createSite(node, tree, helpers);
    if (site && site.mutations.length > 0) sites.push(site);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return sites.toSorted((a, b) => a.start - b.start || b.end - a.end);
}

function scriptKind(file: string): ts.ScriptKind {
  return file.endsWith('.tsx') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
}

function createSite(node: ts.Node, tree: ts.SourceFile, helpers: ReadonlySet<string>): Site | undefined {
  const start = node.getStart(tree);
  const place = {
    start,
    end: node.end,
    line: tree.getLineAndCharacterOfPosition(start).line + 1,
    within: findEnclosingName(node),
  };
  if (isLiteral(node)) {
    const literal = describeLiteral(node, tree);
    const text = tree.text.slice(literal.start, literal.end);
    if (!isSql(text)) return undefined;
    const holes = literal.holes.map((hole) => ({ start: hole.start - literal.start, end: hole.end - literal.start }));
    const mutations = sqlMutations(text, holes).map((mutation) => moveMutation(mutation, literal.start));
    return { ...place, kind: 'sql', mutations, literal };
  }
  if (ts.isObjectLiteralExpression(node)) {
    return { ...place, kind: 'criteria', mutations: criteriaMutations(node, tree, helpers) };
  }
  if (ts.isExpression(node)) return { ...place, kind: 'condition', mutations: conditionMutations(node, tree) };
  return undefined;
}

function moveMutation(mutation: Mutation, by: number): Mutation {
  return { ...mutation, start: mutation.start + by, end: mutation.end + by };
}

type Literal = ts.StringLiteral | ts.NoSubstitutionTemplateLiteral | ts.TemplateExpression;

/** A text literal that is an expression, not the name of a property or a module. */
function isLiteral(node: ts.Node): node is Literal {
  if (ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node))
    return !ts.isTaggedTemplateExpression(node.parent);
  if (!ts.isStringLiteral(node)) return false;
  const parent: ts.Node & { readonly name?: ts.Node } = node.parent;
  const isName = parent.name === node;
  return !isName && !ts.isExpressionStatement(parent) && !ts.isJsxAttribute(parent) && !ts.isEnumMember(parent);
}

function describeLiteral(node: Literal, tree: ts.SourceFile): NonNullable<Site['literal']> {
  const holes = ts.isTemplateExpression(node)
    ? node.templateSpans.map((span, at) => ({
        start: (at === 0 ? node.head : node.templateSpans[at - 1]!.literal).end - 2,
        end: span.literal.getStart(tree) + 1,
      }))
    : [];
  return { start: node.getStart(tree) + 1, end: node.end - 1, holes };
}

/** The name of the declaration that contains the node: unlike a line number, it rarely changes. */
function findEnclosingName(node: ts.Node): string {
  for (let at: ts.Node | undefined = node.parent; at; at = at.parent) {
    if (ts.isConstructorDeclaration(at)) return 'constructor';
    const name = findDeclarationName(at);
    if (name !== undefined) return name;
  }
  return '';
}

function findDeclarationName(node: ts.Node): string | undefined {
  const isNamed =
    ts.isFunctionDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isGetAccessorDeclaration(node) ||
    ts.isPropertyDeclaration(node) ||
    (ts.isVariableDeclaration(node) && isTopLevel(node));
  return isNamed ? node.name?.getText() : undefined;
}

function isTopLevel(declaration: ts.VariableDeclaration): boolean {
  return ts.isSourceFile(declaration.parent.parent.parent);
}
