import { findBreakingChanges } from './compare.js';

type Schema = Readonly<Record<string, unknown>>;

const objectSchema = (properties: object, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  required,
});
const text = { type: 'string' };
/** The schema of an object with the optional property `a`. */
const withA = (schema: object): Schema => objectSchema({ a: schema });

/** The breaking changes of one message between two documents of events and commands. */
function listChanges(name: string, before: Schema, after: Schema): string[] {
  const createDocument = (payload: Schema) => ({ components: { messages: { [name]: { payload } } } });
  return findBreakingChanges(createDocument(before), createDocument(after));
}

const EVENT = 'x.created.v1';
const REQUEST = 'create-x.v1.request';
const REPLY = 'create-x.v1.reply';

/** Older consumers read events of newer services. In a replay, newer consumers read old events. */
describe('in an event', () => {
  it.each<[string, Schema, Schema, string]>([
    ['a removed property', withA(text), objectSchema({}), 'event x.created.v1.a is gone'],
    ['a property that has become optional', objectSchema({ a: text }, ['a']), withA(text), '.a may be absent now'],
    ['a new required property', objectSchema({}), objectSchema({ a: text }, ['a']), '.a is new and required'],
    ['a property that has become required', withA(text), objectSchema({ a: text }, ['a']), '.a has become required'],
    ['a wider type', withA(text), withA({ type: ['string', 'null'] }), '.a was string and is string or null'],
    ['a narrower type', withA({ type: ['string', 'null'] }), withA(text), '.a was string or null and is string'],
    [
      'a number instead of an integer',
      withA({ type: 'integer' }),
      withA({ type: 'number' }),
      '.a was integer and is number',
    ],
    [
      'an integer instead of a number',
      withA({ type: 'number' }),
      withA({ type: 'integer' }),
      '.a was number and is integer',
    ],
    ['any type instead of one type', withA(text), withA({}), '.a may be anything now'],
    ['one type instead of any type', withA({}), withA(text), '.a took anything, and no longer does'],
    ['an additional value of an enum', withA({ enum: ['x'] }), withA({ enum: ['x', 'y'] }), '.a may be ["y"] now'],
    [
      'a removed value of an enum',
      withA({ enum: ['x', 'y'] }),
      withA({ enum: ['x'] }),
      '.a does not take ["y"] any more',
    ],
    [
      'an additional alternative of anyOf',
      withA({ anyOf: [text] }),
      withA({ anyOf: [text, objectSchema({})] }),
      '.a has more forms now',
    ],
    [
      'a removed alternative of anyOf',
      withA({ anyOf: [text, objectSchema({})] }),
      withA({ anyOf: [text] }),
      '.a has fewer forms now',
    ],
    [
      'another type of the values of a dictionary',
      withA({ type: 'object', additionalProperties: text }),
      withA({ type: 'object', additionalProperties: { type: 'number' } }),
      '.a.* was string and is number',
    ],
  ])('%s is a breaking change', (_, before, after, change) => {
    expect(listChanges(EVENT, before, after).join('\n')).toContain(change);
  });

  it.each<[string, Schema, Schema]>([
    ['a new optional property', objectSchema({}), withA(text)],
    ['an added format', withA(text), withA({ ...text, format: 'date-time' })],
    [
      'another order of the alternatives of anyOf',
      withA({ anyOf: [objectSchema({ kind: { const: 'x' } }), objectSchema({ kind: { const: 'y' } })] }),
      withA({ anyOf: [objectSchema({ kind: { const: 'y' } }), objectSchema({ kind: { const: 'x' } })] }),
    ],
  ])('%s is a compatible change', (_, before, after) => {
    expect(listChanges(EVENT, before, after)).toEqual([]);
  });

  it('each breaking change is reported once', () => {
    expect(listChanges(EVENT, withA(text), objectSchema({}))).toEqual(['event x.created.v1.a is gone']);
  });
});

/** During an update, a newer service reads requests of older services. */
describe('in the request of a command', () => {
  it.each<[string, Schema, Schema, string]>([
    ['a new required property', objectSchema({}), objectSchema({ a: text }, ['a']), 'request.a is new and required'],
    [
      'a property that has become required',
      withA(text),
      objectSchema({ a: text }, ['a']),
      'request.a has become required',
    ],
    ['a narrower type', withA({ type: ['string', 'null'] }), withA(text), 'request.a was string or null and is string'],
    ['one type instead of any type', withA({}), withA(text), 'request.a took anything, and no longer does'],
    ['a removed value of an enum', withA({ enum: ['x', 'y'] }), withA({ enum: ['x'] }), 'does not take ["y"] any more'],
    ['a removed property', withA(text), objectSchema({}), 'command create-x.v1 request.a is gone'],
  ])('%s is a breaking change', (_, before, after, change) => {
    expect(listChanges(REQUEST, before, after).join('\n')).toContain(change);
  });

  it.each<[string, Schema, Schema]>([
    ['a property that has become optional', objectSchema({ a: text }, ['a']), withA(text)],
    ['a wider type', withA(text), withA({ type: ['string', 'null'] })],
    ['an additional value of an enum', withA({ enum: ['x'] }), withA({ enum: ['x', 'y'] })],
    ['any type instead of one type', withA(text), withA({})],
  ])('%s is a compatible change', (_, before, after) => {
    expect(listChanges(REQUEST, before, after)).toEqual([]);
  });
});

/** During an update, an older service reads replies of newer services. */
describe('in the reply of a command', () => {
  it.each<[string, Schema, Schema, string]>([
    ['a removed property', withA(text), objectSchema({}), 'command create-x.v1 reply.a is gone'],
    ['a property that has become optional', objectSchema({ a: text }, ['a']), withA(text), 'reply.a may be absent now'],
    ['a wider type', withA(text), withA({ type: ['string', 'null'] }), 'reply.a was string and is string or null'],
    ['an additional value of an enum', withA({ enum: ['x'] }), withA({ enum: ['x', 'y'] }), 'reply.a may be ["y"] now'],
  ])('%s is a breaking change', (_, before, after, change) => {
    expect(listChanges(REPLY, before, after).join('\n')).toContain(change);
  });

  it.each<[string, Schema, Schema]>([
    ['a new property', objectSchema({}), objectSchema({ a: text }, ['a'])],
    ['a narrower type', withA({ type: ['string', 'null'] }), withA(text)],
    ['a removed value of an enum', withA({ enum: ['x', 'y'] }), withA({ enum: ['x'] })],
  ])('%s is a compatible change', (_, before, after) => {
    expect(listChanges(REPLY, before, after)).toEqual([]);
  });
});

test('a removed command is a breaking change', () => {
  expect(findBreakingChanges({ components: { messages: { [REQUEST]: { payload: text } } } }, {})).toEqual([
    'command create-x.v1 request is gone',
  ]);
});
