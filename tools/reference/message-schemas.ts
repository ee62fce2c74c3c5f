/**
 * JSON Schemas of the messages between services. libs/contracts/schemas has a file for each event payload, request and
 * reply. A module of libs/messaging contains the same schemas without descriptions: with it a service validates the
 * messages it receives (ADR 62).
 */
import { commandDeclarations, eventDeclarations } from './source/declarations.ts';
import type { Source } from './source/program.ts';
import type { Schema } from './source/schema.ts';
import { Schemas } from './source/schema.ts';

export const SCHEMA_FOLDER = 'libs/contracts/schemas';
const SCHEMA_MODULE = 'libs/messaging/src/validation/message-schemas.ts';

interface MessageSchema {
  readonly kind: 'event' | 'request' | 'reply';
  readonly type: string;
  readonly description: string;
  readonly schema: Schema;
}

/** The contents of the files, by their paths relative to the root. */
export function messageSchemaFiles(source: Source): Map<string, string> {
  const { messages, definitions } = messageSchemas(source);
  const files = messages.map((message): [string, string] => [
    schemaFile(message),
    `${JSON.stringify(createDocument(message, definitions), null, 2)}\n`,
  ]);
  return new Map([...files, [SCHEMA_MODULE, formatModule(messages, definitions)]]);
}

function messageSchemas(source: Source): { messages: MessageSchema[]; definitions: Readonly<Record<string, Schema>> } {
  const schemas = new Schemas(source.checker);
  const events = eventDeclarations(source).map(({ type, description, payload, node }): MessageSchema => {
    return { kind: 'event', type, description, schema: schemas.schemaOf(payload, node) };
  });
  const commands = commandDeclarations(source).flatMap(
    ({ type, description, request, reply, node }): MessageSchema[] => [
      { kind: 'request', type, description, schema: schemas.schemaOf(request, node) },
      { kind: 'reply', type, description: '', schema: schemas.schemaOf(reply, node) },
    ],
  );
  const messages = [...events, ...commands].map((message) => ({ ...message, schema: adaptSchema(message.schema) }));
  return { messages, definitions: adaptSchema(schemas.components) as Readonly<Record<string, Schema>> };
}

function schemaFile({ kind, type }: MessageSchema): string {
  return kind === 'event'
    ? `${SCHEMA_FOLDER}/events/${type}.schema.json`
    : `${SCHEMA_FOLDER}/commands/${type}.${kind}.schema.json`;
}

function createDocument(
  { kind, type, description, schema }: MessageSchema,
  definitions: Readonly<Record<string, Schema>>,
): Schema {
  const names = [...findReachableDefinitions(schema, definitions)].sort();
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `urn:svc:${kind}:${type}`,
    title: kind === 'event' ? `Payload of ${type}` : `${kind === 'request' ? 'Request' : 'Reply'} of ${type}`,
    ...(description === '' ? {} : { description }),
    ...schema,
    ...(names.length > 0 ? { $defs: Object.fromEntries(names.map((name) => [name, definitions[name]])) } : {}),
  };
}

const DEFINITION = '#/$defs/';

/**
 * Adapts a schema for messages. A `$ref` refers to the definitions in the same file. Readers accept unknown properties,
 * so no schema forbids them. Unions are sorted, because their order depends on the order in which the compiler reads
 * types.
 */
function adaptSchema(value: Schema): Schema {
  const text = JSON.stringify(value, (key, each: unknown) => {
    if (key === 'additionalProperties' && each === false) return undefined;
    const isUnion = (key === 'enum' || key === 'anyOf') && Array.isArray(each) && !each.some(isNumber);
    return isUnion ? each.toSorted(compareByText) : each;
  });
  return JSON.parse(text.replaceAll('"$ref":"#/components/schemas/', `"$ref":"${DEFINITION}`)) as Schema;
}

/** An enumeration with numbers is not sorted, because its names (x-enum-varnames) are in the same order. */
function isNumber(value: unknown): boolean {
  return typeof value === 'number';
}

function compareByText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

function findReachableDefinitions(
  value: unknown,
  definitions: Readonly<Record<string, Schema>>,
  found = new Set<string>(),
): Set<string> {
  if (typeof value !== 'object' || value === null) return found;
  const { $ref } = value as Schema;
  if (typeof $ref === 'string') {
    const name = $ref.slice(DEFINITION.length);
    if (!found.has(name)) findReachableDefinitions(definitions[name], definitions, found.add(name));
  }
  for (const each of Object.values(value)) findReachableDefinitions(each, definitions, found);
  return found;
}

/**
 * The module with the schemas as text: a service parses it only when the first message arrives, so that it starts
 * faster. Definitions that several messages use occur once.
 */
function formatModule(messages: readonly MessageSchema[], definitions: Readonly<Record<string, Schema>>): string {
  const all = {
    ...definitions,
    ...Object.fromEntries(messages.map(({ kind, type, schema }) => [`${kind}:${type}`, schema])),
  };
  const lines = Object.entries(all)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, schema]) => `  ${JSON.stringify(name)}: ${JSON.stringify(JSON.stringify(schema, withoutAnnotations))},\n`,
    );
  return `// Made by tools/reference/generate.ts from the types of libs/contracts. Do not edit.\n\n/** JSON Schemas as text: \`event:<type>\`, \`request:<type>\` and \`reply:<type>\`, and what they refer to. */\nexport const MESSAGE_SCHEMAS: Readonly<Record<string, string>> = {\n${lines.join('')}};\n`;
}

const ANNOTATIONS = ['description', 'format', 'x-enum-varnames'];

function withoutAnnotations(key: string, value: unknown): unknown {
  const isAnnotation = ANNOTATIONS.includes(key) && (typeof value === 'string' || Array.isArray(value));
  return isAnnotation ? undefined : value;
}
