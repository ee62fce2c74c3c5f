import { findBreakingChanges } from './compare.js';

type Schema = Readonly<Record<string, unknown>>;

const object = (properties: object, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  required,
});
const text = { type: 'string' };
const a = (schema: object): Schema => object({ a: schema });

/** The changes of one message, as the document of events and commands has it. */
function changes(name: string, before: Schema, after: Schema): string[] {
  const documentOf = (payload: Schema) => ({ components: { messages: { [name]: { payload } } } });
  return findBreakingChanges(documentOf(before), documentOf(after));
}

const EVENT = 'x.made.v1';
const REQUEST = 'make-x.v1.request';
const REPLY = 'make-x.v1.reply';

describe('an event is read by older consumers, and by newer ones in a replay', () => {
  it.each<[string, Schema, Schema, string]>([
    ['a property that is removed', a(text), object({}), 'event x.made.v1.a is gone'],
    ['a property that may be absent', object({ a: text }, ['a']), a(text), '.a may be absent now'],
    ['a new property that older events lack', object({}), object({ a: text }, ['a']), '.a is new and required'],
    ['a property that older events may lack', a(text), object({ a: text }, ['a']), '.a has become required'],
    ['a wider type', a(text), a({ type: ['string', 'null'] }), '.a was string and is string or null'],
    ['a narrower type', a({ type: ['string', 'null'] }), a(text), '.a was string or null and is string'],
    [
      'a number where there was an integer',
      a({ type: 'integer' }),
      a({ type: 'number' }),
      '.a was integer and is number',
    ],
    [
      'an integer where there was a number',
      a({ type: 'number' }),
      a({ type: 'integer' }),
      '.a was number and is integer',
    ],
    ['anything where there was a type', a(text), a({}), '.a may be anything now'],
    ['a type where there was anything', a({}), a(text), '.a took anything, and no longer does'],
    ['a value that older consumers do not know', a({ enum: ['x'] }), a({ enum: ['x', 'y'] }), '.a may be ["y"] now'],
    ['a value that older events have', a({ enum: ['x', 'y'] }), a({ enum: ['x'] }), '.a does not take ["y"] any more'],
    ['one more form', a({ anyOf: [text] }), a({ anyOf: [text, object({})] }), '.a has more forms now'],
    ['one form less', a({ anyOf: [text, object({})] }), a({ anyOf: [text] }), '.a has fewer forms now'],
    [
      'the values of a dictionary',
      a({ type: 'object', additionalProperties: text }),
      a({ type: 'object', additionalProperties: { type: 'number' } }),
      '.a.* was string and is number',
    ],
  ])('%s', (_, before, after, change) => {
    expect(changes(EVENT, before, after).join('\n')).toContain(change);
  });

  it.each<[string, Schema, Schema]>([
    ['a new property that may be absent', object({}), a(text)],
    ['a note about a format', a(text), a({ ...text, format: 'date-time' })],
    [
      'forms in another order',
      a({ anyOf: [object({ kind: { const: 'x' } }), object({ kind: { const: 'y' } })] }),
      a({ anyOf: [object({ kind: { const: 'y' } }), object({ kind: { const: 'x' } })] }),
    ],
  ])('%s breaks no reader', (_, before, after) => {
    expect(changes(EVENT, before, after)).toEqual([]);
  });

  it('reports each change once', () => {
    expect(changes(EVENT, a(text), object({}))).toEqual(['event x.made.v1.a is gone']);
  });
});

describe('the request of a command is read by a newer service', () => {
  it.each<[string, Schema, Schema, string]>([
    ['a new property that is required', object({}), object({ a: text }, ['a']), 'request.a is new and required'],
    ['a property that has become required', a(text), object({ a: text }, ['a']), 'request.a has become required'],
    ['a narrower type', a({ type: ['string', 'null'] }), a(text), 'request.a was string or null and is string'],
    ['a type where there was anything', a({}), a(text), 'request.a took anything, and no longer does'],
    ['a value that is refused', a({ enum: ['x', 'y'] }), a({ enum: ['x'] }), 'does not take ["y"] any more'],
    ['a property that is removed', a(text), object({}), 'command make-x.v1 request.a is gone'],
  ])('%s', (_, before, after, change) => {
    expect(changes(REQUEST, before, after).join('\n')).toContain(change);
  });

  it.each<[string, Schema, Schema]>([
    ['a property that may be absent', object({ a: text }, ['a']), a(text)],
    ['a wider type', a(text), a({ type: ['string', 'null'] })],
    ['a value that is accepted as well', a({ enum: ['x'] }), a({ enum: ['x', 'y'] })],
    ['anything where there was a type', a(text), a({})],
  ])('%s breaks no reader', (_, before, after) => {
    expect(changes(REQUEST, before, after)).toEqual([]);
  });
});

describe('the reply of a command is read by an older service', () => {
  it.each<[string, Schema, Schema, string]>([
    ['a property that is removed', a(text), object({}), 'command make-x.v1 reply.a is gone'],
    ['a property that may be absent', object({ a: text }, ['a']), a(text), 'reply.a may be absent now'],
    ['a wider type', a(text), a({ type: ['string', 'null'] }), 'reply.a was string and is string or null'],
    ['a value that is not known', a({ enum: ['x'] }), a({ enum: ['x', 'y'] }), 'reply.a may be ["y"] now'],
  ])('%s', (_, before, after, change) => {
    expect(changes(REPLY, before, after).join('\n')).toContain(change);
  });

  it.each<[string, Schema, Schema]>([
    ['a new property', object({}), object({ a: text }, ['a'])],
    ['a narrower type', a({ type: ['string', 'null'] }), a(text)],
    ['a value that is no longer sent', a({ enum: ['x', 'y'] }), a({ enum: ['x'] })],
  ])('%s breaks no reader', (_, before, after) => {
    expect(changes(REPLY, before, after)).toEqual([]);
  });
});

test('a removed command is a breaking change', () => {
  expect(findBreakingChanges({ components: { messages: { [REQUEST]: { payload: text } } } }, {})).toEqual([
    'command make-x.v1 request is gone',
  ]);
});
