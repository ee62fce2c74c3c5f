/** Finds comparisons of owner, mode, version, state, lease or expiry in TypeScript, and their mutations. */
import ts from 'typescript';
import type { Guard } from './guard-words.ts';
import { findGuard, findStrongestGuard, splitWords } from './guard-words.ts';
import type { Mutation } from './sql-mutations.ts';
import { collapseSpaces } from './sql-mutations.ts';

const BOUNDARY_OPERATORS = new Map<ts.SyntaxKind, { readonly from: string; readonly to: string }>([
  [ts.SyntaxKind.LessThanToken, { from: '<', to: '<=' }],
  [ts.SyntaxKind.LessThanEqualsToken, { from: '<=', to: '<' }],
  [ts.SyntaxKind.GreaterThanToken, { from: '>', to: '>=' }],
  [ts.SyntaxKind.GreaterThanEqualsToken, { from: '>=', to: '>' }],
]);
const EQUALITIES: readonly ts.SyntaxKind[] = [
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
];
/** The names of boolean values. A condition on another name tests whether a value is present. */
const FLAG_NAME =
  /^(is|has|can|may|must|should|was|are)[A-Z]|(^|_|[a-z])([Rr]evoked|[Ll]eased|[Ww]ithdrawn|[Ee]xpired|[Ss]uperseded|[Kk]eyless|[Cc]losed|[Rr]eadable|[Rr]equired|[Ll]ocked|[Ss]tale|[Rr]etired|_key)$/;
/** A comparison of the length of a text or list guards nothing. */
const LENGTH_PROPERTIES = new Set(['length', 'size', 'byteLength']);

export function conditionMutations(node: ts.Expression, tree: ts.SourceFile): Mutation[] {
  if (ts.isBinaryExpression(node)) return comparisonMutations(node, tree);
  if (ts.isCallExpression(node) && isMembership(node)) return membershipMutations(node, tree);
  return isFlag(node) ? alwaysMutations(node, findStrongestGuard([findLastName(node)]), tree) : [];
}

function comparisonMutations(node: ts.BinaryExpression, tree: ts.SourceFile): Mutation[] {
  const { left, right, operatorToken } = node;
  const boundary = BOUNDARY_OPERATORS.get(operatorToken.kind);
  if (boundary === undefined && !EQUALITIES.includes(operatorToken.kind)) return [];
  if ([left, right].some((side) => isLength(side) || ts.isTypeOfExpression(side)) || isOptionalMember(node)) return [];
  // In TypeScript, `at` is an index; in SQL it is a time.
  const names = [...findNames(left), ...findNames(right)].filter((name) => name !== 'at');
  const isHttpStatus = [left, right].some((side) => ts.isNumericLiteral(side) && Number(side.text) >= 100);
  const guard = findStrongestGuard(isHttpStatus ? names.filter((name) => name !== 'status') : names);
  if (guard === undefined) return [];
  const mutations = alwaysMutations(node, guard, tree);
  if (boundary === undefined) return mutations;
  const span = { start: operatorToken.getStart(tree), end: operatorToken.end };
  const what = `${boundary.from} becomes ${boundary.to}`;
  return [
    ...mutations,
    { ...span, replacement: boundary.to, guard, original: collapseSpaces(node.getText(tree)), what },
  ];
}

/** The mutations `true` and `false`. */
function alwaysMutations(node: ts.Expression, guard: Guard | undefined, tree: ts.SourceFile): Mutation[] {
  if (guard === undefined) return [];
  const span = { start: node.getStart(tree), end: node.end };
  const original = collapseSpaces(node.getText(tree));
  return ['true', 'false'].map((value) => ({ ...span, replacement: value, guard, original, what: `always ${value}` }));
}

/** `states.includes(payment.state)`, `wanted.has(state)` */
function isMembership(node: ts.CallExpression): boolean {
  const called = node.expression;
  return ts.isPropertyAccessExpression(called) && ['includes', 'has'].includes(called.name.text);
}

function membershipMutations(node: ts.CallExpression, tree: ts.SourceFile): Mutation[] {
  const guard = findStrongestGuard(node.arguments.flatMap(findNames));
  const list = withoutCast((node.expression as ts.PropertyAccessExpression).expression);
  if (guard === undefined) return [];
  const original = collapseSpaces(node.getText(tree));
  const values = ts.isArrayLiteralExpression(list) && list.elements.length > 1 ? [...list.elements] : [];
  const cuts = values.map((value, at) => ({
    start: at === 0 ? value.getStart(tree) : values[at - 1]!.end,
    end: at === 0 ? values[1]!.getStart(tree) : value.end,
    replacement: '',
    guard,
    original,
    what: `without ${value.getText(tree)}`,
  }));
  return [...alwaysMutations(node, guard, tree), ...cuts];
}

function withoutCast(node: ts.Expression): ts.Expression {
  return ts.isParenthesizedExpression(node) || ts.isAsExpression(node) ? withoutCast(node.expression) : node;
}

/** A boolean name that is used as a condition. */
function isFlag(node: ts.Expression): boolean {
  const hasName = ts.isIdentifier(node) || ts.isPropertyAccessExpression(node) || ts.isCallExpression(node);
  if (!hasName || !isUsedAsCondition(node)) return false;
  const name = findLastName(node);
  return (FLAG_NAME.test(name) || splitWords(name)[0] === 'require') && findGuard(name) !== undefined;
}

function isUsedAsCondition(node: ts.Expression): boolean {
  const { parent } = node;
  if (ts.isParenthesizedExpression(parent) || (ts.isAwaitExpression(parent) && parent.expression === node))
    return isUsedAsCondition(parent);
  if (ts.isIfStatement(parent) || ts.isWhileStatement(parent)) return parent.expression === node;
  if (ts.isConditionalExpression(parent)) return parent.condition === node;
  if (ts.isPrefixUnaryExpression(parent)) return parent.operator === ts.SyntaxKind.ExclamationToken;
  if (ts.isArrowFunction(parent)) return parent.body === node;
  const isJunction =
    ts.isBinaryExpression(parent) &&
    [ts.SyntaxKind.AmpersandAmpersandToken, ts.SyntaxKind.BarBarToken].includes(parent.operatorToken.kind);
  return isJunction;
}

/** `...(x === undefined ? {} : { x })`: adds an optional member to an object, and guards nothing. */
function isOptionalMember(node: ts.BinaryExpression): boolean {
  const comparesWithEmpty = [node.left, node.right].some(
    (side) => side.kind === ts.SyntaxKind.NullKeyword || (ts.isIdentifier(side) && side.text === 'undefined'),
  );
  if (!comparesWithEmpty) return false;
  const { parent } = node;
  if (!ts.isConditionalExpression(parent) || parent.condition !== node) return false;
  return [parent.whenTrue, parent.whenFalse].some(isEmptyValue);
}

function isEmptyValue(node: ts.Expression): boolean {
  return (
    (ts.isObjectLiteralExpression(node) && node.properties.length === 0) ||
    (ts.isArrayLiteralExpression(node) && node.elements.length === 0) ||
    node.kind === ts.SyntaxKind.NullKeyword ||
    (ts.isIdentifier(node) && node.text === 'undefined')
  );
}

function isLength(node: ts.Expression): boolean {
  return ts.isPropertyAccessExpression(node) && LENGTH_PROPERTIES.has(node.name.text);
}

/** The last name of an expression: `expired` of `this.clock.expired(at)`. */
function findLastName(node: ts.Expression): string {
  if (ts.isAwaitExpression(node) || ts.isParenthesizedExpression(node)) return findLastName(node.expression);
  if (ts.isCallExpression(node)) return findLastName(node.expression);
  if (ts.isPropertyAccessExpression(node)) return node.name.text;
  return ts.isIdentifier(node) ? node.text : '';
}

/** The names in an operand: its last name and those of its arguments, but not names in the bodies of functions. */
function findNames(node: ts.Expression): string[] {
  if (ts.isPropertyAccessExpression(node)) return [node.name.text];
  if (ts.isIdentifier(node)) return [node.text];
  if (ts.isElementAccessExpression(node)) return [...findNames(node.expression), ...findNames(node.argumentExpression)];
  if (ts.isCallExpression(node)) {
    const called = node.expression;
    const receiver = ts.isPropertyAccessExpression(called) ? findNames(called.expression) : [];
    return [...findNames(called), ...receiver, ...node.arguments.flatMap(findNames)];
  }
  if (ts.isBinaryExpression(node)) return [...findNames(node.left), ...findNames(node.right)];
  const isWrapped =
    ts.isParenthesizedExpression(node) ||
    ts.isNonNullExpression(node) ||
    ts.isAsExpression(node) ||
    ts.isPrefixUnaryExpression(node) ||
    ts.isAwaitExpression(node);
  return isWrapped
    ? findNames((node as ts.ParenthesizedExpression).expression ?? (node as never as ts.PrefixUnaryExpression).operand)
    : [];
}
