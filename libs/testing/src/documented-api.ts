/**
 * Creates requests for an API from its OpenAPI document, and checks that responses match the document. The index does
 * not export this file, because few tests need its dependencies.
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
  /** The text of the body. Undefined if there is no body. */
  readonly body?: string;
}

export interface Response {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly text: string;
}

/**
 * Values that are valid in the running API, for example ids of existing objects. The key is the name of a field or
 * parameter, or `operationId.name`.
 */
export type KnownValues = Readonly<Record<string, unknown>>;

/** Values that are not a valid name, URL or number. */
const INVALID_VALUES: fc.Arbitrary<unknown> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.toWellFormed()),
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    ...['', ' ', '0', '-1', '1.5', 'x'.repeat(600), '\u0000', '\u202e', '../..', '%', '__proto__'],
  ),
  fc.constantFrom<unknown>(null, true, -1, 0, 0.1, 1e21, Number.MAX_SAFE_INTEGER + 1, [], {}, [[]], [null], [{}]),
);
const INVALID_SEGMENTS = fc.oneof(
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
    this.ajv.addSchema({ $id: 'document', components: forbidAdditionalProperties(document.components) as Schema });
  }

  /** A request that should succeed. It contains the known values, and otherwise only required fields and parameters. */
  validRequest({ operationId, method, path, parameters = [], requestBody }: Operation, known: KnownValues): Request {
    const find = (name: string): unknown => known[`${operationId}.${name}`] ?? known[name];
    const valuesOf = (where: Parameter['in']): [string, string][] =>
      parameters
        .filter((each) => each.in === where && (each.required || known[`${operationId}.${each.name}`] !== undefined))
        .map(({ name, schema }) => [name, String(find(name) ?? this.smallestValueOf(schema, find))]);
    const schema = requestBody?.content['application/json']?.schema;
    const body = schema && (known[`${operationId}.body`] ?? this.smallestValueOf(schema, find));
    return this.request({ method, path }, valuesOf, body === undefined ? undefined : JSON.stringify(body));
  }

  /**
   * Requests of which most should fail, because their body is invalid, or because fields and parameters are removed,
   * replaced or added.
   */
  invalidRequests(operation: Operation, known: KnownValues): fc.Arbitrary<Request> {
    const validRequest = this.validRequest(operation, known);
    const names = (operation.parameters ?? []).filter((each) => each.in === 'query').map(({ name }) => name);
    // If a path parameter is an enum, the path is not changed, because the document does not describe the path with
    // another value of that parameter.
    const hasEnumInPath = operation.parameters?.some((each) => each.in === 'path' && each.schema['enum'] !== undefined);
    const path = hasEnumInPath
      ? fc.constant(undefined)
      : fc.option(fc.array(INVALID_SEGMENTS, { minLength: 3, maxLength: 3 }), { nil: undefined, freq: 2 });
    const query = fc.dictionary(fc.constantFrom(...names, 'extra'), INVALID_SEGMENTS, { maxKeys: 2 });
    return fc.tuple(path, query, this.newInvalidBody(operation, validRequest)).map(([segments, parameters, body]) => ({
      ...validRequest,
      path: newInvalidPath(operation.path, validRequest.path, segments, parameters),
      ...(body === undefined ? {} : { body }),
      headers:
        body === undefined ? validRequest.headers : { ...validRequest.headers, 'content-type': 'application/json' },
    }));
  }

  /** Describes the differences between a response and the document. Empty if the response is as documented. */
  findProblems(operation: Operation, { status, contentType, text }: Response): string[] {
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

  private newInvalidBody({ requestBody }: Operation, validRequest: Request): fc.Arbitrary<string | undefined> {
    const schema = requestBody?.content['application/json']?.schema;
    if (!schema || validRequest.body === undefined) return fc.constant(undefined);
    const { properties = {} } = this.resolve(schema) as { properties?: Schema };
    const valid = JSON.parse(validRequest.body) as object;
    const field = fc.constantFrom(...Object.keys(properties), 'extra', '__proto__');
    const changes = fc.array(fc.tuple(field, fc.option(INVALID_VALUES, { nil: undefined })), { maxLength: 2 });
    return fc.oneof(
      // Object.fromEntries creates `__proto__` as an ordinary member. An assignment would set the prototype.
      {
        weight: 6,
        arbitrary: changes.map((list) => JSON.stringify(Object.fromEntries([...Object.entries(valid), ...list]))),
      },
      { weight: 1, arbitrary: fc.constantFrom('', '{', 'null', '[]', '"text"', '\ufeff{}', 'NaN', '['.repeat(3_000)) },
    );
  }

  /** Creates a small value that the schema allows, with the known values of its fields. */
  private smallestValueOf(schemaOrReference: Schema, find: (name: string) => unknown): unknown {
    const schema = this.resolve(schemaOrReference);
    if (schema['const'] !== undefined) return schema['const'];
    if (Array.isArray(schema['enum'])) return schema['enum'][0] as unknown;
    if (schema['default'] !== undefined) return schema['default'];
    const [firstAlternative] = (schema['anyOf'] ?? []) as Schema[];
    if (firstAlternative) return this.smallestValueOf(firstAlternative, find);
    const type = Array.isArray(schema['type']) ? (schema['type'] as string[])[0] : schema['type'];
    if (type === 'object') {
      const required = (schema['required'] ?? []) as string[];
      const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
      const members = properties.flatMap(([name, each]): [string, unknown][] => {
        const value = find(name);
        if (value !== undefined) return [[name, value]];
        return required.includes(name) ? [[name, this.smallestValueOf(each, find)]] : [];
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
    valuesOf: (where: Parameter['in']) => [string, string][],
    body: string | undefined,
  ): Request {
    const values = new Map(valuesOf('path'));
    const filled = path.replaceAll(/\{([\w-]+)\}/g, (_, name: string) => encodeURIComponent(values.get(name) ?? 'x'));
    const query = new URLSearchParams(valuesOf('query')).toString();
    const headers = {
      ...Object.fromEntries(valuesOf('header')),
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
    const validator =
      this.validators.get(schema) ?? this.ajv.compile(relocateReferences(forbidAdditionalProperties(schema)) as Schema);
    this.validators.set(schema, validator);
    return validator;
  }
}

function newInvalidPath(
  template: string,
  validPath: string,
  segments: readonly string[] | undefined,
  query: Readonly<Record<string, string>>,
): string {
  let index = 0;
  const [path = '', search] = validPath.split('?');
  const changedPath = segments ? template.replaceAll(/\{[\w-]+\}/g, () => segments[index++ % segments.length]!) : path;
  const parameters = [...(search ? search.split('&') : []), ...Object.entries(query).map((each) => each.join('='))];
  return parameters.length === 0 ? changedPath : `${changedPath}?${parameters.join('&')}`;
}

/** Adds `additionalProperties: false` to every object schema, so that an undocumented field in a response is found. */
function forbidAdditionalProperties(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(forbidAdditionalProperties);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, forbidAdditionalProperties(each)]),
  );
  return typeof members['properties'] === 'object' && members['type'] !== undefined
    ? { additionalProperties: false, ...members }
    : members;
}

/** Changes the references in a schema so that they refer to the whole document. */
function relocateReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(relocateReferences);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      key === '$ref' && typeof each === 'string' ? `document${each}` : relocateReferences(each),
    ]),
  );
}
