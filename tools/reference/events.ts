/** Builds the AsyncAPI 3.0 document of the events between services: types and payloads from the contracts, publishers and consumers from service-messages.ts. */
import ts from 'typescript';
import { SERVICE_MESSAGES } from '../../libs/contracts/src/service-messages.ts';
import type { ServiceMessages } from '../../libs/contracts/src/service-messages.ts';
import { docOf, typeNamed } from './program.ts';
import type { Source } from './program.ts';
import { Schemas } from './schema.ts';
import type { Schema } from './schema.ts';

interface EventDeclaration {
  /** `payment.succeeded.v1` */
  readonly type: string;
  readonly description: string;
  readonly payload: ts.Type;
  readonly node: ts.Node;
}

const SERVICES = Object.entries(SERVICE_MESSAGES) as [string, ServiceMessages][];

export function eventsDocument(source: Source, version: string): object {
  const schemas = new Schemas(source.checker);
  const envelope = schemas.of(typeNamed('EventEnvelope', source), source.files[0]!);
  const declarations = eventDeclarations(source);
  const published = new Set(SERVICES.flatMap(([, { publishes }]) => publishes));
  const undeclared = [...published].filter((type) => !declarations.some((each) => each.type === type));
  if (undeclared.length > 0) throw new Error(`No eventType is declared for ${undeclared.join(', ')}.`);
  const events = declarations.filter(({ type }) => published.has(type));
  const messages = Object.fromEntries(events.map((event) => [event.type, messageOf(event, envelope, schemas)]));
  const document = {
    asyncapi: '3.0.0',
    info: {
      title: 'Svc Payments: events between services',
      version,
      description: DESCRIPTION,
    },
    defaultContentType: 'application/json',
    channels: Object.fromEntries(
      events.map(({ type }) => [
        type,
        { address: type, messages: { event: { $ref: `#/components/messages/${type}` } } },
      ]),
    ),
    operations: Object.fromEntries(
      SERVICES.flatMap(([service, { publishes, consumes }]) => [
        ...publishes.map((type) => operation(service, 'send', type)),
        ...consumes.map((type) => operation(service, 'receive', type)),
      ]),
    ),
    components: {
      securitySchemes: {
        rabbitmq: {
          type: 'userPassword',
          description: 'The RabbitMQ user of the service: it may publish only these events (ADR 26).',
        },
      },
      messages,
      schemas: Object.fromEntries(Object.entries(schemas.components).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
  return withoutSiblings(document) as object;
}

/** In AsyncAPI a `$ref` of a schema allows no other keywords beside it, unlike in OpenAPI 3.1. */
function withoutSiblings(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSiblings);
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...rest } = value as Schema;
  const others = Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, withoutSiblings(each)]));
  if ($ref === undefined || typeof $ref !== 'string') return { ...value, ...others };
  return Object.keys(others).length === 0 ? { $ref } : { ...others, allOf: [{ $ref }] };
}

const DESCRIPTION = `Each event reports a change and carries the full new state. A type is versioned by its name: a change that an old reader would misunderstand is a new type.

Delivered at least once and in no order: apply an event once by its \`id\`, and only if its \`aggregateVersion\` is newer. Over RabbitMQ the address is the routing key of a durable topic exchange; a message may contain several events of one type, as an array of at most 50 (ADR 34). In one process no broker is involved.

These events are internal. Merchants get webhooks and the stream: see the OpenAPI documents.`;

function messageOf({ type, description, payload, node }: EventDeclaration, envelope: Schema, schemas: Schemas): Schema {
  const event = {
    allOf: [envelope, { type: 'object', properties: { type: { const: type }, payload: schemas.of(payload, node) } }],
  };
  return {
    name: type,
    title: type,
    ...(description === '' ? {} : { description }),
    contentType: 'application/json',
    payload: event,
  };
}

function operation(service: string, action: 'send' | 'receive', type: string): [string, Schema] {
  const channel = { $ref: `#/channels/${type.replaceAll('~', '~0').replaceAll('/', '~1')}` };
  const verb = action === 'send' ? 'publishes' : 'consumes';
  const security = [{ $ref: '#/components/securitySchemes/rabbitmq' }];
  return [`${service}.${action}.${type}`, { action, channel, summary: `${service} ${verb} ${type}`, security }];
}

/** `export const PaymentFailedV1 = eventType<AnyPaymentSnapshot>('payment.failed.v1');` */
function eventDeclarations({ files, checker }: Source): EventDeclaration[] {
  const found: EventDeclaration[] = [];
  const visit = (node: ts.Node): void => {
    const call = ts.isVariableDeclaration(node) ? node.initializer : undefined;
    if (call && ts.isCallExpression(call) && call.expression.getText() === 'eventType') {
      const [name] = call.arguments;
      const [payload] = call.typeArguments ?? [];
      if (name && ts.isStringLiteral(name) && payload) {
        const type = checker.getTypeFromTypeNode(payload);
        const own = docOf(checker.getSymbolAtLocation((node as ts.VariableDeclaration).name), checker);
        const description = own || docOf(type.aliasSymbol ?? type.getSymbol(), checker);
        found.push({ type: name.text, description, payload: type, node });
      }
    }
    ts.forEachChild(node, visit);
  };
  for (const file of files) if (file.fileName.includes('/libs/contracts/src/events/')) visit(file);
  return found.sort((a, b) => (a.type < b.type ? -1 : 1));
}
