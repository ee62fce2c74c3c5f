import { decideAfterPost } from './payment-flow.js';

/** A response to a pay request. */
const respond = (httpStatus: number, retryAfterSeconds?: number) => ({
  kind: 'response' as const,
  httpStatus,
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});
const showsForm = { do: 'show-form-error', problem: 'tooMany' };

test.each([1, 5])('a payment is repeated by itself if the server is busy for %i seconds', (seconds) => {
  expect(decideAfterPost(respond(429, seconds))).toStrictEqual({ do: 'repeat', afterSeconds: seconds });
});

test.each([6, 60, undefined])('it is not repeated if the server is busy for %s seconds', (seconds) => {
  expect(decideAfterPost(respond(429, seconds))).toStrictEqual(showsForm);
});

test('it is repeated ten times', () => {
  expect(decideAfterPost(respond(429, 1), 9)).toMatchObject({ do: 'repeat' });
  expect(decideAfterPost(respond(429, 1), 10)).toStrictEqual(showsForm);
});

test('no other status says that the server has not started the payment', () => {
  expect(decideAfterPost(respond(503, 1))).toEqual({ do: 'poll', result: 'unknown' });
});
