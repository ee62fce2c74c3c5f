/**
 * Creates an AsyncAPI 3.0 document of the events and commands between services. Their types come from the contracts.
 * The services that publish, consume, request and answer them come from service-messages.ts.
 */
import type { CommandDeclaration, EventDeclaration } from './source/declarations.ts';
import { commandDeclarations, eventDeclarations, SERVICES } from './source/declarations.ts';
import type { Source } from './source/program.ts';
import { findType } from './source/program.ts';
import type { Schema } from './source/schema.ts';
import { Schemas } from './source/schema.ts';

export function createEventsDocument(source: Source, version: string): object {
  const schemas = new Schemas(source.checker);
  const envelope = schemas.schemaOf(findType('EventEnvelope', source), source.files[0]!);
  const [events, commands] = [eventDeclarations(source), commandDeclarations(source)];
  const messages = Object.fromEntries<Schema>([
    ...events.map((event): [string, Schema] => [event.type, eventMessage(event, envelope, schemas)]),
    ...commands.flatMap((command) => commandMessages(command, schemas)),
  ]);
  const document = {
    asyncapi: '3.0.0',
    info: {
      title: 'Svc Payments: events and commands between services',
      version,
      description: DESCRIPTION,
    },
    defaultContentType: 'application/json',
    channels: Object.fromEntries<Schema>([
      ...events.map(({ type }): [string, Schema] => [type, createChannel(type, { event: type })]),
      ...commands.map(({ type }): [string, Schema] => [
        type,
        createChannel(type, { request: `${type}.request`, reply: `${type}.reply` }),
      ]),
    ]),
    operations: Object.fromEntries(
      SERVICES.flatMap(([service, { publishes, consumes, requests, answers }]) => [
        ...publishes.map((type) => createOperation(service, 'send', type, 'publishes')),
        ...consumes.map((type) => createOperation(service, 'receive', type, 'consumes')),
        ...requests.map((type) => createCommandOperation(service, 'send', type, 'requests')),
        ...answers.map((type) => createCommandOperation(service, 'receive', type, 'answers')),
      ]),
    ),
    components: {
      securitySchemes: {
        rabbitmq: {
          type: 'userPassword',
          description:
            'The RabbitMQ user of the service: it may publish only these events and request only these commands (ADR 26).',
        },
      },
      messages,
      schemas: Object.fromEntries(Object.entries(schemas.components).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
  return moveSiblingsOfRefs(document) as object;
}

/**
 * Moves a `$ref` with other keywords beside it into `allOf`: AsyncAPI, unlike OpenAPI 3.1, does not allow such
 * keywords.
 */
function moveSiblingsOfRefs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(moveSiblingsOfRefs);
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...rest } = value as Schema;
  const others = Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, moveSiblingsOfRefs(each)]));
  if ($ref === undefined || typeof $ref !== 'string') return { ...value, ...others };
  return Object.keys(others).length === 0 ? { $ref } : { ...others, allOf: [{ $ref }] };
}

const DESCRIPTION = `Each event reports a change and carries the full new state. A type is versioned by its name: a change that an old reader would misunderstand is a new type.

Delivered at least once and in no order: apply an event once by its \`id\`, and only if its \`aggregateVersion\` is newer. Over RabbitMQ the address is the routing key of a durable topic exchange; a message may contain several events of one type, as an array of at most 50 (ADR 34). In one process no broker is involved.

A command is a request that a service answers while a person waits: never stored, with a deadline. Its reply is \`{ok: true, reply}\` with the reply of this document, or \`{ok: false, code, message, fields}\` with a code of the error catalogue.

These messages stay inside the platform. Merchants receive webhooks and the stream instead: see the OpenAPI documents.`;

function eventMessage(
  { type, description, payload, node }: EventDeclaration,
  envelope: Schema,
  schemas: Schemas,
): Schema {
  return createMessage(type, description, {
    allOf: [
      envelope,
      { type: 'object', properties: { type: { const: type }, payload: schemas.schemaOf(payload, node) } },
    ],
  });
}

function commandMessages(
  { type, description, request, reply, node }: CommandDeclaration,
  schemas: Schemas,
): [string, Schema][] {
  return [
    [`${type}.request`, createMessage(`${type}.request`, description, schemas.schemaOf(request, node))],
    [`${type}.reply`, createMessage(`${type}.reply`, '', schemas.schemaOf(reply, node))],
  ];
}

function createMessage(name: string, description: string, payload: Schema): Schema {
  return {
    name,
    title: name,
    ...(description === '' ? {} : { description }),
    contentType: 'application/json',
    payload,
  };
}

/** @param names the names of the messages, by their role in the channel: event, request or reply */
function createChannel(type: string, names: Readonly<Record<string, string>>): Schema {
  const messages = Object.entries(names).map(([key, name]) => [key, { $ref: `#/components/messages/${name}` }]);
  return { address: type, messages: Object.fromEntries(messages) };
}

type Action = 'send' | 'receive';

function createOperation(service: string, action: Action, type: string, verb: string): [string, Schema] {
  const security = [{ $ref: '#/components/securitySchemes/rabbitmq' }];
  return [
    `${service}.${action}.${type}`,
    { action, channel: { $ref: `#/channels/${type}` }, summary: `${service} ${verb} ${type}`, security },
  ];
}

function createCommandOperation(service: string, action: Action, type: string, verb: string): [string, Schema] {
  const [name, operation] = createOperation(service, action, type, verb);
  const $ref = `#/channels/${type}`;
  return [
    name,
    {
      ...operation,
      messages: [{ $ref: `${$ref}/messages/request` }],
      reply: { channel: { $ref }, messages: [{ $ref: `${$ref}/messages/reply` }] },
    },
  ];
}
