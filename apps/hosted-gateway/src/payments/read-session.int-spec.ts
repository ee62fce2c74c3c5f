import { randomUUID } from 'node:crypto';
import { PayableClosedV1 } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import { buildSessionRequest, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.createMerchant();
});
afterAll(() => gateway.stop());

const create = (payload: unknown) => gateway.call('POST', '/api/v3.1/sessions', { headers: merchant.headers, payload });

test('the response to a repeated request to create a session also contains the session’s current state', async () => {
  const request = buildSessionRequest();
  const first = await create(request);
  expect(first.body).not.toHaveProperty('sessionState');
  const { sessionId } = first.body as { sessionId: string };
  const repeat = async () => (await create(request)).body as Record<string, unknown>;
  expect(await repeat()).toEqual({ ...first.body, sessionState: 'open' });
  await gateway.deliver(
    anEvent(PayableClosedV1, sessionId, 2, { payableId: sessionId, state: 'closed', version: 2, paymentCount: 0 }),
  );
  expect(await repeat()).toEqual({ ...first.body, sessionState: 'cancelled' });
});

test('a site can read the state and the order of its session, and gets a 404 for an unknown session', async () => {
  const request = buildSessionRequest();
  const { sessionId, redirectUrl } = (await create(request)).body as { sessionId: string; redirectUrl: string };
  const read = (id: string) => gateway.call('GET', `/api/v3.1/sessions/${id}`, { headers: merchant.headers });
  const { status, body } = await read(sessionId);
  expect([status, body]).toEqual([
    200,
    {
      sessionId,
      redirectUrl,
      sessionState: 'open',
      requestId: request['requestId'],
      merchantOrderId: 'order-17',
      amount: 12_345,
      currencyISOCode: 'ZAR',
      createdUTCDate: '2026-03-01T10:00:00.000Z',
      expiresUTCDate: '2026-03-01T10:30:00.000Z',
      status: 'Success',
      errors: [],
    },
  ]);
  await gateway.deliver(
    anEvent(PayableClosedV1, sessionId, 2, { payableId: sessionId, state: 'closed', version: 2, paymentCount: 0 }),
  );
  expect((await read(sessionId)).body.sessionState).toBe('cancelled');
  for (const id of [randomUUID(), 'x']) {
    const notFound = await read(id);
    expect([notFound.status, notFound.body.status]).toEqual([404, 'NotFound']);
  }
});
