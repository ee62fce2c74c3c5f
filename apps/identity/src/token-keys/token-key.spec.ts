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

function aKey(kid: string, signsFromMs: number, createdMs = signsFromMs): TokenKey {
  const at = (ms: number) => new Date(START + ms);
  return {
    kid,
    publicJwk: { ...publicJwk, kid },
    createdAt: at(createdMs),
    signsFrom: at(signsFromMs),
    withdrawnAt: null,
    version: 1,
  };
}
const now = (ms: number) => new Date(START + ms);

test('the first key signs at once', () => {
  expect(planRotation([], now(0))).toEqual({ nextSignsFrom: now(0), toWithdraw: [] });
});

test('the next key is created once, ten minutes before the signing period of the last one ends', () => {
  const key = aKey('first', 0);
  const due = SIGNING_PERIOD_MS - PUBLISH_AHEAD_MS;
  expect(planRotation([key], now(due - 1)).nextSignsFrom).toBeUndefined();
  expect(planRotation([key], now(due)).nextSignsFrom).toEqual(now(SIGNING_PERIOD_MS));
  const next = aKey('next', SIGNING_PERIOD_MS, due);
  expect(planRotation([next, key], now(due + 1)).nextSignsFrom).toBeUndefined();
  expect(signingKeyAt([next, key], now(SIGNING_PERIOD_MS - 1))?.kid).toBe('first');
  expect(signingKeyAt([next, key], now(SIGNING_PERIOD_MS))?.kid).toBe('next');
});

test('the last key is withdrawn when the last token it signed has expired', () => {
  const keys = [aKey('next', 1_000), aKey('last', 0)];
  expect(planRotation(keys, now(1_000 + WITHDRAW_AFTER_MS - 1)).toWithdraw).toEqual([]);
  expect(planRotation(keys, now(1_000 + WITHDRAW_AFTER_MS)).toWithdraw.map(({ kid }) => kid)).toEqual(['last']);
});

test('the durations are those that verifiers expect (A2)', () => {
  expect([PUBLISH_AHEAD_MS, SIGNING_PERIOD_MS, WITHDRAW_AFTER_MS]).toEqual([600_000, 2_592_000_000, 960_000]);
  expect(nextSignsFrom(now(1))).toEqual(now(600_001));
});

test('a withdrawn key signs no more tokens', () => {
  const [newer, older] = [{ ...aKey('newer', 1_000), withdrawnAt: now(1_500) }, aKey('older', 0)];
  expect(signingKeyAt([newer, older], now(2_000))?.kid).toBe('older');
  expect(signingKeyAt([newer], now(2_000))).toBeUndefined();
});

test('the newest of the keys that may sign is used, in any order of the keys', () => {
  const keys = [aKey('a', 1_000), aKey('c', 3_000), aKey('b', 2_000)];
  expect(signingKeyAt(keys, now(5_000))?.kid).toBe('c');
  expect(signingKeyAt([...keys].reverse(), now(5_000))?.kid).toBe('c');
});

test('only keys older than the signing key are withdrawn, however late the check is', () => {
  const keys = [aKey('next', 9_000_000_000), aKey('signing', 1_000), aKey('older', 0), aKey('oldest', -1)];
  expect(planRotation(keys, now(8_000_000_000)).toWithdraw.map(({ kid }) => kid)).toEqual(['older', 'oldest']);
});

test('other services receive the public half, and whether it is withdrawn', () => {
  const key = aKey('k', 0);
  const event = { type: { name: 'token-key.changed.v1' }, aggregateId: 'k', aggregateVersion: 1 };
  const payload = { publicJwk: key.publicJwk };
  expect(tokenKeyChanged(key)).toStrictEqual({ ...event, payload: { ...payload, withdrawn: false } });
  const withdrawn = tokenKeyChanged({ ...key, withdrawnAt: now(1) });
  expect(withdrawn.payload).toStrictEqual({ ...payload, withdrawn: true });
});

test('the view of a key has its dates', () => {
  expect(toTokenKeyViews([aKey('k', 1_000, 0)], now(1_000))).toStrictEqual([
    {
      kid: 'k',
      state: 'signing',
      createdUTCDate: '2026-03-01T10:00:00.000Z',
      signsFromUTCDate: '2026-03-01T10:00:01.000Z',
    },
  ]);
});

test('the state of a key is next, signing or accepted', () => {
  const keys = [aKey('next', 2_000), aKey('signing', 1_000), aKey('last', 0)];
  expect(toTokenKeyViews(keys, now(1_500)).map(({ kid, state }) => [kid, state])).toEqual([
    ['next', 'next'],
    ['signing', 'signing'],
    ['last', 'accepted'],
  ]);
});

test('at any time, every valid token has a published key, which was published for ten minutes before it signed', () => {
  // Looks at the keys at any pace, signs a token each time, and asks about all tokens that are still good. Every other
  // look is near a change of keys, where a token may outlive what signed it.
  const seen = { nextKeys: 0, withdrawn: 0, tokensOfAKeyThatSignsNoMore: 0 };
  const second = fc.integer({ min: 1, max: 24 * 3600 }).map((seconds) => seconds * 1_000);
  const nearChange = fc.integer({ min: -PUBLISH_AHEAD_MS, max: WITHDRAW_AFTER_MS });
  const look = fc.record({ pauseMs: second, nearChangeMs: fc.option(nearChange, { nil: undefined, freq: 2 }) });
  fc.assert(
    fc.property(fc.array(look, { minLength: 50, maxLength: 150 }), (looks) => {
      let ms = 0;
      let first: string | undefined;
      let keys: TokenKey[] = [];
      let tokens: { kid: string; until: number }[] = [];
      for (const { pauseMs, nearChangeMs } of looks) {
        const newestFrom = Math.max(...keys.map(({ signsFrom }) => signsFrom.getTime() - START));
        const changeAt = newestFrom > ms ? newestFrom : newestFrom + SIGNING_PERIOD_MS;
        ms = nearChangeMs === undefined ? ms + pauseMs : Math.max(ms + 1, changeAt + nearChangeMs);
        const { nextSignsFrom, toWithdraw } = planRotation(keys, now(ms));
        keys = keys.filter((key) => !toWithdraw.includes(key));
        seen.withdrawn += toWithdraw.length;
        if (nextSignsFrom && keys.length > 0) seen.nextKeys++;
        if (nextSignsFrom) keys.push({ ...aKey(`key ${ms}`, nextSignsFrom.getTime() - START, ms) });
        const key = signingKeyAt(keys, now(ms))!;
        first ??= key.kid;
        const publishedForMs = key.signsFrom.getTime() - key.createdAt.getTime();
        expect(publishedForMs === PUBLISH_AHEAD_MS || key.kid === first).toBe(true);
        tokens = [...tokens.filter(({ until }) => until > ms), { kid: key.kid, until: ms + TOKEN_SECONDS * 1000 }];
        for (const { kid } of tokens) expect(keys.map((known) => known.kid)).toContain(kid);
        seen.tokensOfAKeyThatSignsNoMore += tokens.filter(({ kid }) => kid !== key.kid).length;
        expect(keys.length).toBeLessThanOrEqual(3);
      }
    }),
  );
  for (const [what, times] of Object.entries(seen)) expect([what, times > 0]).toEqual([what, true]);
});
