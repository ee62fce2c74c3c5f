import { randomUUID } from 'node:crypto';
import { newOwnCode } from '@svc/kernel';
import { updatesOf } from '@svc/testing';
import { buildPayment, type Gateway, startGateway } from '../../test/gateway.js';
import { describePayable } from '../sessions/session.js';
import { SessionRepository } from '../sessions/session.repository.js';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test('storing payments changes their sessions by HOT updates, which update no index', async () => {
  const repository = gateway.service.app.get(SessionRepository);
  const template = (await repository.findWithPayments(await gateway.createSession(await gateway.createMerchant())))!;
  const sessions = Array.from({ length: 120 }, () => {
    return { ...template, sessionId: randomUUID(), requestId: randomUUID(), code: newOwnCode() };
  });
  await Promise.all(sessions.map((session) => repository.create(session, 'f'.repeat(64))));
  const payments = sessions
    .filter((_, index) => index % 3 === 0)
    .map((session) => buildPayment(describePayable(session), { version: 2 }));
  const updates = await updatesOf(gateway.dataSource, 'sessions', () => repository.upsertPayments(payments));
  expect(updates).toEqual({ all: payments.length, hot: payments.length });
});
