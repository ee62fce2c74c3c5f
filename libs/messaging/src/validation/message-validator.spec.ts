import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type EventEnvelope, SERVICE_MESSAGES, type ServiceMessages } from '@svc/contracts';
import { anAnonymousPayment, aPayment, paymentEvent, refundOf } from '@svc/testing';
import { MESSAGE_SCHEMAS } from './message-schemas.js';
import { InvalidMessageError, type MessageKind, MessageValidator, messageValidator } from './message-validator.js';

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
    expect(messageValidator.findViolation(kind, type, example)).toBeUndefined();
    expect(messageValidator.findViolation(kind, type, addUnknownProperties(example))).toBeUndefined();
  });

  it('rejects text, undefined, and a message without a required property', () => {
    expect(messageValidator.findViolation(kind, type, 'x')).toMatchObject({ path: '/' });
    expect(messageValidator.findViolation(kind, type, undefined)).toMatchObject({ path: '/' });
    for (const name of findRequired(schema)) {
      const { [name]: _, ...rest } = example as Record<string, unknown>;
      expect(messageValidator.findViolation(kind, type, rest)?.message).toContain(
        `must have required property '${name}'`,
      );
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
  const events = [event];
  const result = messageValidator.separateInvalid(events);
  expect(result).toEqual({ valid: [event], invalid: [] });
  expect(result.valid).toBe(events);
});

test('an event without an optional property is valid, and an event without a required property is not', () => {
  const settings = { features: {}, minimumAmount: 100, grants: [], fees: {}, timeZones: [{ zone: 'UTC' }] };
  const merchant = { merchantId: 1, name: 'Karoo Books', ...settings };
  expect(messageValidator.findViolation('event', 'merchant.changed.v1', merchant)).toBeUndefined();
  const { fees: _, ...merchantWithoutFees } = merchant;
  expect(messageValidator.findViolation('event', 'merchant.changed.v1', merchantWithoutFees)).toBeDefined();
});

test('the text of a validation error contains an error code, the field and the rule, but not the value', () => {
  const error = messageValidator.findViolation('event', 'payment.succeeded.v1', {
    ...payment,
    amount: '4242424242424242',
  });
  expect(error?.message).toMatch(
    /^message\.invalid: event payment\.succeeded\.v1, \/amount must be integer \(#.*\/properties\/amount\/type\)$/,
  );
});

test('the validation error of a payment with an unknown source contains the field /source', () => {
  const error = messageValidator.findViolation('event', 'payment.succeeded.v1', { ...payment, source: { kind: 'x' } });
  expect(error).toMatchObject({ path: '/source', problem: 'must match a schema in anyOf' });
});

describe('a MessageValidator with its own schemas', () => {
  const NUMBERS = '{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}';
  const toEvent = (type: string, payload: unknown) => ({ ...paymentEvent(payment), type, payload }) as EventEnvelope;

  it('describes the first violation by the name, path, rule and text of the error', () => {
    const validator = new MessageValidator({ 'request:count.v1': NUMBERS });
    expect(validator.findViolation('request', 'count.v1', { count: 1 })).toBeUndefined();
    const fieldError = validator.findViolation('request', 'count.v1', { count: 'x' });
    expect(fieldError).toBeInstanceOf(InvalidMessageError);
    expect({ ...fieldError, message: fieldError?.message }).toEqual({
      name: 'InvalidMessageError',
      path: '/count',
      problem: 'must be integer',
      message: 'message.invalid: request count.v1, /count must be integer (#/properties/count/type)',
    });
    expect(validator.findViolation('request', 'count.v1', {})?.message).toBe(
      "message.invalid: request count.v1, / must have required property 'count' (#/required)",
    );
  });

  it('resolves references to definitions', () => {
    const validator = new MessageValidator({ 'event:noted.v1': '{"$ref":"#/$defs/Numbers"}', Numbers: NUMBERS });
    expect(validator.findViolation('event', 'noted.v1', { count: 1 })).toBeUndefined();
    expect(validator.findViolation('event', 'noted.v1', { count: 1.5 })).toMatchObject({ path: '/count' });
  });

  it('validates each type and kind with the schema of this type and kind', () => {
    const validator = new MessageValidator({
      'event:a.v1': '{"type":"string"}',
      'event:b.v1': '{"type":["integer","boolean"]}',
      'reply:a.v1': '{"type":"boolean"}',
    });
    const messages = [
      ['event', 'a.v1', 'x'],
      ['event', 'a.v1', 1],
      ['event', 'b.v1', 1],
      ['event', 'b.v1', true],
      ['event', 'b.v1', 'x'],
      ['reply', 'a.v1', true],
      ['reply', 'a.v1', 'x'],
    ] as const;
    expect(messages.map(([kind, type, value]) => validator.findViolation(kind, type, value)?.problem)).toEqual([
      undefined,
      'must be string',
      undefined,
      undefined,
      'must be integer,boolean',
      undefined,
      'must be boolean',
    ]);
  });

  // A service that receives no message must not pay for the schemas of all services.
  it('parses the schemas once, when it validates the first message', () => {
    const readSchema = jest.fn(() => NUMBERS);
    const validator = new MessageValidator(
      Object.defineProperty({}, 'event:noted.v1', { get: readSchema, enumerable: true }),
    );
    expect(readSchema).not.toHaveBeenCalled();
    validator.findViolation('event', 'noted.v1', {});
    validator.findViolation('event', 'noted.v1', { count: 1 });
    expect(readSchema).toHaveBeenCalledTimes(1);
  });

  it('throws an error for a schema with an unknown keyword', () => {
    const validator = new MessageValidator({ 'event:noted.v1': '{"type":"object","require":["count"]}' });
    expect(() => validator.findViolation('event', 'noted.v1', {})).toThrow('strict mode: unknown keyword: "require"');
  });

  it('throws an error for a schema that requires a property without defining it', () => {
    const validator = new MessageValidator({ 'event:noted.v1': '{"type":"object","required":["count"]}' });
    expect(() => validator.findViolation('event', 'noted.v1', {})).toThrow(
      'strict mode: required property "count" is not defined at "urn:svc:messages#" (strictRequired)',
    );
  });

  // The generator writes valid schemas. Their validation would delay the first message of each service.
  it('does not validate the schemas themselves', () => {
    const validator = new MessageValidator({ 'event:noted.v1': '{"type":"string","description":7}' });
    expect(validator.findViolation('event', 'noted.v1', 'x')).toBeUndefined();
  });

  it('accepts each message of a type without a schema, also if the type is no part of a URI', () => {
    const validator = new MessageValidator({ 'event:noted.v1': NUMBERS });
    for (const type of ['noted.v2', 'toString', '%', 'noted.v1/type'])
      expect(validator.findViolation('event', type, 1)).toBeUndefined();
    expect(validator.findViolation('request', 'noted.v1', 1)).toBeUndefined();
  });

  it('separates the valid events of a batch from the invalid events, each in the order of the batch', () => {
    const validator = new MessageValidator({ 'event:noted.v1': NUMBERS });
    const [one, two, text, unknown, empty] = [{ count: 1 }, { count: 2 }, { count: 'x' }, 7, {}].map((payload, index) =>
      toEvent(index === 3 ? 'unknown.v1' : 'noted.v1', payload),
    ) as [EventEnvelope, EventEnvelope, EventEnvelope, EventEnvelope, EventEnvelope];
    const { valid, invalid } = validator.separateInvalid([one, text, unknown, empty, two]);
    expect(valid).toEqual([one, unknown, two]);
    expect(invalid.map(([event, error]) => [event, error.path])).toEqual([
      [text, '/count'],
      [empty, '/'],
    ]);
  });
});
