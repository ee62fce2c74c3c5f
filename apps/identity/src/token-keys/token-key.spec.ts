import { TOKEN_SECONDS } from '@svc/contracts';
import fc from 'fast-check';
import {
  nextSignsFrom,
  planRotation,
  PUBLISH_AHEAD_MS,
  SIGNING_PERIOD_MS,
  signingKeyAt,
  type TokenKey,
  tokenKeyChanged,
  toTokenKeyViews,
  WITHDRAW_AFTER_MS,
} from './token-key.js';

const START = Date.parse('2026-03-01T10:00:00.000Z');
const publicJwk = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y', kid: '', use: 'sig', alg: 'ES256' } as const;

function createTokenKey(kid: string, signsFromMs: number, createdMs = signsFromMs): TokenKey {
  return {
    kid,
    publicJwk: { ...publicJwk, kid },
    createdAt: timeAt(createdMs),
    signsFrom: timeAt(signsFromMs),
    withdrawnAt: null,
    version: 1,
  };
}
/** Returns the time that is this many milliseconds after START. */
const timeAt = (ms: number) => new Date(START + ms);

test('the first key signs immediately', () => {
  expect(planRotation([], timeAt(0))).toEqual({ nextSignsFrom: timeAt(0), toWithdraw: [] });
});

test('the next key is created once, ten minutes before the signing period of the current key ends', () => {
  const key = createTokenKey('first', 0);
  const dueMs = SIGNING_PERIOD_MS - PUBLISH_AHEAD_MS;
  expect(planRotation([key], timeAt(dueMs - 1)).nextSignsFrom).toBeUndefined();
  expect(planRotation([key], timeAt(dueMs)).nextSignsFrom).toEqual(timeAt(SIGNING_PERIOD_MS));
  const next = createTokenKey('next', SIGNING_PERIOD_MS, dueMs);
  expect(planRotation([next, key], timeAt(dueMs + 1)).nextSignsFrom).toBeUndefined();
  expect(signingKeyAt([next, key], timeAt(SIGNING_PERIOD_MS - 1))?.kid).toBe('first');
  expect(signingKeyAt([next, key], timeAt(SIGNING_PERIOD_MS))?.kid).toBe('next');
});

test('the previous key is withdrawn when the last token that it signed has expired', () => {
  const keys = [createTokenKey('next', 1_000), createTokenKey('previous', 0)];
  expect(planRotation(keys, timeAt(1_000 + WITHDRAW_AFTER_MS - 1)).toWithdraw).toEqual([]);
  expect(planRotation(keys, timeAt(1_000 + WITHDRAW_AFTER_MS)).toWithdraw.map(({ kid }) => kid)).toEqual(['previous']);
});

test('the durations of the rotation are as specified (A2)', () => {
  expect([PUBLISH_AHEAD_MS, SIGNING_PERIOD_MS, WITHDRAW_AFTER_MS]).toEqual([600_000, 2_592_000_000, 960_000]);
  expect(nextSignsFrom(timeAt(1))).toEqual(timeAt(600_001));
});

test('a withdrawn key signs no more tokens', () => {
  const [newer, older] = [
    { ...createTokenKey('newer', 1_000), withdrawnAt: timeAt(1_500) },
    createTokenKey('older', 0),
  ];
  expect(signingKeyAt([newer, older], timeAt(2_000))?.kid).toBe('older');
  expect(signingKeyAt([newer], timeAt(2_000))).toBeUndefined();
});

test('the newest key that may sign is the signing key, regardless of the order of the keys', () => {
  const keys = [createTokenKey('a', 1_000), createTokenKey('c', 3_000), createTokenKey('b', 2_000)];
  expect(signingKeyAt(keys, timeAt(5_000))?.kid).toBe('c');
  expect(signingKeyAt([...keys].reverse(), timeAt(5_000))?.kid).toBe('c');
});

test('only keys that are older than the signing key are withdrawn, even if the check runs very late', () => {
  const keys = [
    createTokenKey('next', 9_000_000_000),
    createTokenKey('signing', 1_000),
    createTokenKey('older', 0),
    createTokenKey('oldest', -1),
  ];
  expect(planRotation(keys, timeAt(8_000_000_000)).toWithdraw.map(({ kid }) => kid)).toEqual(['older', 'oldest']);
});

test('the event of a key contains the public key, and whether the key is withdrawn', () => {
  const key = createTokenKey('k', 0);
  const event = { type: { name: 'token-key.changed.v1' }, aggregateId: 'k', aggregateVersion: 1 };
  const payload = { publicJwk: key.publicJwk };
  expect(tokenKeyChanged(key)).toStrictEqual({ ...event, payload: { ...payload, withdrawn: false } });
  const withdrawn = tokenKeyChanged({ ...key, withdrawnAt: timeAt(1) });
  expect(withdrawn.payload).toStrictEqual({ ...payload, withdrawn: true });
});

test('toTokenKeyViews returns the state and the dates of a key', () => {
  expect(toTokenKeyViews([createTokenKey('k', 1_000, 0)], timeAt(1_000))).toStrictEqual([
    {
      kid: 'k',
      state: 'signing',
      createdUTCDate: '2026-03-01T10:00:00.000Z',
      signsFromUTCDate: '2026-03-01T10:00:01.000Z',
    },
  ]);
});

test('toTokenKeyViews returns the states next, signing and accepted', () => {
  const keys = [createTokenKey('next', 2_000), createTokenKey('signing', 1_000), createTokenKey('previous', 0)];
  expect(toTokenKeyViews(keys, timeAt(1_500)).map(({ kid, state }) => [kid, state])).toEqual([
    ['next', 'next'],
    ['signing', 'signing'],
    ['previous', 'accepted'],
  ]);
});

test('at any time, the key of every valid token is published, and was published ten minutes before it signed a token', () => {
  // Runs the rotation at random times. After each run, the test signs a token, and checks that the keys of all valid
  // tokens are still published. Every second run is near a change of keys, because there a token may stay valid after
  // its key has stopped signing.
  const counts = { nextKeys: 0, withdrawn: 0, validTokensOfOldKeys: 0 };
  const pause = fc.integer({ min: 1, max: 24 * 3600 }).map((seconds) => seconds * 1_000);
  const nearChange = fc.integer({ min: -PUBLISH_AHEAD_MS, max: WITHDRAW_AFTER_MS });
  const check = fc.record({ pauseMs: pause, nearChangeMs: fc.option(nearChange, { nil: undefined, freq: 2 }) });
  fc.assert(
    fc.property(fc.array(check, { minLength: 50, maxLength: 150 }), (checks) => {
      let ms = 0;
      let firstKid: string | undefined;
      let keys: TokenKey[] = [];
      let tokens: { kid: string; expiresMs: number }[] = [];
      for (const { pauseMs, nearChangeMs } of checks) {
        const newestSignsFromMs = Math.max(...keys.map(({ signsFrom }) => signsFrom.getTime() - START));
        const changeMs = newestSignsFromMs > ms ? newestSignsFromMs : newestSignsFromMs + SIGNING_PERIOD_MS;
        ms = nearChangeMs === undefined ? ms + pauseMs : Math.max(ms + 1, changeMs + nearChangeMs);
        const { nextSignsFrom, toWithdraw } = planRotation(keys, timeAt(ms));
        keys = keys.filter((key) => !toWithdraw.includes(key));
        counts.withdrawn += toWithdraw.length;
        if (nextSignsFrom && keys.length > 0) counts.nextKeys++;
        if (nextSignsFrom) keys.push({ ...createTokenKey(`key ${ms}`, nextSignsFrom.getTime() - START, ms) });
        const key = signingKeyAt(keys, timeAt(ms))!;
        firstKid ??= key.kid;
        const publishedForMs = key.signsFrom.getTime() - key.createdAt.getTime();
        expect(publishedForMs === PUBLISH_AHEAD_MS || key.kid === firstKid).toBe(true);
        tokens = [
          ...tokens.filter(({ expiresMs }) => expiresMs > ms),
          { kid: key.kid, expiresMs: ms + TOKEN_SECONDS * 1000 },
        ];
        for (const { kid } of tokens) expect(keys.map((publishedKey) => publishedKey.kid)).toContain(kid);
        counts.validTokensOfOldKeys += tokens.filter(({ kid }) => kid !== key.kid).length;
        expect(keys.length).toBeLessThanOrEqual(3);
      }
    }),
  );
  for (const [name, count] of Object.entries(counts)) expect([name, count > 0]).toEqual([name, true]);
});
