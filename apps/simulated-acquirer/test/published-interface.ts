import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

// Adyen's published OpenAPI documents (../adyen). Without them the tests fail.

type Schema = Readonly<Record<string, unknown>>;
interface OperationObject {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >;
}
interface Document {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly webhooks?: Readonly<Record<string, { readonly post: OperationObject }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const readDocument = (name: string): Document =>
  JSON.parse(readFileSync(join(import.meta.dirname, '..', 'adyen', name), 'utf8')) as Document;

export const CHECKOUT = readDocument('CheckoutService-v71.json');
export const WEBHOOKS = readDocument('Webhooks-v1.json');

function newAjv(document: Document): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'document', components: document.components });
  return ajv;
}

const checkoutAjv = newAjv(CHECKOUT);
const webhooksAjv = newAjv(WEBHOOKS);
const validators = new Map<Schema, ValidateFunction>();

/** The differences between a response and the OpenAPI document of Checkout; empty if there are none. */
export function findResponseProblems(method: string, path: string, status: number, body: unknown): string[] {
  const operation = CHECKOUT.paths?.[path]?.[method.toLowerCase()];
  if (!operation) return [`${method} ${path} is not documented`];
  // The document lists the errors of some operations only, but all operations have the same errors.
  const response =
    operation.responses[String(status)] ?? CHECKOUT.paths!['/payments']!['post']!.responses[String(status)];
  if (!response) return [`status ${status} of ${method} ${path} is not documented`];
  const schema = response.content?.['application/json']?.schema;
  if (!schema) return body === undefined ? [] : [`the body of ${status} is not documented`];
  return validate(checkoutAjv, schema, body);
}

/** The differences between a webhook and the OpenAPI document of the webhooks. */
export function findWebhookProblems(eventCode: string, body: unknown): string[] {
  const schema = WEBHOOKS.webhooks?.[`/${eventCode}`]?.post.requestBody?.content['application/json']?.schema;
  if (!schema) return [`${eventCode} is not documented`];
  return validate(webhooksAjv, schema, body);
}

function validate(ajv: Ajv2020, schema: Schema, body: unknown): string[] {
  const validator = validators.get(schema) ?? ajv.compile(relocateReferences(schema) as Schema);
  validators.set(schema, validator);
  if (validator(body)) return [];
  return (validator.errors ?? []).map(
    ({ instancePath, message = '', params }) => `body${instancePath} ${message} ${JSON.stringify(params)}`,
  );
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

const ROOTS = [
  'PaymentRequest',
  'PaymentDetailsRequest',
  'PaymentCaptureRequest',
  'PaymentCancelRequest',
  'StandalonePaymentCancelRequest',
  'PaymentRefundRequest',
  'PaymentReversalRequest',
  'StoredPaymentMethodRequest',
];
/** Keywords that do not validate anything. */
const ANNOTATIONS = new Set(['description', 'example', 'examples', 'title', 'deprecated', 'format']);

/**
 * The schemas of the requests that the emulator accepts, and all that they refer to, without annotations. The payment
 * method of a payment is a card: the emulator has no others.
 */
export function extractRequestSchemas(): Record<string, string> {
  const found = new Map<string, unknown>();
  const add = (name: string): void => {
    if (found.has(name)) return;
    found.set(name, {});
    found.set(name, simplify(CHECKOUT.components.schemas[name]!));
  };
  const simplify = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(simplify);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, properties, ...rest } = value as { $ref?: string; properties?: Record<string, unknown> };
    if ($ref !== undefined) {
      const name = $ref.slice($ref.lastIndexOf('/') + 1);
      add(name);
      return { $ref: name };
    }
    return {
      ...Object.fromEntries(
        Object.entries(rest)
          .filter(([key]) => !ANNOTATIONS.has(key) && !key.startsWith('x-'))
          .map(([key, each]) => [key, simplify(each)]),
      ),
      ...(properties
        ? { properties: Object.fromEntries(Object.entries(properties).map(([key, each]) => [key, simplify(each)])) }
        : {}),
    };
  };
  const payment = CHECKOUT.components.schemas['PaymentRequest'] as { properties: Record<string, unknown> };
  const cards = { ...payment.properties, paymentMethod: { $ref: '#/components/schemas/CardDetails' } };
  found.set('PaymentRequest', simplify({ ...payment, properties: cards }));
  for (const root of ROOTS) add(root);
  return Object.fromEntries([...found].sort().map(([name, schema]) => [name, JSON.stringify(schema)]));
}
