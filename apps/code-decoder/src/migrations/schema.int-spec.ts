import { randomUUID } from 'node:crypto';
import type { HostedPayableDescriptor } from '@svc/contracts';
import { newOwnCode } from '@svc/kernel';
import { updatesOf } from '@svc/testing';
import { type Decoder, startDecoder } from '../../test/decoder.js';
import { SessionCodeRepository } from '../sessions/session-code.repository.js';

let decoder: Decoder;
beforeAll(async () => {
  decoder = await startDecoder();
});
afterAll(() => decoder.stop());

test('closing sessions writes no index of session_codes (HOT updates)', async () => {
  const codes = decoder.service.app.get(SessionCodeRepository);
  const at = decoder.clock.nowISO();
  const sessions = Array.from({ length: 120 }, () => {
    const sessionId = randomUUID();
    const payable: HostedPayableDescriptor = {
      payableId: sessionId,
      mode: 'test',
      merchantId: 1001,
      siteId: 5001,
      amount: 12345,
      currencyISOCode: 'ZAR',
      expiresAt: decoder.clock.later(1_800_000).toISOString(),
      maxPayments: 5,
      source: {
        kind: 'session',
        sessionId,
        apiVersion: 'v3.1',
        merchantOrderId: 'order-17',
        code: newOwnCode(),
        notificationUrl: 'https://shop.example/hook',
      },
    };
    return { payable, at };
  });
  await codes.insertIfAbsent(sessions);
  const closed = sessions
    .filter((_, index) => index % 3 === 0)
    .map(({ payable }) => ({ sessionId: payable.payableId, at }));
  const updates = await updatesOf(decoder.dataSource, 'session_codes', () => codes.close(closed));
  // A third of the 120 sessions was closed, and each of these updates was a HOT update.
  expect(updates).toEqual({ all: 40, hot: 40 });
});
