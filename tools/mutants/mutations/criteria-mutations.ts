/**
 * Omits the guards (conditions on owner, mode, version, state, lease or expiry) in TypeORM criteria, one at a time:
 * `findOneBy(Row, { siteId, mode })`.
 */
import ts from 'typescript';
import { findGuardOfRows } from './guard-words.ts';
import type { Mutation } from './sql-mutations.ts';
import { collapseSpaces } from './sql-mutations.ts';

const METHODS_WITH_CRITERIA =
  /^(find(One)?(By)?(OrFail)?|findAndCount(By)?|count(By)?|exists?(By)?|update|delete|softDelete|increment|decrement)$/;
const METHODS_THAT_CHANGE = /^(update|delete|softDelete|increment|decrement)$/;

/** The names of functions in the file whose result is spread into criteria: `{ ...ownedBy(owner), keyId }`. */
export function findCriteriaHelpers(tree: ts.SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    const isCall = ts.isCallExpression(node) && ts.isIdentifier(node.expression);
    if (isCall && isInCriteria(node)) names.add(node.expression.text);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return names;
}

function isInCriteria(call: ts.CallExpression): boolean {
  const { parent } = call;
  if (ts.isSpreadAssignment(parent)) return findMethod(parent.parent) !== undefined;
  return (
    ts.isPropertyAssignment(parent) && parent.name.getText() === 'where' && findMethod(parent.parent) !== undefined
  );
}

/** The method of TypeORM to which the object is passed as criteria or options. */
function findMethod(object: ts.ObjectLiteralExpression): string | undefined {
  const { parent } = object;
  if (
    ts.isPropertyAssignment(parent) &&
    parent.name.getText() === 'where' &&
    ts.isObjectLiteralExpression(parent.parent)
  )
    return findMethod(parent.parent);
  if (!ts.isCallExpression(parent) || !ts.isPropertyAccessExpression(parent.expression)) return undefined;
  const isFirst = parent.arguments.find((argument) => ts.isObjectLiteralExpression(argument)) === object;
  const method = parent.expression.name.text;
  return isFirst && METHODS_WITH_CRITERIA.test(method) ? method : undefined;
}

function isReturnedByHelper(object: ts.ObjectLiteralExpression, helpers: ReadonlySet<string>): boolean {
  for (let at: ts.Node = object.parent; at; at = at.parent) {
    if (ts.isParenthesizedExpression(at) || ts.isReturnStatement(at) || ts.isBlock(at)) continue;
    return ts.isFunctionDeclaration(at) && at.name !== undefined && helpers.has(at.name.text);
  }
  return false;
}

export function criteriaMutations(
  object: ts.ObjectLiteralExpression,
  tree: ts.SourceFile,
  helpers: ReadonlySet<string>,
): Mutation[] {
  const method = findMethod(object);
  if (method === undefined && !isReturnedByHelper(object, helpers)) return [];
  // TypeORM refuses a change with empty criteria, so such a mutant would prove nothing.
  if (method !== undefined && METHODS_THAT_CHANGE.test(method) && object.properties.length < 2) return [];
  return object.properties.flatMap((property) => {
    const guard = findGuardOfRows([findPropertyName(property)]);
    if (guard === undefined) return [];
    const text = collapseSpaces(property.getText(tree));
    const span = { start: property.getStart(tree), end: endWithComma(property.end, tree.text) };
    const original = collapseSpaces(object.getText(tree));
    return [{ ...span, replacement: '', guard, original, what: `without ${text}` }];
  });
}

function findPropertyName(property: ts.ObjectLiteralElementLike): string {
  if (property.name) return property.name.getText();
  return ts.isSpreadAssignment(property) && ts.isCallExpression(property.expression)
    ? property.expression.expression.getText()
    : '';
}

function endWithComma(end: number, text: string): number {
  const comma = /^\s*,/.exec(text.slice(end));
  return end + (comma?.[0].length ?? 0);
}
