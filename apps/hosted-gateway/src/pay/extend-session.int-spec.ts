import { SessionExtendedV1 } from '@svc/contracts';
import { type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { SESSION_EXTENSION_MS, SESSION_LIFETIME_MS, SESSION_WARNING_MS } from '../sessions/session.js';
import { SessionRepository } from '../sessions/session.repository.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.aMerchant();
});
afterAll(() => gateway.stop());

const ENDING = SESSION_LIFETIME_MS - SESSION_WARNING_MS;
const ask = (address: string) => gateway.call('POST', `${address}/more-time`);
const extendedOf = async (sessionId: string) =>
  (await gateway.published(SessionExtendedV1)).filter(({ aggregateId }) => aggregateId === sessionId);
async function aSession(ageMs: number) {
  const sessionId = await gateway.createSession(merchant);
  const payable = await gateway.payableOf(sessionId);
  gateway.clock.advance(ageMs);
  const later = new Date(Date.parse(payable.expiresAt) + SESSION_EXTENSION_MS).toISOString();
  return { sessionId, payable, later };
}
const become = (sessionId: string, state: string) =>
  gateway.superuser.query(
    `UPDATE sessions SET payable_state = $2, payable_version = payable_version + 1 WHERE session_id = $1`,
    [sessionId, state],
  );

test('a session can be extended once in its last minutes: the page, its merchant and payment-processor get the new expiry', async () => {
  const { sessionId, payable, later } = await aSession(ENDING);
  const form = (await gateway.call('GET', `/pay?sessionId=${sessionId}`)).text;
  expect(form).toContain('id="more-time"');

  expect((await ask(`/pay/${sessionId}`)).body).toMatchObject({ state: 'open', expiresAt: later });
  expect((await ask(`/pay/${sessionId}`)).body).toMatchObject({ state: 'open', expiresAt: later });
  const events = await extendedOf(sessionId);
  expect(events.map(({ payload }) => payload)).toEqual([{ payable: { ...payable, expiresAt: later } }]);
  const { headers } = merchant;
  expect((await gateway.call('GET', `/api/v3.1/sessions/${sessionId}`, { headers })).body.expiresUTCDate).toBe(later);
  expect((await gateway.call('GET', `/pay?sessionId=${sessionId}`)).text).not.toContain('id="more-time"');

  // Not a second time at the end of the extension: then the session expires.
  gateway.clock.advance(SESSION_EXTENSION_MS);
  expect((await ask(`/pay/${sessionId}`)).body).toMatchObject({ state: 'open', expiresAt: later });
  gateway.clock.advance(SESSION_WARNING_MS);
  expect((await ask(`/pay/${sessionId}`)).body).toMatchObject({ state: 'expired' });
  expect(await extendedOf(sessionId)).toHaveLength(1);
});

test.each([
  ['a millisecond before its last minutes', ENDING - 1, 'open'],
  ['after its end', SESSION_LIFETIME_MS, 'expired'],
])('%s a session is not extended', async (_, ageMs, state) => {
  const { sessionId, payable } = await aSession(ageMs);
  expect((await ask(`/pay/${sessionId}`)).body).toMatchObject({ state });
  expect(await extendedOf(sessionId)).toEqual([]);
  const {
    rows: [row],
  } = await gateway.superuser.query<{ expires_at: Date }>(`SELECT expires_at FROM sessions WHERE session_id = $1`, [
    sessionId,
  ]);
  expect(row?.expires_at.toISOString()).toBe(payable.expiresAt);
});

test.each(['reserved', 'paid', 'refused', 'closed'])('a session that is %s is not extended', async (state) => {
  const { sessionId } = await aSession(ENDING);
  await become(sessionId, state);
  expect((await ask(`/pay/${sessionId}`)).status).toBe(200);
  expect(await extendedOf(sessionId)).toEqual([]);
});

test('a concurrent change prevents the extension, and concurrent requests extend the session once', async () => {
  const sessions = gateway.service.app.get(SessionRepository);
  const { sessionId, later } = await aSession(ENDING);
  const seen = (await sessions.findWithPayments(sessionId))!;
  const until = new Date(later);
  expect(await Promise.all([1, 2].map(() => sessions.extend(seen, until)))).toEqual(
    expect.arrayContaining([true, false]),
  );
  expect(await extendedOf(sessionId)).toHaveLength(1);

  const other = await aSession(ENDING);
  const before = (await sessions.findWithPayments(other.sessionId))!;
  await become(other.sessionId, 'closed');
  expect(await sessions.extend(before, new Date(other.later))).toBe(false);
  expect(await extendedOf(other.sessionId)).toEqual([]);
});

test('a payer who scanned the code can extend it too; an unknown session is not found, and a cross-site request is rejected', async () => {
  const { sessionId, later } = await aSession(ENDING);
  const { code } = (await gateway.service.app.get(SessionRepository).findWithPayments(sessionId))!;
  const elsewhere = { headers: { 'sec-fetch-site': 'cross-site' } };
  expect((await gateway.call('POST', `/c/${code}/more-time`, elsewhere)).status).toBe(403);
  expect((await ask(`/c/${code}`)).body).toMatchObject({ expiresAt: later });
  expect((await ask('/pay/0198f2c4-7a3b-7c11-9d2e-5b6a7c8d9e0f')).status).toBe(404);
});
