import { findBreakingChanges } from './compare.js';

interface Form {
  readonly request?: object;
  readonly parameters?: readonly object[];
  readonly responses?: object;
  readonly answer?: object;
  readonly path?: string;
}

/** A document with one operation, whose schemas are components like those of the reference. */
function documentOf({ request, parameters = [], responses, answer = {}, path = '/things' }: Form) {
  const content = (name: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } });
  return {
    paths: {
      [path]: {
        post: {
          parameters,
          ...(request ? { requestBody: { required: true, content: content('Request') } } : {}),
          responses: responses ?? { 200: { content: content('Answer') } },
        },
      },
    },
    components: { schemas: { Request: request, Answer: answer } },
  };
}

const object = (properties: object, required: readonly string[] = []) => ({ type: 'object', properties, required });
const text = { type: 'string' };
const NAME = { name: 'page', in: 'query', schema: text };

describe('breaking changes', () => {
  it.each<[string, Form, Form, string]>([
    ['an operation that is gone', {}, { path: '/others' }, 'POST /things is gone'],
    ['a success that is gone', {}, { responses: { 202: {} } }, 'POST /things 200 is gone'],
    ['another success', {}, { responses: { 200: {}, 202: {} } }, 'POST /things 202 is new'],
    [
      'a field of an answer that is gone',
      { answer: object({ a: text }) },
      { answer: object({ b: text }) },
      '200.a is gone',
    ],
    [
      'a field of an answer that may be absent',
      { answer: object({ a: text }, ['a']) },
      { answer: object({ a: text }) },
      '.a may be absent now',
    ],
    [
      'another type of an answer',
      { answer: object({ a: text }) },
      { answer: object({ a: { type: 'number' } }) },
      '.a was string and is number',
    ],
    [
      'null where there was none',
      { answer: object({ a: text }) },
      { answer: object({ a: { type: ['string', 'null'] } }) },
      '.a was string and is string or null',
    ],
    [
      'another value of an answer',
      { answer: object({ a: { enum: ['x'] } }) },
      { answer: object({ a: { enum: ['x', 'y'] } }) },
      '.a may be ["y"] now',
    ],
    [
      'any value of an answer',
      { answer: object({ a: { const: 'x' } }) },
      { answer: object({ a: text }) },
      '.a may be anything now',
    ],
    [
      'elements of an answer',
      { answer: { type: 'array', items: text } },
      { answer: { type: 'array', items: { type: 'null' } } },
      '[] was string and is null',
    ],
    [
      'another form of an answer',
      { answer: { anyOf: [text] } },
      { answer: { anyOf: [text, object({})] } },
      'has more forms now',
    ],
    [
      'a field that is required',
      { request: object({ a: text }) },
      { request: object({ a: text }, ['a']) },
      'body.a has become required',
    ],
    [
      'a new field that is required',
      { request: object({}) },
      { request: object({ a: text }, ['a']) },
      'body.a is new and required',
    ],
    ['a field of a request that is gone', { request: object({ a: text }) }, { request: object({}) }, 'body.a is gone'],
    ['a body where there was none', {}, { request: object({}) }, 'body is new and required'],
    [
      'a value that is refused',
      { request: object({ a: { enum: ['x', 'y'] } }) },
      { request: object({ a: { enum: ['x'] } }) },
      '.a does not take ["y"] any more',
    ],
    [
      'values where there were all',
      { request: object({ a: text }) },
      { request: object({ a: { const: 'x' } }) },
      '.a takes only ["x"] now',
    ],
    [
      'null that is refused',
      { request: object({ a: { type: ['string', 'null'] } }) },
      { request: object({ a: text }) },
      '.a was string or null and is string',
    ],
    [
      'a smaller maximum',
      { request: object({ a: { maximum: 9 } }) },
      { request: object({ a: { maximum: 8 } }) },
      '.a maximum was 9 and is 8',
    ],
    [
      'a larger minimum',
      { request: object({ a: { minLength: 1 } }) },
      { request: object({ a: { minLength: 2 } }) },
      '.a minLength was 1 and is 2',
    ],
    [
      'a limit where there was none',
      { request: object({ a: text }) },
      { request: object({ a: { ...text, maxLength: 5 } }) },
      '.a maxLength was none and is 5',
    ],
    [
      'another pattern',
      { request: object({ a: text }) },
      { request: object({ a: { ...text, pattern: '^x$' } }) },
      '.a pattern was none and is ^x$',
    ],
    ['a parameter that is gone', { parameters: [NAME] }, {}, 'query page is gone'],
    [
      'a parameter that is required',
      { parameters: [NAME] },
      { parameters: [{ ...NAME, required: true }] },
      'query page has become required',
    ],
    [
      'a new parameter that is required',
      {},
      { parameters: [{ ...NAME, required: true }] },
      'query page is new and required',
    ],
    [
      'a parameter of fewer values',
      { parameters: [NAME] },
      { parameters: [{ ...NAME, schema: { const: 'x' } }] },
      'query page takes only ["x"] now',
    ],
  ])('%s', (_, before, after, change) => {
    const found = findBreakingChanges(documentOf(before), documentOf(after));
    expect(found.join('\n')).toContain(change);
  });

  it('a field that was removed from a webhook or an event', () => {
    const webhook = (schema: object) => ({
      webhooks: { paid: { post: { requestBody: { content: { 'application/json': { schema } } } } } },
    });
    const whole = webhook(object({ a: text }));
    expect(findBreakingChanges(whole, webhook(object({})))).toEqual(['webhook paid.a is gone']);
    expect(findBreakingChanges(whole, {})).toEqual(['webhook paid is gone']);
    const event = (payload: object) => ({
      components: { messages: { 'x.made.v1': { payload: { allOf: [payload] } } } },
    });
    expect(findBreakingChanges(event(object({ a: text })), event(object({})))).toEqual(['event x.made.v1 (1).a is gone']);
    expect(findBreakingChanges(event(text), { components: {} })).toEqual(['event x.made.v1 is gone']);
  });
});

describe('compatible changes', () => {
  it.each<[string, Form, Form]>([
    [
      'the same',
      { answer: object({ a: text }, ['a']), request: object({ a: text }) },
      { answer: object({ a: text }, ['a']), request: object({ a: text }) },
    ],
    ['a new field of an answer', { answer: object({ a: text }) }, { answer: object({ a: text, b: text }, ['b']) }],
    [
      'a field of an answer that is always there',
      { answer: object({ a: text }) },
      { answer: object({ a: text }, ['a']) },
    ],
    [
      'fewer values of an answer',
      { answer: object({ a: { enum: ['x', 'y'] } }) },
      { answer: object({ a: { enum: ['x'] } }) },
    ],
    [
      'an integer where there was a number',
      { answer: object({ a: { type: 'number' } }) },
      { answer: object({ a: { type: 'integer' } }) },
    ],
    ['a new field that may be absent', { request: object({}) }, { request: object({ a: text }) }],
    [
      'a number where there was an integer',
      { request: object({ a: { type: 'integer' } }) },
      { request: object({ a: { type: 'number' } }) },
    ],
    [
      'another value of a request',
      { request: object({ a: { enum: ['x'] } }) },
      { request: object({ a: { enum: ['x', 'y'] } }) },
    ],
    ['a larger maximum', { request: object({ a: { maximum: 9 } }) }, { request: object({ a: {} }) }],
    ['a new parameter', {}, { parameters: [NAME] }],
    ['another refusal', {}, { responses: { 200: {}, 409: {} }, answer: {} }],
  ])('%s', (_, before, after) => {
    const gone = findBreakingChanges(documentOf(before), documentOf(after)).filter(
      (each) => !each.endsWith('application/json is gone'),
    );
    expect(gone).toEqual([]);
  });

  it('a schema that contains itself', () => {
    const tree = object({ child: { $ref: '#/components/schemas/Answer' } });
    expect(findBreakingChanges(documentOf({ answer: tree }), documentOf({ answer: tree }))).toEqual([]);
  });
});
