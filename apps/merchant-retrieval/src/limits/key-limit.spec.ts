import { MerchantRetrievalConfig } from '../config.js';
import { KeyLimit } from './key-limit.js';

let now = 0;
beforeEach(() => {
  now = 1_000_000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => jest.restoreAllMocks());

const newLimit = (overrides: Partial<MerchantRetrievalConfig> = {}) =>
  new KeyLimit(Object.assign(new MerchantRetrievalConfig(), overrides));

test('a key may make 20 calls in a burst, then 5 calls a second (M4)', () => {
  const limit = newLimit();
  expect(limit.policy).toBe('"key";q=20;w=4');
  for (let remaining = 19; remaining >= 0; remaining--)
    expect(limit.tryConsume('a')).toMatchObject({
      isAllowed: true,
      remaining,
      resetSeconds: Math.ceil((20 - remaining) / 5),
    });
  expect(limit.tryConsume('a')).toEqual({ isAllowed: false, remaining: 0, retryAfterSeconds: 1, resetSeconds: 4 });
  now += 199;
  expect(limit.tryConsume('a').isAllowed).toBe(false);
  now += 1;
  expect(limit.tryConsume('a').isAllowed).toBe(true);
  expect(limit.tryConsume('a').isAllowed).toBe(false);
  now += 60_000;
  const allowed = Array.from({ length: 25 }, () => limit.tryConsume('a').isAllowed);
  expect(allowed.filter(Boolean)).toHaveLength(20);
});

test('each key has its own limit', () => {
  const limit = newLimit();
  for (let call = 0; call < 21; call++) limit.tryConsume('a');
  expect(limit.tryConsume('b')).toMatchObject({ isAllowed: true, remaining: 19 });
});

test('the rate and the burst of a key are configurable', () => {
  const limit = newLimit({ SVC_RETRIEVAL_CALLS_PER_SECOND: 1, SVC_RETRIEVAL_BURST: 3 });
  expect(limit.policy).toBe('"key";q=3;w=3');
  const allowed = Array.from({ length: 4 }, () => limit.tryConsume('a'));
  expect(allowed.map(({ isAllowed }) => isAllowed)).toEqual([true, true, true, false]);
  expect(allowed[3]).toMatchObject({ retryAfterSeconds: 1, resetSeconds: 3 });
});
