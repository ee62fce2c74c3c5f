import { randomUUID } from 'node:crypto';
import { SessionExtendedV1 } from '@svc/contracts';
import { type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { SESSION_EXTENSION_MS, SESSION_LIFETIME_MS, SESSION_WARNING_MS } from '../sessions/session.js';
import { SessionRepository } from '../sessions/session.repository.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.createMerchant();
});
afterAll(() => gateway.stop());

/** The age from which a payer can extend a session. */
const EXTENDABLE_AGE_MS = SESSION_LIFETIME_MS - SESSION_WARNING_MS;
const requestMoreTime = (address: string) => gateway.call('POST', `${address}/more-time`);
const readExtendedEvents = async (sessionId: string) =>
  (await gateway.published(SessionExtendedV1)).filter(({ aggregateId }) => aggregateId === sessionId);
async function createSessionOfAge(ageMs: number) {
  const sessionId = await gateway.createSession(merchant);
  const payable = await gateway.findPublishedPayable(sessionId);
  gateway.clock.advance(ageMs);
  const extendedExpiry = new Date(Date.parse(payable.expiresAt) + SESSION_EXTENSION_MS).toISOString();
  return { sessionId, payable, extendedExpiry };
}
const changePayableState = (sessionId: string, state: string) =>
  gateway.superuser.query(
    `UPDATE sessions SET payable_state = $2, payable_version = payable_version + 1 WHERE session_id = $1`,
    [sessionId, state],
  );

test('a payer can extend a session once in its last minutes; the page, the API and the published event have the new expiry', async () => {
  const { sessionId, payable, extendedExpiry } = await createSessionOfAge(EXTENDABLE_AGE_MS);
  const form = (await gateway.call('GET', `/pay?sessionId=${sessionId}`)).text;
  expect(form).toContain('id="more-time"');

  expect((await requestMoreTime(`/pay/${sessionId}`)).body).toMatchObject({ state: 'open', expiresAt: extendedExpiry });
  expect((await requestMoreTime(`/pay/${sessionId}`)).body).toMatchObject({ state: 'open', expiresAt: extendedExpiry });
  const events = await readExtendedEvents(sessionId);
  expect(events.map(({ payload }) => payload)).toEqual([{ payable: { ...payable, expiresAt: extendedExpiry } }]);
  const { headers } = merchant;
  expect((await gateway.call('GET', `/api/v3.1/sessions/${sessionId}`, { headers })).body.expiresUTCDate).toBe(
    extendedExpiry,
  );
  expect((await gateway.call('GET', `/pay?sessionId=${sessionId}`)).text).not.toContain('id="more-time"');

  // In the last minutes of the extension the payer cannot extend the session again, so it expires.
  gateway.clock.advance(SESSION_EXTENSION_MS);
  expect((await requestMoreTime(`/pay/${sessionId}`)).body).toMatchObject({ state: 'open', expiresAt: extendedExpiry });
  gateway.clock.advance(SESSION_WARNING_MS);
  expect((await requestMoreTime(`/pay/${sessionId}`)).body).toMatchObject({ state: 'expired' });
  expect(await readExtendedEvents(sessionId)).toHaveLength(1);
});

test('the extension of a session does not extend another session of the same version', async () => {
  const { sessionId, extendedExpiry } = await createSessionOfAge(0);
  const other = await createSessionOfAge(EXTENDABLE_AGE_MS);
  expect((await requestMoreTime(`/pay/${sessionId}`)).body).toMatchObject({ expiresAt: extendedExpiry });
  const { headers } = merchant;
  const { body } = await gateway.call('GET', `/api/v3.1/sessions/${other.sessionId}`, { headers });
  expect(body.expiresUTCDate).toBe(other.payable.expiresAt);
});

test.each([
  ['a millisecond before its last minutes', EXTENDABLE_AGE_MS - 1, 'open'],
  ['after its expiry', SESSION_LIFETIME_MS, 'expired'],
])('a payer cannot extend a session %s', async (_, ageMs, state) => {
  const { sessionId, payable } = await createSessionOfAge(ageMs);
  expect((await requestMoreTime(`/pay/${sessionId}`)).body).toMatchObject({ state });
  expect(await readExtendedEvents(sessionId)).toEqual([]);
  const {
    rows: [row],
  } = await gateway.superuser.query<{ expires_at: Date }>(`SELECT expires_at FROM sessions WHERE session_id = $1`, [
    sessionId,
  ]);
  expect(row?.expires_at.toISOString()).toBe(payable.expiresAt);
});

test.each(['reserved', 'paid', 'refused', 'closed'])(
  'a payer cannot extend a session whose payable is %s',
  async (state) => {
    const { sessionId } = await createSessionOfAge(EXTENDABLE_AGE_MS);
    await changePayableState(sessionId, state);
    expect((await requestMoreTime(`/pay/${sessionId}`)).status).toBe(200);
    expect(await readExtendedEvents(sessionId)).toEqual([]);
  },
);

test('a concurrent change of the session prevents its extension, and concurrent requests extend it only once', async () => {
  const sessions = gateway.service.app.get(SessionRepository);
  const { sessionId, extendedExpiry } = await createSessionOfAge(EXTENDABLE_AGE_MS);
  const session = (await sessions.findWithPayments(sessionId))!;
  const newExpiry = new Date(extendedExpiry);
  expect(await Promise.all([1, 2].map(() => sessions.extend(session, newExpiry)))).toEqual(
    expect.arrayContaining([true, false]),
  );
  expect(await readExtendedEvents(sessionId)).toHaveLength(1);

  const closedSession = await createSessionOfAge(EXTENDABLE_AGE_MS);
  const sessionBeforeClose = (await sessions.findWithPayments(closedSession.sessionId))!;
  await changePayableState(closedSession.sessionId, 'closed');
  expect(await sessions.extend(sessionBeforeClose, new Date(closedSession.extendedExpiry))).toBe(false);
  expect(await readExtendedEvents(closedSession.sessionId)).toEqual([]);
});

test('a payer who scanned the code can extend the session; an unknown session gets a 404, and a cross-site request a 403', async () => {
  const { sessionId, extendedExpiry } = await createSessionOfAge(EXTENDABLE_AGE_MS);
  const { code } = (await gateway.service.app.get(SessionRepository).findWithPayments(sessionId))!;
  const crossSite = { headers: { 'sec-fetch-site': 'cross-site' } };
  expect((await gateway.call('POST', `/c/${code}/more-time`, crossSite)).status).toBe(403);
  expect((await requestMoreTime(`/c/${code}`)).body).toMatchObject({ expiresAt: extendedExpiry });
  expect((await requestMoreTime(`/pay/${randomUUID()}`)).status).toBe(404);
});
