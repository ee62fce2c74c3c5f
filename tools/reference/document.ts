/** Builds the OpenAPI 3.1 document of one audience. */
import ts from 'typescript';
import type { ErrorCode } from '../../libs/contracts/src/errors.ts';
import { ERROR_CATALOGUE } from '../../libs/contracts/src/errors.ts';
import type { ResponseStatusText } from '../../libs/contracts/src/payment-status.ts';
import type { Audience } from './audiences.ts';
import { formatLimits } from './limits.ts';
import type { Operation } from './source/operations.ts';
import { findParameter, isRequiredHeader } from './source/parameters.ts';
import type { Source } from './source/program.ts';
import { findType } from './source/program.ts';
import type { Schema } from './source/schema.ts';
import { Schemas } from './source/schema.ts';

/** Requests and responses that tests recorded, by `<audience>.<operationId>` and status. */
export type Examples = Readonly<
  Record<string, Readonly<Record<string, { readonly request?: unknown; readonly response?: unknown }>>>
>;

interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Schema;
  readonly servers: readonly Schema[];
  readonly tags: readonly Schema[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Schema>>>>;
  readonly webhooks?: Readonly<Record<string, Schema>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>>; readonly [part: string]: unknown };
}

interface Context {
  readonly audience: Audience;
  readonly source: Source;
  readonly schemas: Schemas;
  readonly examples: Examples;
  /** Error responses that several operations have in common, by their error code. */
  readonly responses: Record<string, Schema>;
  readonly usedHeaders: Set<string>;
}

/** Every service may respond to any request with these errors. */
const SERVICE_ERRORS: readonly ErrorCode[] = ['internal', 'service.not-ready'];
/** Errors of the reverse proxy between caller and service. */
const PROXY_ERRORS: readonly ErrorCode[] = ['service.broken-off', 'service.timed-out'];
/** Error of an operation with path parameters: a segment of a path may have at most 200 characters. */
const PATH_ERRORS: readonly ErrorCode[] = ['request.invalid'];
const BODY_ERRORS: readonly ErrorCode[] = ['request.invalid', 'request.too-large', 'request.unsupported-media-type'];

export function createOpenApiDocument(
  audience: Audience,
  {
    operations,
    source,
    examples,
    version,
  }: { operations: readonly Operation[]; source: Source; examples: Examples; version: string },
): OpenApiDocument {
  const context: Context = {
    audience,
    source,
    schemas: new Schemas(source.checker),
    examples,
    responses: {},
    usedHeaders: new Set(),
  };
  const included = operations.filter((operation) => audience.includes(operation));
  const paths: Record<string, Record<string, Schema>> = {};
  for (const operation of included) {
    const path = (paths[operation.path] ??= {});
    if (path[operation.method]) throw new Error(`Two operations are ${operation.method} ${operation.path}.`);
    path[operation.method] = describeOperation(operation, context);
  }
  const sorted = Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1)));
  const webhooks = Object.fromEntries(
    audience.webhooks.map((webhook) => [webhook.name, describeWebhook(webhook, context)]),
  );
  // If several controllers have the same tag, the docstring of the controller with the tag's name describes the tag.
  const describing = included.toSorted((a, b) => Number(b.hasTagOfAnother) - Number(a.hasTagOfAnother));
  const tags = [...new Map(describing.map(({ tag }) => [tag.name, tag])).values()].sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
  if (audience.webhooks.length > 0) tags.push({ name: 'Webhooks', description: 'Requests that the platform sends.' });
  const { url, variable, example, description } = audience.server;
  return {
    openapi: '3.1.0',
    info: {
      title: audience.title,
      version,
      description: `${audience.description}${formatLimits(audience.name, source)}`,
    },
    servers: [{ url, variables: { [variable]: { default: example, description } } }],
    tags: tags.map(({ name, description: text }) => ({ name, description: text })),
    paths: sorted,
    ...(audience.webhooks.length > 0 ? { webhooks } : {}),
    components: {
      schemas: Object.fromEntries(Object.entries(context.schemas.components).sort(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes: audience.securitySchemes,
      headers: Object.fromEntries(Object.entries(HEADERS).filter(([name]) => context.usedHeaders.has(name))),
      responses: Object.fromEntries(Object.entries(context.responses).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

const HEADERS: Readonly<Record<string, Schema>> = {
  'x-request-id': {
    description: 'Id of the request: finds its log line and trace (C8).',
    schema: { type: 'string', format: 'uuid' },
  },
  'retry-after': {
    description: 'Seconds after which the same request may succeed. Only if waiting helps.',
    schema: { type: 'integer', minimum: 0 },
  },
  'idempotency-replayed': {
    description: '`true`: a repeated request; the answer is the current state (C7).',
    schema: { const: 'true' },
  },
  link: {
    description: 'The address of the next page with `rel="next"` (RFC 8288), relative to that of the request.',
    schema: { type: 'string' },
  },
};

function referToHeaders({ usedHeaders }: Context, ...names: string[]): Schema {
  return Object.fromEntries(
    names.map((name) => {
      usedHeaders.add(name);
      return [name, { $ref: `#/components/headers/${name}` }];
    }),
  );
}

function describeOperation(operation: Operation, context: Context): Schema {
  const { audience } = context;
  const guard = operation.guards.find((name) => audience.securityByGuard[name]);
  const strongest = Object.keys(audience.securityByGuard).find((name) => operation.guards.includes(name)) ?? guard;
  const [summary, description] = splitSummary(operation);
  const parameters = listParameters(operation, context);
  return {
    operationId: operation.operationId,
    tags: [operation.tag.name],
    summary,
    ...(description === '' ? {} : { description }),
    security: strongest === undefined ? [] : audience.securityByGuard[strongest],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(operation.body ? { requestBody: describeRequestBody(operation, operation.body, context) } : {}),
    ...describeFileBody(operation),
    responses: listResponses(operation, context),
  };
}

/**
 * Returns the summary and the description. The summary is the first sentence without its full stop. The description is
 * the whole text, or empty if the text has only one sentence.
 */
function splitSummary({ doc, operationId }: Operation): [string, string] {
  const [, first, rest = ''] = /^(.+?[^.])(?:\.(?=\s|$)|[:;](?=\s))\s*([^]*)$/.exec(doc) ?? [];
  if (first === undefined) throw new Error(`${operationId} needs a docstring that begins with a sentence: "${doc}"`);
  return [first.replaceAll('`', '').replace(/ \((?:[A-Z]\d+(?:, )?)+\)$/, ''), rest === '' ? '' : doc];
}

function listParameters(operation: Operation, { source }: Context): Schema[] {
  const describeParameter = (name: string, where: string, required: boolean): Schema => {
    const { description, schema } = findParameter(operation, name);
    return { name, in: where, required, description, schema };
  };
  const path = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => describeParameter(name!, 'path', true));
  const queryTags = operation.tags.filter(({ name }) => name === 'query');
  const typeMembers = operation.queryType ? source.checker.getPropertiesOfType(operation.queryType) : [];
  const names = new Set([
    ...operation.query,
    ...queryTags.map(({ key }) => key),
    ...typeMembers.map(({ name }) => name),
  ]);
  const isRequired = (name: string): boolean =>
    queryTags.some(({ key, text }) => key === name && text.startsWith('required'));
  const query = [...names].map((name) => describeParameter(name, 'query', isRequired(name)));
  const headers = operation.headers
    .filter((name) => name !== 'x-admin-key')
    .map((name) => describeParameter(name, 'header', isRequiredHeader(operation.controller, name)));
  const site = operation.guards.includes('SiteGuard') ? ['merchantId', 'merchantSiteId'] : [];
  const hasTill =
    operation.guards.includes('AccessGuard') && operation.method === 'post' && !operation.path.includes('Refund');
  const tills = hasTill ? [describeParameter('x-till', 'header', false)] : [];
  return [...path, ...query, ...site.map((name) => describeParameter(name, 'header', true)), ...headers, ...tills];
}

function describeRequestBody(operation: Operation, body: ts.Type, { audience, schemas, examples }: Context): Schema {
  const recorded = Object.entries(examples[`${audience.name}.${operation.operationId}`] ?? {}).find(
    ([status, { request }]) => status.startsWith('2') && request !== undefined,
  );
  return {
    required: true,
    content: {
      'application/json': {
        schema: schemas.schemaOf(body, operation.node),
        ...(recorded ? { example: recorded[1].request } : {}),
      },
    },
  };
}

/** The body of an operation that reads a file (`@consumes image/png`). */
function describeFileBody({ tags }: Operation): Schema {
  const types = tags.filter(({ name }) => name === 'consumes').map(({ key }) => key);
  if (types.length === 0) return {};
  const content = types.map((type) => [type, { schema: { type: 'string', contentMediaType: type } }] as const);
  return { requestBody: { required: true, content: Object.fromEntries(content) } };
}

function listResponses(operation: Operation, context: Context): Schema {
  const responses: Record<string, Schema> = {};
  const textByStatus = new Map(
    operation.tags.filter(({ name }) => name === 'returns').map(({ key, text }) => [key, text] as const),
  );
  for (const status of new Set([String(operation.status), ...textByStatus.keys()]))
    responses[status] = describeSuccess(operation, status, textByStatus.get(status), context);
  for (const [status, errors] of listErrorsByStatus(operation, context.audience)) {
    if (responses[status]) continue;
    responses[status] = describeError(operation, status, errors, context);
  }
  return responses;
}

function describeSuccess(operation: Operation, status: string, text: string | undefined, context: Context): Schema {
  const { schemas } = context;
  const produced = operation.tags.filter(({ name }) => name === 'produces');
  const isPage = operation.responseType === undefined && produced.length > 0;
  const hasBody = (status.startsWith('2') && status !== '204') || isPage;
  const json =
    hasBody && operation.responseType
      ? {
          'application/json': {
            schema: schemas.schemaOf(operation.responseType, operation.node),
            ...findExample(context, operation, status),
          },
        }
      : {};
  const others = hasBody
    ? Object.fromEntries(
        produced.map(({ key, text: description }) => [
          key,
          { schema: { type: 'string', ...(description ? { description } : {}) } },
        ]),
      )
    : {};
  const content = { ...json, ...others };
  const isReplay = text?.includes('Idempotency-Replayed') ?? false;
  return {
    description: text || STATUS_DESCRIPTIONS[status] || 'Success.',
    headers: referToHeaders(
      context,
      'x-request-id',
      ...(isReplay ? ['idempotency-replayed'] : []),
      ...(text?.includes('header `Link`') ? ['link'] : []),
    ),
    ...(Object.keys(content).length > 0 ? { content } : {}),
  };
}

const STATUS_DESCRIPTIONS: Readonly<Record<string, string>> = {
  200: 'Success.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'Success, without a body.',
};

/** The error codes by status, each with its text in the docstring. */
function listErrorsByStatus(operation: Operation, audience: Audience): [string, [ErrorCode, string][]][] {
  const thrown = operation.tags.filter(({ name }) => name === 'throws');
  const always = [
    ...(operation.path.includes('{') ? PATH_ERRORS : []),
    ...(operation.body ? BODY_ERRORS : []),
    ...SERVICE_ERRORS,
    ...(audience.errors === 'transformer' ? [] : PROXY_ERRORS),
  ];
  const all = new Map<string, string>([...always.map((code) => [code, ''] as const)]);
  for (const { key, text } of [...thrown].reverse()) all.set(key, text || (all.get(key) ?? ''));
  const byStatus = new Map<string, [ErrorCode, string][]>();
  for (const [code, text] of [...all].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!(code in ERROR_CATALOGUE))
      throw new Error(`${operation.operationId} throws ${code}, which is not in the catalogue.`);
    const status = String(ERROR_CATALOGUE[code as ErrorCode].httpStatus);
    byStatus.set(status, [...(byStatus.get(status) ?? []), [code as ErrorCode, text]]);
  }
  return [...byStatus].sort(([a], [b]) => Number(a) - Number(b));
}

function describeError(
  operation: Operation,
  status: string,
  errors: readonly [ErrorCode, string][],
  context: Context,
): Schema {
  const { audience } = context;
  const description = errors
    .map(([code, text]) => `\`${code}\`: ${text || ERROR_CATALOGUE[code].message}`)
    .join('\n\n');
  const mayWait = errors.some(([code]) => ERROR_CATALOGUE[code].retryable) && status !== '500';
  const headers = referToHeaders(context, 'x-request-id', ...(mayWait ? ['retry-after'] : []));
  const isFacade =
    audience.errors === 'transformer' && !operation.path.startsWith('/v1/') && !operation.path.startsWith('/codes');
  const name = audience.errors === 'envelope' ? 'HostedErrorResponse' : isFacade ? 'Answer' : 'Problem';
  const isEmpty = status === '401' && name === 'Problem';
  const type = name === 'Problem' ? 'application/problem+json' : 'application/json';
  const schema = (): Schema => context.schemas.schemaOf(findType(name, context.source), operation.node);
  const recorded = findExample(context, operation, status);
  const example =
    name === 'HostedErrorResponse' && recorded['example'] === undefined
      ? createEnvelopeExample(status, errors)
      : recorded;
  const response = {
    description: isEmpty ? `${description}\n\nThe body is empty (C5).` : description,
    headers,
    ...(isEmpty ? {} : { content: { [type]: { schema: schema(), ...example } } }),
  };
  const [[code, text]] = errors as [[ErrorCode, string]];
  if (errors.length > 1 || text !== '' || recorded['example'] !== undefined) return response;
  const component = isFacade ? `facade.${code}` : code;
  context.responses[component] = response;
  return { $ref: `#/components/responses/${component}` };
}

/** Creates an error example if none was recorded. Otherwise tools would show an example with a success status. */
function createEnvelopeExample(status: string, [first]: readonly [ErrorCode, string][]): Schema {
  const texts: Readonly<Record<string, ResponseStatusText>> = { 401: 'Unauthorized', 404: 'NotFound' };
  const text = texts[status] ?? (Number(status) >= 500 ? 'InternalServer' : 'BadRequest');
  return { example: { status: text, errors: [{ message: ERROR_CATALOGUE[first![0]].message }] } };
}

function findExample({ audience, examples }: Context, { operationId }: Operation, status: string): Schema {
  const response = examples[`${audience.name}.${operationId}`]?.[status]?.response;
  return response === undefined ? {} : { example: response };
}

function describeWebhook(webhook: Audience['webhooks'][number], { source, schemas }: Context): Schema {
  const type = findType(webhook.type, source);
  return {
    post: {
      operationId: webhook.name,
      tags: ['Webhooks'],
      summary: webhook.name === 'siteNotification' ? 'A payment or refund of a site' : 'A final payment of a session',
      description: webhook.description,
      security: [],
      parameters: STANDARD_WEBHOOKS,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: schemas.schemaOf(type, source.files[0]!),
          },
        },
      },
      responses: { '2XX': { description: 'Acknowledged.' }, 410: { description: 'Stops the deliveries (E5).' } },
    },
  };
}

const STANDARD_WEBHOOKS: readonly Schema[] = [
  ['webhook-id', 'The same for all attempts of one notification: apply it once (E8).'],
  ['webhook-timestamp', 'Seconds since 1970, the time of this signature.'],
  ['webhook-signature', '`v1,<base64 HMAC-SHA256>`; several, separated by blanks, during a rotation (E4).'],
].map(([name, description]) => ({ name, in: 'header', required: true, description, schema: { type: 'string' } }));
