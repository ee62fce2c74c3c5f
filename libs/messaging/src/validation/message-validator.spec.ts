import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type EventEnvelope, SERVICE_MESSAGES, type ServiceMessages } from '@svc/contracts';
import { anAnonymousPayment, aPayment, paymentEvent, refundOf } from '@svc/testing';
import { MESSAGE_SCHEMAS } from './message-schemas.js';
import { findViolation, type MessageKind, separateInvalid } from './message-validator.js';

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

const parseSchema = (name: string): Schema => JSON.parse(MESSAGE_SCHEMAS[name]!) as Schema;
const EXAMPLE_VALUES: Readonly<Record<string, unknown>> = {
  string: 'x',
  number: 1,
  integer: 1,
  boolean: true,
  null: null,
};

/** Creates a value of the schema with all its properties. For a union, it is a value of the first member. */
function newExample(schema: Schema): unknown {
  if (schema.$ref) return newExample(parseSchema(schema.$ref.slice('#/$defs/'.length)));
  if ('const' in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return newExample(schema.anyOf[0]!);
  const type = [schema.type].flat()[0];
  if (type === 'array') return schema.items ? [newExample(schema.items)] : [];
  if (type !== 'object') return EXAMPLE_VALUES[type ?? 'null'];
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, member]) => [name, newExample(member)]),
  );
}

/** Adds an unknown property to every object, as a newer release might. */
function addUnknownProperties(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addUnknownProperties);
  if (typeof value !== 'object' || value === null) return value;
  return {
    ...Object.fromEntries(Object.entries(value).map(([key, member]) => [key, addUnknownProperties(member)])),
    unknown: 1,
  };
}

function findRequired(schema: Schema): readonly string[] {
  return schema.$ref ? findRequired(parseSchema(schema.$ref.slice('#/$defs/'.length))) : (schema.required ?? []);
}

const MESSAGES = Object.keys(MESSAGE_SCHEMAS)
  .filter((name) => name.includes(':'))
  .map((name) => name.split(':') as [MessageKind, string]);

describe.each(MESSAGES)('the schema of the %s %s', (kind, type) => {
  const schema = parseSchema(`${kind}:${type}`);
  const example = newExample(schema);

  it('accepts a valid message, with and without unknown properties', () => {
    expect(findViolation(kind, type, example)).toBeUndefined();
    expect(findViolation(kind, type, addUnknownProperties(example))).toBeUndefined();
  });

  it('rejects text, undefined, and a message without a required property', () => {
    expect(findViolation(kind, type, 'x')).toMatchObject({ path: '/' });
    expect(findViolation(kind, type, undefined)).toMatchObject({ path: '/' });
    for (const name of findRequired(schema)) {
      const { [name]: _, ...rest } = example as Record<string, unknown>;
      expect(findViolation(kind, type, rest)?.message).toContain(`must have required property '${name}'`);
    }
  });
});

test('every published event and every command with a responder has a schema in the code and in a file', () => {
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
])('the event of %s is valid', (_, event) => {
  expect(separateInvalid([event])).toEqual({ valid: [event], invalid: [] });
});

test('an event of an earlier release is valid, because newer properties are optional', () => {
  const merchant = { merchantId: 1, name: 'Karoo Books', features: {}, grants: [] };
  expect(findViolation('event', 'merchant.changed.v1', merchant)).toBeUndefined();
  const source = { kind: 'code', origin: 'provider', siteReference: 'TILL-1' } as const;
  expect(findViolation('event', 'payment.succeeded.v1', { ...payment, source })).toBeUndefined();
});

test('the text of a validation error contains an error code, the field and the rule, but not the value', () => {
  const error = findViolation('event', 'payment.succeeded.v1', { ...payment, amount: '4242424242424242' });
  expect(error?.message).toMatch(
    /^message\.invalid: event payment\.succeeded\.v1, \/amount must be integer \(#.*\/properties\/amount\/type\)$/,
  );
});

test('the validation error of a payment with an unknown source contains the field /source', () => {
  const error = findViolation('event', 'payment.succeeded.v1', { ...payment, source: { kind: 'x' } });
  expect(error).toMatchObject({ path: '/source', problem: 'must match a schema in anyOf' });
});

test('a message of a type without a schema is valid', () => {
  expect(findViolation('event', 'noted.v1', 1)).toBeUndefined();
  expect(findViolation('event', 'toString', 1)).toBeUndefined();
});

test('separateInvalid returns the valid events of a batch in the order of the batch', () => {
  const [first, last] = [paymentEvent(payment), paymentEvent(anAnonymousPayment())];
  const invalidEvent = { ...paymentEvent(payment), payload: {} };
  const { valid, invalid } = separateInvalid([first, invalidEvent, last]);
  expect(valid).toEqual([first, last]);
  expect(invalid.map(([event]) => event)).toEqual([invalidEvent]);
});
