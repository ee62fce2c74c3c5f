/**
 * An API described by its OpenAPI document: creates requests from the document, and checks responses against it. Not part of the
 * index, because few tests need its dependencies.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';

export type Schema = { readonly [keyword: string]: unknown };

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Schema>>>>;
}

interface OperationObject {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Schema;
}

interface ResponseObject {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export interface Operation extends OperationObject {
  readonly method: string;
  readonly path: string;
}

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** As sent; undefined: no body. */
  readonly body?: string;
}

export interface Response {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly text: string;
}

/** Values that exist in the running API, by the name of a field or parameter, or by `operationId.name`. */
export type KnownValues = Readonly<Record<string, unknown>>;

/** Text that is no valid name, address or number. */
const HOSTILE: fc.Arbitrary<unknown> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.toWellFormed()),
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    ...['', ' ', '0', '-1', '1.5', 'x'.repeat(600), '\u0000', '\u202e', '../..', '%', '__proto__'],
  ),
  fc.constantFrom<unknown>(null, true, -1, 0, 0.1, 1e21, Number.MAX_SAFE_INTEGER + 1, [], {}, [[]], [null], [{}]),
);
const HOSTILE_PATH = fc.oneof(
  fc.string({ minLength: 1, maxLength: 30 }).map((text) => encodeURIComponent(text.toWellFormed())),
  fc.constantFrom('%00', '0', '-1', '1e3', 'x'.repeat(300), "'%20OR%201=1", '01', '%F0%9F%92%A3'),
);

export class DocumentedApi {
  readonly operations: readonly Operation[];
  private readonly ajv: Ajv2020;
  private readonly validators = new Map<Schema, ValidateFunction>();

  constructor(private readonly document: Document) {
    this.operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
    );
    this.ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(this.ajv);
    this.ajv.addSchema({ $id: 'document', components: closed(document.components) as Schema });
  }

  /** A request that should succeed: with the known values, and otherwise only required ones. */
  validRequest({ operationId, method, path, parameters = [], requestBody }: Operation, known: KnownValues): Request {
    const find = (name: string): unknown => known[`${operationId}.${name}`] ?? known[name];
    const given = (where: Parameter['in']): [string, string][] =>
      parameters
        .filter((each) => each.in === where && (each.required || known[`${operationId}.${each.name}`] !== undefined))
        .map(({ name, schema }) => [name, String(find(name) ?? this.leastOf(schema, find))]);
    const schema = requestBody?.content['application/json']?.schema;
    const body = schema && (known[`${operationId}.body`] ?? this.leastOf(schema, find));
    return this.request({ method, path }, given, body === undefined ? undefined : JSON.stringify(body));
  }

  /** Requests that should mostly fail: fields and parameters removed, replaced, added; invalid bodies. */
  invalidRequests(operation: Operation, known: KnownValues): fc.Arbitrary<Request> {
    const good = this.validRequest(operation, known);
    const names = (operation.parameters ?? []).filter((each) => each.in === 'query').map(({ name }) => name);
    // Another value than those of the enum is a path that the document does not describe.
    const isListed = operation.parameters?.some((each) => each.in === 'path' && each.schema['enum'] !== undefined);
    const path = isListed
      ? fc.constant(undefined)
      : fc.option(fc.array(HOSTILE_PATH, { minLength: 3, maxLength: 3 }), { nil: undefined, freq: 2 });
    const query = fc.dictionary(fc.constantFrom(...names, 'extra'), HOSTILE_PATH, { maxKeys: 2 });
    return fc.tuple(path, query, this.damagedBody(operation, good)).map(([segments, parameters, body]) => ({
      ...good,
      path: damagedPath(operation.path, good.path, segments, parameters),
      ...(body === undefined ? {} : { body }),
      headers: body === undefined ? good.headers : { ...good.headers, 'content-type': 'application/json' },
    }));
  }

  /** The parts of a response that the document does not allow. */
  problemsOf(operation: Operation, { status, contentType, text }: Response): string[] {
    const response = operation.responses[String(status)];
    if (!response) return [`status ${status} is not documented: ${text.slice(0, 200)}`];
    const { content } = this.resolve({ ...response }) as unknown as ResponseObject;
    if (text === '')
      return content && !Object.hasOwn(content, 'text/event-stream') ? [`the body of ${status} is missing`] : [];
    const type = contentType?.split(';', 1)[0] ?? '';
    const schema = content?.[type]?.schema;
    if (!schema) return [`a body of ${type || 'no type'} is not documented for ${status}: ${text.slice(0, 100)}`];
    if (!type.endsWith('json')) return [];
    const validate = this.validatorOf(schema);
    if (validate(JSON.parse(text))) return [];
    return (validate.errors ?? []).map(
      (error) => `${status}: body${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`,
    );
  }

  private damagedBody({ requestBody }: Operation, good: Request): fc.Arbitrary<string | undefined> {
    const schema = requestBody?.content['application/json']?.schema;
    if (!schema || good.body === undefined) return fc.constant(undefined);
    const { properties = {} } = this.resolve(schema) as { properties?: Schema };
    const valid = JSON.parse(good.body) as object;
    const field = fc.constantFrom(...Object.keys(properties), 'extra', '__proto__');
    const changes = fc.array(fc.tuple(field, fc.option(HOSTILE, { nil: undefined })), { maxLength: 2 });
    return fc.oneof(
      // Not by assignment: `__proto__` has to be an ordinary member.
      {
        weight: 6,
        arbitrary: changes.map((list) => JSON.stringify(Object.fromEntries([...Object.entries(valid), ...list]))),
      },
      { weight: 1, arbitrary: fc.constantFrom('', '{', 'null', '[]', '"text"', '\ufeff{}', 'NaN', '['.repeat(3_000)) },
    );
  }

  /** A known value, otherwise the smallest that the schema allows. */
  private leastOf(given: Schema, find: (name: string) => unknown): unknown {
    const schema = this.resolve(given);
    if (schema['const'] !== undefined) return schema['const'];
    if (Array.isArray(schema['enum'])) return schema['enum'][0] as unknown;
    if (schema['default'] !== undefined) return schema['default'];
    const [any] = (schema['anyOf'] ?? []) as Schema[];
    if (any) return this.leastOf(any, find);
    const type = Array.isArray(schema['type']) ? (schema['type'] as string[])[0] : schema['type'];
    if (type === 'object') {
      const required = (schema['required'] ?? []) as string[];
      const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
      const members = properties.flatMap(([name, each]): [string, unknown][] => {
        const value = find(name);
        if (value !== undefined) return [[name, value]];
        return required.includes(name) ? [[name, this.leastOf(each, find)]] : [];
      });
      return Object.fromEntries(members);
    }
    if (type === 'array') return [];
    if (type === 'boolean') return false;
    if (type === 'integer' || type === 'number') return schema['minimum'] ?? 1;
    return schema['format'] === 'uuid' ? crypto.randomUUID() : 'x';
  }

  private request(
    { method, path }: Pick<Operation, 'method' | 'path'>,
    given: (where: Parameter['in']) => [string, string][],
    body: string | undefined,
  ): Request {
    const values = new Map(given('path'));
    const filled = path.replaceAll(/\{([\w-]+)\}/g, (_, name: string) => encodeURIComponent(values.get(name) ?? 'x'));
    const query = new URLSearchParams(given('query')).toString();
    const headers = {
      ...Object.fromEntries(given('header')),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    return {
      method,
      path: query === '' ? filled : `${filled}?${query}`,
      headers,
      ...(body === undefined ? {} : { body }),
    };
  }

  private resolve(schema: Schema): Schema {
    const { $ref } = schema;
    if (typeof $ref !== 'string') return schema;
    const [, , part, ...name] = $ref.split('/');
    const found = this.document.components[part!]?.[name.join('/')];
    if (!found) throw new Error(`${$ref} is not in the document.`);
    return this.resolve(found);
  }

  private validatorOf(schema: Schema): ValidateFunction {
    const known = this.validators.get(schema) ?? this.ajv.compile(relocated(closed(schema)) as Schema);
    this.validators.set(schema, known);
    return known;
  }
}

function damagedPath(
  template: string,
  good: string,
  segments: readonly string[] | undefined,
  query: Readonly<Record<string, string>>,
): string {
  let index = 0;
  const [path = '', search] = good.split('?');
  const damaged = segments ? template.replaceAll(/\{[\w-]+\}/g, () => segments[index++ % segments.length]!) : path;
  const parameters = [...(search ? search.split('&') : []), ...Object.entries(query).map((each) => each.join('='))];
  return parameters.length === 0 ? damaged : `${damaged}?${parameters.join('&')}`;
}

/** Undocumented fields may be added later, and clients ignore them; but every present field must be documented. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, closed(each)]));
  return typeof members['properties'] === 'object' && members['type'] !== undefined
    ? { additionalProperties: false, ...members }
    : members;
}

/** Makes references of a part of the document point into the whole document. */
function relocated(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(relocated);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      key === '$ref' && typeof each === 'string' ? `document${each}` : relocated(each),
    ]),
  );
}
