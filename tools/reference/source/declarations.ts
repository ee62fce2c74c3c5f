/**
 * Finds the events and commands that the contracts declare: `eventType<Payload>('payment.failed.v1')`,
 * `commandType<Request, Reply>('charge-card.v1')`.
 */
import ts from 'typescript';
import type { ServiceMessages } from '../../../libs/contracts/src/service-messages.ts';
import { SERVICE_MESSAGES } from '../../../libs/contracts/src/service-messages.ts';
import type { Source } from './program.ts';
import { readDescription } from './program.ts';

export const SERVICES = Object.entries(SERVICE_MESSAGES) as [string, ServiceMessages][];

export interface Declaration {
  /** `payment.succeeded.v1` */
  readonly type: string;
  readonly description: string;
  /** The declaration in the source. */
  readonly node: ts.Node;
}

export interface EventDeclaration extends Declaration {
  readonly payload: ts.Type;
}

export interface CommandDeclaration extends Declaration {
  readonly request: ts.Type;
  readonly reply: ts.Type;
}

/** @throws Error when a service publishes a type that is not declared */
export function eventDeclarations({ files, checker }: Source): EventDeclaration[] {
  const found = findCalls('eventType', 'events', files, checker).map(({ types: [payload], description, ...rest }) => ({
    ...rest,
    payload: payload!,
    description: description || readDescription(payload!.aliasSymbol ?? payload!.getSymbol(), checker),
  }));
  return selectUsed(found, ({ publishes }) => publishes, 'eventType');
}

/** @throws Error when a service answers a command that is not declared */
export function commandDeclarations({ files, checker }: Source): CommandDeclaration[] {
  const found = findCalls('commandType', 'commands', files, checker).map(({ types: [request, reply], ...rest }) => ({
    ...rest,
    request: request!,
    reply: reply!,
  }));
  return selectUsed(found, ({ answers }) => answers, 'commandType');
}

interface Call extends Declaration {
  readonly types: readonly ts.Type[];
}

/** Finds declarations such as `export const PaymentFailedV1 = eventType<PaymentSnapshot>('payment.failed.v1');` */
function findCalls(
  name: 'eventType' | 'commandType',
  folder: string,
  files: Source['files'],
  checker: ts.TypeChecker,
): Call[] {
  const found: Call[] = [];
  const visit = (node: ts.Node): void => {
    const call = ts.isVariableDeclaration(node) ? node.initializer : undefined;
    if (call && ts.isCallExpression(call) && call.expression.getText() === name) {
      const [type] = call.arguments;
      const types = (call.typeArguments ?? []).map((each) => checker.getTypeFromTypeNode(each));
      const description = readDescription(checker.getSymbolAtLocation((node as ts.VariableDeclaration).name), checker);
      if (type && ts.isStringLiteral(type) && types.length > 0)
        found.push({ type: type.text, description, types, node });
    }
    ts.forEachChild(node, visit);
  };
  for (const file of files) if (file.fileName.includes(`/libs/contracts/src/${folder}/`)) visit(file);
  return found.sort((a, b) => (a.type < b.type ? -1 : 1));
}

/** The declarations whose types the services use. */
function selectUsed<T extends Declaration>(
  declarations: readonly T[],
  listTypes: (messages: ServiceMessages) => readonly string[],
  declaredBy: string,
): T[] {
  const types = new Set(SERVICES.flatMap(([, messages]) => listTypes(messages)));
  const undeclared = [...types].filter((type) => !declarations.some((each) => each.type === type));
  if (undeclared.length > 0) throw new Error(`No ${declaredBy} is declared for ${undeclared.join(', ')}.`);
  return declarations.filter(({ type }) => types.has(type));
}
