import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';

/** Adyen's published documents, beside the emulator that is made from them. A test fails if a document is missing. */
const FOLDER = join(import.meta.dirname, '../../../simulated-acquirer/adyen');

function readDocument<T>(name: string, folder = FOLDER): T {
  return JSON.parse(readFileSync(join(folder, name), 'utf8')) as T;
}

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: { readonly $ref: string } }>> };
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly required?: boolean }[];
}

interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly required?: readonly string[] }>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
  };
}

export const CHECKOUT_DOCUMENT = join(FOLDER, 'CheckoutService-v71.json');
const checkout = readDocument<OpenApiDocument>('CheckoutService-v71.json');
const webhooks = readDocument<OpenApiDocument>('Webhooks-v1.json');

/** Refusal reasons by their codes. */
export const PUBLISHED_REFUSAL_REASONS = readDocument<Readonly<Record<string, string>>>(
  'refusal-reasons.json',
  import.meta.dirname,
);

/** The examples of the webhooks' document, by their names. */
export const WEBHOOK_EXAMPLES: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.entries(webhooks.components.examples).map(([name, { value }]) => [name, value]),
);

/** The formats and keywords of OpenAPI are no errors. */
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema({ $id: 'checkout', components: checkout.components });

export interface RecordedRequest {
  readonly method: string;
  /** After the base URL, with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

function findOperation(method: string, pathname: string): Operation | undefined {
  const template = Object.keys(checkout.paths).find((each) =>
    new RegExp(`^${each.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`).test(pathname),
  );
  return template === undefined ? undefined : checkout.paths[template]![method.toLowerCase()];
}

/** The fields that the document requires in the body of this request, or in its query if it has no body. */
export function findRequiredFields({ method, path }: RecordedRequest): readonly string[] {
  const operation = findOperation(method, new URL(path, 'http://adyen').pathname);
  const reference = operation?.requestBody?.content['application/json']?.schema.$ref;
  if (reference !== undefined) return checkout.components.schemas[reference.split('/').at(-1)!]?.required ?? [];
  return (operation?.parameters ?? []).flatMap((parameter) =>
    parameter.in === 'query' && parameter.required === true ? [parameter.name] : [],
  );
}

/** The reasons why a request does not follow the document of the Checkout API. */
export function findRequestProblems({ method, path, headers, body }: RecordedRequest): string[] {
  const { pathname, searchParams } = new URL(path, 'http://adyen');
  const operation = findOperation(method, pathname);
  if (!operation) return [`The document has no operation ${method} ${pathname}`];
  const problems = (operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'query' && parameter.required === true && !searchParams.has(parameter.name))
    .map(({ name }) => `The query has no ${name}`);
  if (typeof headers['x-api-key'] !== 'string') problems.push('There is no API key');
  const key = headers['idempotency-key'];
  if (key !== undefined && (typeof key !== 'string' || !/^.{1,64}$/.test(key)))
    problems.push('The idempotency key is too long');
  if (!operation.requestBody) return body === '' ? problems : [...problems, 'The operation has no body'];
  if (headers['content-type'] !== 'application/json') problems.push('The body is not sent as JSON');
  return [...problems, ...findBodyProblems(operation.requestBody.content['application/json']!.schema.$ref, body)];
}

function findBodyProblems(reference: string, body: string): string[] {
  const validate = ajv.getSchema(`checkout${reference}`);
  if (!validate) return [`The document has no schema ${reference}`];
  if (validate(JSON.parse(body))) return [];
  return validate.errors!.map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}
