import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type EventEnvelope, SERVICE_MESSAGES, type ServiceMessages } from '@svc/contracts';
import { anAnonymousPayment, aPayment, paymentEvent, refundOf } from '@svc/testing';
import { MESSAGE_SCHEMAS } from './message-schemas.js';
import { findInvalidity, type MessageKind, separateInvalid } from './message-validator.js';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

const schemaNamed = (name: string): Schema => JSON.parse(MESSAGE_SCHEMAS[name]!) as Schema;
const VALUES: Readonly<Record<string, unknown>> = { string: 'x', number: 1, integer: 1, boolean: true, null: null };

/** A value of the schema with all its properties; for a union, a value of the first member. */
function exampleOf(schema: Schema): unknown {
  if (schema.$ref) return exampleOf(schemaNamed(schema.$ref.slice('#/$defs/'.length)));
  if ('const' in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return exampleOf(schema.anyOf[0]!);
  const type = [schema.type].flat()[0];
  if (type === 'array') return schema.items ? [exampleOf(schema.items)] : [];
  if (type !== 'object') return VALUES[type ?? 'null'];
  return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, each]) => [name, exampleOf(each)]));
}

/** As a newer release might send it: an unknown property in every object. */
function withUnknown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withUnknown);
  if (typeof value !== 'object' || value === null) return value;
  return { ...Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withUnknown(each)])), unknown: 1 };
}

function requiredOf(schema: Schema): readonly string[] {
  return schema.$ref ? requiredOf(schemaNamed(schema.$ref.slice('#/$defs/'.length))) : (schema.required ?? []);
}

const MESSAGES = Object.keys(MESSAGE_SCHEMAS)
  .filter((name) => name.includes(':'))
  .map((name) => name.split(':') as [MessageKind, string]);

describe.each(MESSAGES)('the schema of the %s %s', (kind, type) => {
  const schema = schemaNamed(`${kind}:${type}`);
  const example = exampleOf(schema);

  it('accepts an example, also with unknown properties', () => {
    expect(findInvalidity(kind, type, example)).toBeUndefined();
    expect(findInvalidity(kind, type, withUnknown(example))).toBeUndefined();
  });

  it('refuses text, a missing value, and an example without a required property', () => {
    expect(findInvalidity(kind, type, 'x')).toMatchObject({ path: '/' });
    expect(findInvalidity(kind, type, undefined)).toMatchObject({ path: '/' });
    for (const name of requiredOf(schema)) {
      const { [name]: _, ...rest } = example as Record<string, unknown>;
      expect(findInvalidity(kind, type, rest)?.message).toContain(`must have required property '${name}'`);
    }
  });
});

test('every published event and every command with a responder has a schema and a file for it', () => {
  const services: ServiceMessages[] = Object.values(SERVICE_MESSAGES);
  const expected = services.flatMap(({ publishes, answers }) => [
    ...publishes.map((type) => `event:${type}`),
    ...answers.flatMap((type) => [`request:${type}`, `reply:${type}`]),
  ]);
  expect(MESSAGES.map((message) => message.join(':'))).toEqual(expected.toSorted());
  const folder = join(__dirname, '../../../contracts/schemas');
  const ids = globSync('*/*.schema.json', { cwd: folder }).map(
    (file) => (JSON.parse(readFileSync(join(folder, file), 'utf8')) as { $id: string }).$id,
  );
  expect(ids.toSorted()).toEqual(expected.map((name) => `urn:svc:${name}`).toSorted());
  expect(globSync('events/*.schema.json', { cwd: folder }).map((file) => basename(file))).toContain(
    'payment.succeeded.v1.schema.json',
  );
});

const payment = aPayment('organisation', 'customer');

test.each<[string, EventEnvelope]>([
  ['a payment of a partner', paymentEvent(payment)],
  ['an anonymous payment', paymentEvent(anAnonymousPayment())],
  [
    'a failed payment',
    paymentEvent({ ...payment, state: 'failed', errors: [{ errorReference: '10', message: 'Declined.' }] }),
  ],
  ['a refund', refundOf(payment)],
])('%s is valid', (_, event) => {
  expect(separateInvalid([event])).toEqual({ valid: [event], invalid: [] });
});

test('an event of an earlier release is valid, because newer properties are optional', () => {
  const merchant = { merchantId: 1, name: 'Karoo Books', features: {}, grants: [] };
  expect(findInvalidity('event', 'merchant.changed.v1', merchant)).toBeUndefined();
  const source = { kind: 'code', origin: 'provider', siteReference: 'TILL-1' } as const;
  expect(findInvalidity('event', 'payment.succeeded.v1', { ...payment, source })).toBeUndefined();
});

test('the error contains a code, the field and the rule, and no value', () => {
  const error = findInvalidity('event', 'payment.succeeded.v1', { ...payment, amount: '4242424242424242' });
  expect(error?.message).toMatch(
    /^message\.invalid: event payment\.succeeded\.v1, \/amount must be integer \(#.*\/properties\/amount\/type\)$/,
  );
});

test('the error for a payment of an unknown source contains the source', () => {
  const error = findInvalidity('event', 'payment.succeeded.v1', { ...payment, source: { kind: 'x' } });
  expect(error).toMatchObject({ path: '/source', problem: 'must match a schema in anyOf' });
});

test('a type without a schema is accepted', () => {
  expect(findInvalidity('event', 'noted.v1', 1)).toBeUndefined();
  expect(findInvalidity('event', 'toString', 1)).toBeUndefined();
});

test('the valid events of a batch keep their order', () => {
  const [first, last] = [paymentEvent(payment), paymentEvent(anAnonymousPayment())];
  const broken = { ...paymentEvent(payment), payload: {} };
  const { valid, invalid } = separateInvalid([first, broken, last]);
  expect(valid).toEqual([first, last]);
  expect(invalid.map(([event]) => event)).toEqual([broken]);
});
