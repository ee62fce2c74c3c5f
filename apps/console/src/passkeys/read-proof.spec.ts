import { readPasskeyProof } from './read-proof.js';

const FORM = { challengeToken: 'x'.repeat(43), response: '{"id":"a"}' };

test('reads the token and the answer of the browser', () => {
  expect(readPasskeyProof(FORM)).toEqual({ challengeToken: 'x'.repeat(43), response: { id: 'a' } });
});

test.each<[string, unknown]>([
  ['no form', undefined],
  ['no token', { ...FORM, challengeToken: undefined }],
  ['a token that is too long', { ...FORM, challengeToken: 'x'.repeat(44) }],
  ['no answer', { ...FORM, response: '' }],
  ['an answer that is not JSON', { ...FORM, response: '{' }],
  ['a list', { ...FORM, response: '[]' }],
  ['null', { ...FORM, response: 'null' }],
  ['an answer that is too long', { ...FORM, response: `{"a":"${'x'.repeat(16_384)}"}` }],
])('refuses %s', (_, form) => {
  expect(() => readPasskeyProof(form)).toThrow(expect.objectContaining({ code: 'authentication.failed' }));
});
