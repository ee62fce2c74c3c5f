import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { OperatorRole } from '@svc/contracts';
import { type Clock, DomainError } from '@svc/kernel';
import { adminActorId, AdminKeyGuard, getAdministrator } from './admin-key.guard.js';
import { operatorHeaders } from './console-operator.js';
import type { OperatorKey, OperatorKeys } from './operators/operator-keys.js';

const SHARED_KEY = 'an administration key for tests 1';
const PERSON_ID = '019ca8d7-25ab-777e-8b20-51e25d3ed4e3';
const HOUR_MS = 60 * 60_000;
const NOW = new Date('2026-03-01T12:00:00Z');

interface Situation {
  readonly keys?: Readonly<Record<string, OperatorRole>>;
  readonly hasEnded?: boolean;
  readonly recoveryUntil?: Date;
}

function newGuard({ keys = {}, hasEnded = false, recoveryUntil }: Situation = {}): AdminKeyGuard {
  const operatorKeys = {
    find: (key: string): Promise<OperatorKey | undefined> =>
      Promise.resolve(keys[key] && { personId: PERSON_ID, role: keys[key] }),
    hasEndedSharedKey: () => Promise.resolve(hasEnded),
  } as unknown as OperatorKeys;
  const shared = { key: SHARED_KEY, ...(recoveryUntil ? { recoveryUntil } : {}) };
  return new AdminKeyGuard(shared, operatorKeys, { now: () => NOW } as Clock);
}

const send = async (guard: AdminKeyGuard, headers: Record<string, unknown>, method = 'POST'): Promise<string> => {
  const context = new ExecutionContextHost([{ headers, method }]);
  expect(await guard.canActivate(context)).toBe(true);
  return getAdministrator(context);
};

describe('the shared key', () => {
  it('admits a request before the first operator', async () => {
    expect(await send(newGuard(), { 'x-admin-key': SHARED_KEY })).toBe(adminActorId(SHARED_KEY));
  });

  it.each([
    [{}],
    [{ 'x-admin-key': '' }],
    [{ 'x-admin-key': 'an administration key for tests 2' }],
    [{ 'x-admin-key': 'an administration key for tests' }],
    [{ 'x-admin-key': 'an administration key for tests 1 ' }],
    [{ 'x-admin-key': ['an administration key for tests 1'] }],
    [{ 'x-api-key': 'an administration key for tests 1' }],
    [{ authorization: 'Bearer an administration key for tests 1' }],
  ])('rejects a request with the headers %j', async (headers) => {
    await expect(send(newGuard(), headers)).rejects.toMatchObject({ code: 'credentials.invalid' });
  });

  it.each(['GET', 'POST'])('is refused for %s after the first operator', async (method) => {
    await expect(send(newGuard({ hasEnded: true }), { 'x-admin-key': SHARED_KEY }, method)).rejects.toEqual(
      new DomainError('credentials.shared-key-ended'),
    );
  });

  it.each([
    ['at the end', 0, false],
    ['1 ms before the end', 1, true],
    ['24 hours before the end', 24 * HOUR_MS, true],
    ['more than 24 hours before the end', 24 * HOUR_MS + 1, false],
  ])('is accepted again during a recovery: %s', async (_, remainingMs, isAccepted) => {
    const recoveryUntil = new Date(NOW.getTime() + remainingMs);
    const result = await send(newGuard({ hasEnded: true, recoveryUntil }), { 'x-admin-key': SHARED_KEY }).catch(
      ({ code }: DomainError) => code,
    );
    expect(result).toBe(isAccepted ? adminActorId(SHARED_KEY) : 'credentials.shared-key-ended');
  });
});

describe('the key of an operator', () => {
  const guard = newGuard({ keys: { viewing: 'viewer', changing: 'operator' }, hasEnded: true });

  it.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])(
    'of role operator admits %s, with the person as author',
    async (method) => {
      expect(await send(guard, { 'x-admin-key': 'changing' }, method)).toBe(`operator:${PERSON_ID}`);
    },
  );

  it('of role viewer admits only GET and HEAD', async () => {
    for (const method of ['GET', 'HEAD'])
      expect(await send(guard, { 'x-admin-key': 'viewing' }, method)).toBe(`operator:${PERSON_ID}`);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      await expect(send(guard, { 'x-admin-key': 'viewing' }, method)).rejects.toMatchObject({
        code: 'credentials.forbidden',
      });
  });

  it('that is not known is rejected', async () => {
    await expect(send(guard, { 'x-admin-key': 'unknown' }, 'GET')).rejects.toMatchObject({
      code: 'credentials.invalid',
    });
  });
});

describe('an operator in the console', () => {
  const headersOf = (mayChange: boolean) =>
    operatorHeaders({ personId: PERSON_ID, mayChange, requestId: '019ca8d7-25ab-777e-8b20-51e25d3ed4e4' });

  it('is the author of a change', async () => {
    expect(await send(newGuard(), headersOf(true))).toBe(`operator:${PERSON_ID}`);
  });

  it('who may only read changes nothing', async () => {
    expect(await send(newGuard(), headersOf(false), 'GET')).toBe(`operator:${PERSON_ID}`);
    await expect(send(newGuard(), headersOf(false))).rejects.toMatchObject({ code: 'credentials.forbidden' });
  });

  it('cannot be claimed without the secret of the process', async () => {
    const [[name, value]] = Object.entries(headersOf(true)) as [[string, string]];
    const [secret = '', ...rest] = value.split(' ');
    for (const forged of ['', `x${secret.slice(1)}`, secret.slice(1)])
      await expect(send(newGuard(), { [name]: [forged, ...rest].join(' ') })).rejects.toMatchObject({
        code: 'credentials.invalid',
      });
  });
});

test('without the guard there is no author', () => {
  expect(() => getAdministrator(new ExecutionContextHost([{ headers: {} }]))).toThrow('AdminKeyGuard has not run.');
});
