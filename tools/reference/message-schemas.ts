/**
 * JSON Schemas of what services send to each other: a file for each event payload, request and reply in libs/contracts/schemas, and the
 * same without words as a module of libs/messaging, which validates with them what enters a service (ADR 62).
 */
import { commandDeclarations, eventDeclarations } from './source/declarations.ts';
import type { Source } from './source/program.ts';
import type { Schema } from './source/schema.ts';
import { Schemas } from './source/schema.ts';

export const SCHEMA_FOLDER = 'libs/contracts/schemas';
export const SCHEMA_MODULE = 'libs/messaging/src/validation/message-schemas.ts';

interface MessageSchema {
  readonly kind: 'event' | 'request' | 'reply';
  readonly type: string;
  readonly description: string;
  readonly schema: Schema;
}

/** Contents by the path of the file, from the root. */
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
 * A `$ref` leads to the file's own definitions. A reader accepts properties that it does not know, so no schema forbids them. The
 * compiler orders unions by what it happened to see first: here they are sorted.
 */
function adaptSchema(value: Schema): Schema {
  const text = JSON.stringify(value, (key, each: unknown) => {
    if (key === 'additionalProperties' && each === false) return undefined;
    const isUnion = (key === 'enum' || key === 'anyOf') && Array.isArray(each) && !each.some(isNumber);
    return isUnion ? each.toSorted(compareByText) : each;
  });
  return JSON.parse(text.replaceAll('"$ref":"#/components/schemas/', `"$ref":"${DEFINITION}`)) as Schema;
}

/** Names of numbers stand in the order of their enumeration. */
function isNumber(value: unknown): boolean {
  return typeof value === 'number';
}

function compareByText(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
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

/** Text that is parsed when the first message arrives: a service starts without it. Definitions that messages share are in it once. */
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
