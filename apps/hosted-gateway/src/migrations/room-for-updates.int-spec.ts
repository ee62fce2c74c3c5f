import { randomUUID } from 'node:crypto';
import { newOwnCode } from '@svc/kernel';
import { updatesOf } from '@svc/testing';
import { aPayment, type Gateway, startGateway } from '../../test/gateway.js';
import { payableOf } from '../sessions/session.js';
import { SessionRepository } from '../sessions/session.repository.js';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test('storing payments updates no index of their sessions', async () => {
  const repository = gateway.service.app.get(SessionRepository);
  const first = (await repository.findWithPayments(await gateway.createSession(await gateway.aMerchant())))!;
  const sessions = Array.from({ length: 120 }, () => {
    return { ...first, sessionId: randomUUID(), requestId: randomUUID(), code: newOwnCode() };
  });
  await Promise.all(sessions.map((session) => repository.create(session, 'f'.repeat(64))));
  const paid = sessions
    .filter((_, nth) => nth % 3 === 0)
    .map((session) => aPayment(payableOf(session), { version: 2 }));
  const updates = await updatesOf(gateway.dataSource, 'sessions', () => repository.upsertPayments(paid));
  expect(updates).toEqual({ all: 40, hot: 40 });
});
