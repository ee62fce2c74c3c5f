/** Finds the operations of the controllers, from their decorators, types and docstrings. */
import { relative } from 'node:path';
import ts from 'typescript';
import type { Decorator, Source, Tag } from './program.ts';
import { findType, readDecorators, readDescription, readTags, root } from './program.ts';
import { evaluate } from './validators.ts';

export interface Operation {
  /** The folder of the app, or of the library if several apps serve the controller. */
  readonly app: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** `/v1/payments/{paymentReference}` */
  readonly path: string;
  readonly operationId: string;
  /** `deadLetters` */
  readonly controller: string;
  /** The OpenAPI tag, which groups operations: the name of the controller in words (or `@group`), and its docstring. */
  readonly tag: { readonly name: string; readonly description: string };
  /** Whether the controller has the docstring tag `@group`, with the name of another controller's OpenAPI tag. */
  readonly hasTagOfAnother: boolean;
  readonly doc: string;
  /** The docstring tags (`@…`) of the method and its guards. They are not OpenAPI tags. */
  readonly tags: readonly Tag[];
  readonly guards: readonly string[];
  readonly status: number;
  /** Names of query parameters. */
  readonly query: readonly string[];
  /** The type of the whole query, if the method has a parameter for it. */
  readonly queryType?: ts.Type;
  readonly headers: readonly string[];
  readonly body?: ts.Type;
  /** The return type, without the promise; undefined for void. */
  readonly responseType?: ts.Type;
  readonly node: ts.MethodDeclaration;
}

const METHODS: Readonly<Record<string, Operation['method']>> = {
  Get: 'get',
  Post: 'post',
  Put: 'put',
  Patch: 'patch',
  Delete: 'delete',
};

export function findOperations(source: Source): Operation[] {
  const operations: Operation[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isClassDeclaration(node)) {
      const controller = readDecorators(node).find(({ name }) => name === 'Controller');
      if (controller) operations.push(...findOperationsOfController(node, controller, source));
    }
    ts.forEachChild(node, visit);
  };
  for (const file of source.files) if (file.fileName.endsWith('.controller.ts')) visit(file);
  return operations;
}

function findOperationsOfController(node: ts.ClassDeclaration, controller: Decorator, source: Source): Operation[] {
  // A method or controller with the tag @internal is only for the platform's own pages.
  const isInternal = (each: ts.Node): boolean => readTags(each).some(({ name }) => name === 'internal');
  if (isInternal(node)) return [];
  const methods = node.members.filter(ts.isMethodDeclaration).filter((method) => !isInternal(method));
  return methods.flatMap((method) =>
    readDecorators(method).flatMap((decorator) => {
      const verb = METHODS[decorator.name];
      if (verb === undefined) return [];
      const methodPaths = readPaths(decorator);
      return readPaths(controller).flatMap((base) =>
        methodPaths
          .flatMap((path) => expandModelName(joinPaths(base, path)))
          .map((path) => createOperation({ node, method, verb, path }, source)),
      );
    }),
  );
}

/** Finds the function that creates a controller for several services. Its docstring describes the controller. */
function findFactory(node: ts.ClassDeclaration): ts.FunctionDeclaration | undefined {
  const { parent } = node.parent;
  return parent && ts.isFunctionDeclaration(parent) ? parent : undefined;
}

/** The read models that a command can rebuild. Each read model has its own path. */
const REBUILT_MODELS = ['console', 'history', 'retrieval'];

function expandModelName(path: string): string[] {
  return path.includes('{name}') ? REBUILT_MODELS.map((name) => path.replace('{name}', name)) : [path];
}

interface Handler {
  readonly node: ts.ClassDeclaration;
  readonly method: ts.MethodDeclaration;
  readonly verb: Operation['method'];
  readonly path: string;
}

function createOperation({ node, method, verb, path }: Handler, source: Source): Operation {
  const { checker } = source;
  const name = node.name!.text.replace(/Controller$/, '');
  const decorators = readDecorators(method);
  const guardNodes = [...readDecorators(node), ...decorators].flatMap((each) => findGuards(each, checker));
  const parameters = method.parameters.flatMap((parameter) =>
    readDecorators(parameter).map((decorator) => ({ parameter, decorator })),
  );
  const listNames = (kind: string): string[] =>
    parameters.flatMap(({ decorator: { name: decoratorName, args } }) =>
      decoratorName === kind && args[0] && ts.isStringLiteral(args[0]) ? [args[0].text] : [],
    );
  const findParameterType = (kind: string): ts.Type | undefined => {
    const found = parameters.find(({ decorator }) => decorator.name === kind && decorator.args.length === 0);
    return found && checker.getTypeAtLocation(found.parameter);
  };
  const httpCode = decorators.find((each) => each.name === 'HttpCode')?.args[0];
  const bodyTag = readTags(method).find((tag) => tag.name === 'body');
  const body = bodyTag ? findType(bodyTag.key, source) : findParameterType('Body');
  const queryType = findParameterType('Query');
  const responseType = findResponseType(method, checker);
  const guardTags = guardNodes.flatMap(readTags);
  return {
    app: relative(root, node.getSourceFile().fileName).split('/')[1]!,
    method: verb,
    path,
    operationId: createOperationId(name, method.name.getText(), path),
    controller: name.charAt(0).toLowerCase() + name.slice(1),
    tag: {
      name:
        readTags(node).find(({ name: tag }) => tag === 'group')?.key ??
        name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
      description: readDescription(checker.getSymbolAtLocation((findFactory(node) ?? node).name!), checker),
    },
    hasTagOfAnother: readTags(node).some(({ name: tag }) => tag === 'group'),
    doc: readDescription(checker.getSymbolAtLocation(method.name), checker),
    tags: [...readTags(method), ...guardTags],
    guards: guardNodes.map((guard) => (guard as ts.ClassDeclaration).name?.text ?? ''),
    status: httpCode ? readStatus(httpCode, checker) : verb === 'post' ? 201 : 200,
    query: listNames('Query'),
    headers: listNames('Headers'),
    ...(queryType && !checker.getIndexTypeOfType(queryType, ts.IndexKind.String) ? { queryType } : {}),
    ...(body ? { body } : {}),
    ...(responseType ? { responseType } : {}),
    node: method,
  };
}

function readStatus(expression: ts.Expression, checker: ts.TypeChecker): number {
  const type = checker.getTypeAtLocation(expression);
  return type.isNumberLiteral() ? type.value : (evaluate(expression, checker) as number);
}

/** Creates an id that is unique in a document. An older API version, a rebuilt model and a site each add a suffix. */
function createOperationId(controller: string, method: string, path: string): string {
  const noun = controller.charAt(0).toLowerCase() + controller.slice(1);
  const baseId = `${noun}${method.charAt(0).toUpperCase()}${method.slice(1)}`;
  if (path.startsWith('/api/v3/')) return `${baseId}V3`;
  const rebuilt = REBUILT_MODELS.find((name) => path === `/admin/v1/${name}/rebuild`);
  if (rebuilt !== undefined) return `${baseId}Of${rebuilt.replace(/^./, (letter) => letter.toUpperCase())}`;
  const isOfMerchantAndSite = /^\/business\/.+\/(invoices\/\{invoiceId\}\/payments|payments(\/\{svcId\})?)$/.test(path);
  return isOfMerchantAndSite && path.includes('/sites/') ? `${baseId}AtSite` : baseId;
}

function readPaths({ args: [argument] }: Decorator): string[] {
  if (!argument) return [''];
  if (ts.isArrayLiteralExpression(argument)) return argument.elements.map(readText);
  return [readText(argument)];
}

function readText(expression: ts.Expression): string {
  if (ts.isStringLiteralLike(expression)) return expression.text;
  // The path of a controller that several services have: `admin/v1/dead-letters/${service}`.
  return expression
    .getText()
    .slice(1, -1)
    .replaceAll(/\$\{(\w+)\}/g, ':$1');
}

function joinPaths(...parts: string[]): string {
  const segments = parts.flatMap((part) => part.split('/').filter(Boolean));
  return `/${segments.map((segment) => segment.replace(/^:(\w+)$/, '{$1}').replace(/^\*$/, '{code}')).join('/')}`;
}

/** Finds the guards of `@UseGuards(…)`, and of decorators of this project that apply `@UseGuards`. */
function findGuards({ name, args, node }: Decorator, checker: ts.TypeChecker): ts.Node[] {
  const findDeclaration = (expression: ts.Expression): ts.Declaration[] => {
    let symbol = checker.getSymbolAtLocation(expression);
    if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
    return symbol?.declarations?.slice(0, 1) ?? [];
  };
  if (name === 'UseGuards') return args.flatMap(findDeclaration);
  const [declaration] = findDeclaration(node);
  if (!declaration || !ts.isFunctionDeclaration(declaration) || !declaration.getSourceFile().fileName.startsWith(root))
    return [];
  if (declaration.getSourceFile().fileName.includes('/node_modules/')) return [];
  const found: ts.Node[] = [];
  const visit = (each: ts.Node): void => {
    if (ts.isCallExpression(each) && each.expression.getText() === 'UseGuards')
      found.push(...each.arguments.flatMap(findDeclaration));
    ts.forEachChild(each, visit);
  };
  visit(declaration);
  return found;
}

/** Finds the type of the JSON response. Returns undefined for texts and streams, which `@produces` describes. */
function findResponseType(method: ts.MethodDeclaration, checker: ts.TypeChecker): ts.Type | undefined {
  const signature = checker.getSignatureFromDeclaration(method);
  if (!signature) return undefined;
  const returned = checker.getReturnTypeOfSignature(signature);
  const type = checker.getAwaitedType(returned) ?? returned;
  const members = (type.isUnion() ? type.types : [type]).filter(
    (each) =>
      !(each.flags & (ts.TypeFlags.String | ts.TypeFlags.Undefined | ts.TypeFlags.Void)) &&
      each.symbol?.name !== 'StreamableFile',
  );
  if (members.length === 0) return undefined;
  if (members.length === 1) return members[0];
  return type;
}
