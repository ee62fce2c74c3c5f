/** The JSON Schema keywords of validation decorators: those of class-validator, and those of this repository. */
import ts from 'typescript';
import type { Decorator } from './program.ts';
import type { Schema } from './schema.ts';

type Rule = (argument: (index: number) => Value, constant: (name: string) => number) => Schema;
type Value = number | string | boolean | readonly Value[];

/** Text without control characters that is not only white space. */
const TEXT = String.raw`^(?=.*\S)[^\u0000-\u001f\u007f-\u009f]*$`;
const CODE = String.raw`^[^\u0000-\u001f\u007f-\u009f]*$`;
/** Text of which any characters are accepted, and that is not only white space and control characters. */
const LABEL = String.raw`[^\s\u0000-\u001f\u007f-\u009f]`;

/**
 * The keywords by the name of the decorator. The numbers come from the code: `argument` reads an argument of the
 * decorator, `constant` a constant in the file that declares the decorator. A missing decorator fails the generation.
 */
const RULES: Readonly<Record<string, Rule>> = {
  Allow: () => ({}),
  IsOptional: () => ({}),
  IfPresent: () => ({}),
  ValidateIf: () => ({}),
  ValidateNested: () => ({}),
  Type: () => ({}),
  IsNestedObject: () => ({}),
  IsObject: () => ({}),
  IsArray: () => ({}),
  IsString: () => ({}),
  IsBoolean: () => ({}),
  IsInt: () => ({ type: 'integer' }),
  Min: (argument) => ({ minimum: argument(0) }),
  Max: (argument) => ({ maximum: argument(0) }),
  MinLength: (argument) => ({ minLength: argument(0) }),
  MaxLength: (argument) => ({ maxLength: argument(0) }),
  ArrayMaxSize: (argument) => ({ maxItems: argument(0) }),
  ArrayUnique: () => ({ uniqueItems: true }),
  IsIn: (argument) => ({ enum: argument(0) }),
  Equals: (argument) => ({ const: argument(0) }),
  Matches: (argument) => ({ pattern: argument(0) }),
  IsUUID: () => ({ format: 'uuid' }),
  IsText: (argument) => ({ minLength: 1, maxLength: argument(0), pattern: TEXT }),
  IsLabel: (argument) => ({ minLength: 1, maxLength: argument(0), pattern: LABEL }),
  IsLocale: (_, constant) => ({ maxLength: constant('MAX_LOCALE_LENGTH') }),
  IsAmountInCents: (_, constant) => ({ type: 'integer', minimum: 1, maximum: constant('MAX_AMOUNT_CENTS') }),
  IsEmailAddress: (_, constant) => ({ format: 'email', maxLength: constant('MAX_EMAIL_LENGTH') }),
  IsHttpsUrl: (_, constant) => ({
    format: 'uri',
    pattern: '^https://',
    minLength: 1,
    maxLength: constant('MAX_URL_LENGTH'),
  }),
  AreHosts: () => ({ type: 'array' }),
  IsTimeZone: () => ({ minLength: 1, maxLength: 64 }),
  // Decorators of the transformer.
  IsName: (argument) => ({ maxLength: argument(0) }),
  IsCode: (argument) => ({ maxLength: argument(0), pattern: CODE }),
  IsNote: (_, constant) => ({ maxLength: constant('MAX_NOTE_LENGTH') }),
  IsReference: (_, constant) => ({ minLength: 1, maxLength: constant('MAX_REFERENCE_LENGTH'), pattern: TEXT }),
  IsCents: (_, constant) => ({ type: 'integer', minimum: 0, maximum: constant('MAX_AMOUNT') }),
  IsAmountOwed: (_, constant) => {
    const maximum = constant('MAX_AMOUNT');
    return { type: 'integer', minimum: -maximum, maximum: maximum };
  },
  IsLineTotal: (_, constant) => ({ minimum: -constant('MAX_AMOUNT'), maximum: constant('MAX_AMOUNT') }),
  IsQuantity: (_, constant) => ({ minimum: -constant('MAX_QUANTITY'), maximum: constant('MAX_QUANTITY') }),
  IsLineId: () => ({ type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
};

/** The keywords of a decorator with the name of a rule as argument: `@Matching('isQuantity', …)`. */
const NAMED_RULES: Readonly<Record<string, Rule>> = {
  isUnitPrice: (_, constant) => {
    const maximum = constant('MAX_AMOUNT_CENTS');
    const text = { type: 'string', pattern: String.raw`^\d{1,12}$` };
    return { type: undefined, anyOf: [text, { type: 'integer', minimum: 0, maximum: maximum }] };
  },
  isQuantity: (_, constant) => {
    const maximum = constant('MAX_QUANTITY');
    return { minimum: -maximum, maximum: maximum, not: { const: 0 } };
  },
  isUtcDate: () => ({
    format: 'date-time',
    pattern: String.raw`^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$`,
  }),
  isRefundAmount: () => ({}),
};

interface FieldRules {
  /** The keywords of the field itself. */
  readonly own: Schema;
  /** The keywords of each element of the field: decorators with `each: true`. */
  readonly each: Schema;
}

export function readFieldRules(decorators: readonly Decorator[], checker: ts.TypeChecker): FieldRules {
  const [own, each] = [{}, {}];
  for (const decorator of decorators) {
    const isNamed = RULES[decorator.name] === undefined;
    const [first] = decorator.args;
    const name = isNamed && first !== undefined && ts.isStringLiteral(first) ? first.text : decorator.name;
    const rule = isNamed ? NAMED_RULES[name] : RULES[name];
    if (!rule) throw new Error(`No rule for @${decorator.name}(${name}): add it to ${import.meta.filename}`);
    const isOfEach = decorator.args.some((argument) => /\beach: true\b/.test(argument.getText()));
    const argument = (index: number): Value => evaluate(decorator.args[index]!, checker);
    Object.assign(
      isOfEach ? each : own,
      rule(argument, (constant) => readConstant(constant, decorator, checker)),
    );
  }
  return { own, each };
}

/** The value of an expression that is known at compile time: a literal, a `const`, a product, or a list of these. */
export function evaluate(expression: ts.Expression, checker: ts.TypeChecker): Value {
  if (ts.isArrayLiteralExpression(expression)) return expression.elements.map((each) => evaluate(each, checker));
  if (ts.isRegularExpressionLiteral(expression)) return expression.text.slice(1, expression.text.lastIndexOf('/'));
  if (ts.isBinaryExpression(expression) && expression.operatorToken.kind === ts.SyntaxKind.AsteriskToken)
    return (evaluate(expression.left, checker) as number) * (evaluate(expression.right, checker) as number);
  if (ts.isAsExpression(expression)) return evaluate(expression.expression, checker);
  if (expression.kind === ts.SyntaxKind.TrueKeyword) return true;
  if (expression.kind === ts.SyntaxKind.FalseKeyword) return false;
  if (expression.getText() === 'Number.MAX_SAFE_INTEGER') return Number.MAX_SAFE_INTEGER;
  const type = checker.getTypeAtLocation(expression);
  if (type.isNumberLiteral() || type.isStringLiteral()) return type.value;
  let symbol = checker.getSymbolAtLocation(expression);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  const declaration = symbol?.valueDeclaration;
  if (declaration && ts.isVariableDeclaration(declaration) && declaration.initializer)
    return evaluate(declaration.initializer, checker);
  throw new Error(`No value known at compile time: ${expression.getText()} in ${expression.getSourceFile().fileName}`);
}

/** The value of a constant in the file that declares the decorator, or in its imports. */
function readConstant(name: string, { node }: Decorator, checker: ts.TypeChecker): number {
  let symbol = checker.getSymbolAtLocation(node);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  const declaration = symbol?.declarations?.[0];
  const found = declaration && checker.resolveName(name, declaration, ts.SymbolFlags.Value, false);
  const resolved = found && found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
  const initializer = (resolved?.valueDeclaration as ts.VariableDeclaration | undefined)?.initializer;
  if (!initializer) throw new Error(`${name} is not known where @${node.getText()} is declared.`);
  return evaluate(initializer, checker) as number;
}
