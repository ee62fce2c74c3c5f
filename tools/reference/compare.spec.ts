import { findBreakingChanges } from './compare.js';

/** The variable parts of the operation in a document. */
interface OperationParts {
  readonly request?: object;
  readonly parameters?: readonly object[];
  readonly responses?: object;
  readonly response?: object;
  readonly path?: string;
}

/** A document with one operation, whose schemas are components as in the reference. */
function createDocument({ request, parameters = [], responses, response = {}, path = '/things' }: OperationParts) {
  const content = (name: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } });
  return {
    paths: {
      [path]: {
        post: {
          parameters,
          ...(request ? { requestBody: { required: true, content: content('Request') } } : {}),
          responses: responses ?? { 200: { content: content('Response') } },
        },
      },
    },
    components: { schemas: { Request: request, Response: response } },
  };
}

const objectSchema = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
});
const text = { type: 'string' };
const PAGE = { name: 'page', in: 'query', schema: text };

describe('breaking changes', () => {
  it.each<[string, OperationParts, OperationParts, string]>([
    ['a removed operation', {}, { path: '/others' }, 'POST /things is gone'],
    ['a removed success status', {}, { responses: { 202: {} } }, 'POST /things 200 is gone'],
    ['a new success status', {}, { responses: { 200: {}, 202: {} } }, 'POST /things 202 is new'],
    [
      'a removed field of a response',
      { response: objectSchema({ a: text }) },
      { response: objectSchema({ b: text }) },
      '200.a is gone',
    ],
    [
      'a field of a response that has become optional',
      { response: objectSchema({ a: text }, ['a']) },
      { response: objectSchema({ a: text }) },
      '.a may be absent now',
    ],
    [
      'another type of a field of a response',
      { response: objectSchema({ a: text }) },
      { response: objectSchema({ a: { type: 'number' } }) },
      '.a was string and is number',
    ],
    [
      'null as an additional value of a response',
      { response: objectSchema({ a: text }) },
      { response: objectSchema({ a: { type: ['string', 'null'] } }) },
      '.a was string and is string or null',
    ],
    [
      'an additional value of an enum in a response',
      { response: objectSchema({ a: { enum: ['x'] } }) },
      { response: objectSchema({ a: { enum: ['x', 'y'] } }) },
      '.a may be ["y"] now',
    ],
    [
      'any value instead of one value in a response',
      { response: objectSchema({ a: { const: 'x' } }) },
      { response: objectSchema({ a: text }) },
      '.a may be anything now',
    ],
    [
      'another type of the elements of a response',
      { response: { type: 'array', items: text } },
      { response: { type: 'array', items: { type: 'null' } } },
      '[] was string and is null',
    ],
    [
      'an additional alternative of a response',
      { response: { anyOf: [text] } },
      { response: { anyOf: [text, objectSchema({})] } },
      'has more forms now',
    ],
    [
      'a field of a request that has become required',
      { request: objectSchema({ a: text }) },
      { request: objectSchema({ a: text }, ['a']) },
      'body.a has become required',
    ],
    [
      'a new required field of a request',
      { request: objectSchema({}) },
      { request: objectSchema({ a: text }, ['a']) },
      'body.a is new and required',
    ],
    [
      'a removed field of a request',
      { request: objectSchema({ a: text }) },
      { request: objectSchema({}) },
      'body.a is gone',
    ],
    ['a new required body', {}, { request: objectSchema({}) }, 'body is new and required'],
    [
      'a removed value of an enum in a request',
      { request: objectSchema({ a: { enum: ['x', 'y'] } }) },
      { request: objectSchema({ a: { enum: ['x'] } }) },
      '.a does not take ["y"] any more',
    ],
    [
      'one value instead of any value in a request',
      { request: objectSchema({ a: text }) },
      { request: objectSchema({ a: { const: 'x' } }) },
      '.a takes only ["x"] now',
    ],
    [
      'null as a removed value of a request',
      { request: objectSchema({ a: { type: ['string', 'null'] } }) },
      { request: objectSchema({ a: text }) },
      '.a was string or null and is string',
    ],
    [
      'a smaller maximum',
      { request: objectSchema({ a: { maximum: 9 } }) },
      { request: objectSchema({ a: { maximum: 8 } }) },
      '.a maximum was 9 and is 8',
    ],
    [
      'a larger minimum',
      { request: objectSchema({ a: { minLength: 1 } }) },
      { request: objectSchema({ a: { minLength: 2 } }) },
      '.a minLength was 1 and is 2',
    ],
    [
      'a new limit',
      { request: objectSchema({ a: text }) },
      { request: objectSchema({ a: { ...text, maxLength: 5 } }) },
      '.a maxLength was none and is 5',
    ],
    [
      'another pattern',
      { request: objectSchema({ a: text }) },
      { request: objectSchema({ a: { ...text, pattern: '^x$' } }) },
      '.a pattern was none and is ^x$',
    ],
    ['a removed parameter', { parameters: [PAGE] }, {}, 'query page is gone'],
    [
      'a parameter that has become required',
      { parameters: [PAGE] },
      { parameters: [{ ...PAGE, required: true }] },
      'query page has become required',
    ],
    ['a new required parameter', {}, { parameters: [{ ...PAGE, required: true }] }, 'query page is new and required'],
    [
      'fewer values of a parameter',
      { parameters: [PAGE] },
      { parameters: [{ ...PAGE, schema: { const: 'x' } }] },
      'query page takes only ["x"] now',
    ],
  ])('include %s', (_, before, after, change) => {
    const changes = findBreakingChanges(createDocument(before), createDocument(after));
    expect(changes.join('\n')).toContain(change);
  });

  it('include a removed webhook, a removed event, and a removed field of a webhook or event', () => {
    const webhook = (schema: object) => ({
      webhooks: { paid: { post: { requestBody: { content: { 'application/json': { schema } } } } } },
    });
    const whole = webhook(objectSchema({ a: text }));
    expect(findBreakingChanges(whole, webhook(objectSchema({})))).toEqual(['webhook paid.a is gone']);
    expect(findBreakingChanges(whole, {})).toEqual(['webhook paid is gone']);
    const event = (payload: object) => ({
      components: { messages: { 'x.created.v1': { payload: { allOf: [payload] } } } },
    });
    expect(findBreakingChanges(event(objectSchema({ a: text })), event(objectSchema({})))).toEqual([
      'event x.created.v1 (1).a is gone',
    ]);
    expect(findBreakingChanges(event(text), { components: {} })).toEqual(['event x.created.v1 is gone']);
  });
});

describe('findBreakingChanges', () => {
  it.each<[string, OperationParts, OperationParts]>([
    [
      'an unchanged operation',
      { response: objectSchema({ a: text }, ['a']), request: objectSchema({ a: text }) },
      { response: objectSchema({ a: text }, ['a']), request: objectSchema({ a: text }) },
    ],
    [
      'a new field of a response',
      { response: objectSchema({ a: text }) },
      { response: objectSchema({ a: text, b: text }, ['b']) },
    ],
    [
      'a field of a response that has become required',
      { response: objectSchema({ a: text }) },
      { response: objectSchema({ a: text }, ['a']) },
    ],
    [
      'a removed value of an enum in a response',
      { response: objectSchema({ a: { enum: ['x', 'y'] } }) },
      { response: objectSchema({ a: { enum: ['x'] } }) },
    ],
    [
      'an integer instead of a number in a response',
      { response: objectSchema({ a: { type: 'number' } }) },
      { response: objectSchema({ a: { type: 'integer' } }) },
    ],
    ['a new optional field of a request', { request: objectSchema({}) }, { request: objectSchema({ a: text }) }],
    [
      'a number instead of an integer in a request',
      { request: objectSchema({ a: { type: 'integer' } }) },
      { request: objectSchema({ a: { type: 'number' } }) },
    ],
    [
      'an additional value of an enum in a request',
      { request: objectSchema({ a: { enum: ['x'] } }) },
      { request: objectSchema({ a: { enum: ['x', 'y'] } }) },
    ],
    ['a larger maximum', { request: objectSchema({ a: { maximum: 9 } }) }, { request: objectSchema({ a: {} }) }],
    ['a new optional parameter', {}, { parameters: [PAGE] }],
    ['a new error status', {}, { responses: { 200: {}, 409: {} }, response: {} }],
  ])('does not report %s', (_, before, after) => {
    const changes = findBreakingChanges(createDocument(before), createDocument(after)).filter(
      (each) => !each.endsWith('application/json is gone'),
    );
    expect(changes).toEqual([]);
  });

  it('does not report an unchanged schema that contains itself', () => {
    const tree = objectSchema({ child: { $ref: '#/components/schemas/Response' } });
    expect(findBreakingChanges(createDocument({ response: tree }), createDocument({ response: tree }))).toEqual([]);
  });
});
