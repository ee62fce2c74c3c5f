/** The event that a payment is in progress usually arrives before the reply to the pay request that caused it. */
import { randomUUID } from 'node:crypto';
import { type ChargeCard, type HostedPaymentSnapshot, PaymentProcessingV1 } from '@svc/contracts';
import { anEvent, inProgress, waitUntil } from '@svc/testing';
import { buildPayment, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.createMerchant();
});
afterAll(() => gateway.stop());

const pay = (sessionId: string) =>
  gateway.call('POST', `/pay/${sessionId}/payments`, {
    payload: { reference: randomUUID(), paymentNumber: 1, encryptedCard: 'a.b.c' },
  });
const getPage = async (sessionId: string): Promise<string> =>
  (await gateway.call('GET', `/pay?sessionId=${sessionId}`)).text;
const readStoredStates = async (sessionId: string): Promise<string[]> => {
  const rows = await gateway.dataSource.query<{ state: string }[]>(
    `SELECT snapshot ->> 'state' AS state FROM hosted_payments WHERE session_id = $1`,
    [sessionId],
  );
  return rows.map(({ state }) => state);
};

/** Delivers the event for the payment of a charge command, and returns the payment's result. */
async function deliverProgress({ payable, reference }: ChargeCard): Promise<HostedPaymentSnapshot> {
  const result = buildPayment(payable, { reference, version: 3 });
  const { payableId } = payable;
  const progress = inProgress({
    ...result,
    payable: { payableId, state: 'reserved', version: 2, paymentCount: 1 },
  });
  await gateway.deliver(anEvent(PaymentProcessingV1, randomUUID(), 1, progress));
  return result;
}

test('is not stored if the pay request of the same process waits for the result, which is stored anyway', async () => {
  // On a busy machine a payment may take longer than the time after which the progress is stored.
  let storedStates: string[] | undefined;
  for (let isFast = false; !isFast;) {
    const sessionId = await gateway.createSession(merchant);
    const startedAt = performance.now();
    await gateway.respondToCharges(async (command) => {
      const reply = await deliverProgress(command);
      storedStates = await readStoredStates(sessionId);
      isFast = performance.now() - startedAt < 250;
      return { ok: true, reply };
    });
    expect((await pay(sessionId)).body.state).toBe('succeeded');
    expect(await readStoredStates(sessionId)).toEqual(['success']);
  }
  expect(storedStates).toEqual([]);
});

test('is stored if the bank is slow, so that the merchant and other tabs see the payment', async () => {
  const sessionId = await gateway.createSession(merchant);
  await gateway.respondToCharges(async (command) => {
    const reply = await deliverProgress(command);
    await waitUntil('the payment in progress', 10_000, async () => (await readStoredStates(sessionId)).length > 0);
    expect(await readStoredStates(sessionId)).toEqual(['processing']);
    return { ok: true, reply };
  });
  expect((await pay(sessionId)).body.state).toBe('succeeded');
  expect(await readStoredStates(sessionId)).toEqual(['success']);
});

test('is stored if the pay request fails, because the payment may still succeed', async () => {
  const sessionId = await gateway.createSession(merchant);
  await gateway.respondToCharges(async (command) => {
    await deliverProgress(command);
    return { ok: false, code: 'service.not-ready', message: 'Please wait.', fields: [], retryAfterSeconds: 1 };
  });
  expect((await pay(sessionId)).status).toBe(503);
  expect(await getPage(sessionId)).toContain('data-state="processing"');
});

test('is stored if the pay request of this process is for another payment of the session', async () => {
  const sessionId = await gateway.createSession(merchant);
  const payable = await gateway.findPublishedPayable(sessionId);
  await gateway.respondToCharges(async (command) => {
    await deliverProgress({ ...command, payable, paymentNumber: 1 });
    expect(await readStoredStates(sessionId)).toEqual(['processing']);
    return { ok: false, code: 'payment.in-progress', message: 'Please wait.', fields: [], retryAfterSeconds: 1 };
  });
  const { status } = await gateway.call('POST', `/pay/${sessionId}/payments`, {
    payload: { reference: randomUUID(), paymentNumber: 2, encryptedCard: 'a.b.c' },
  });
  expect(status).toBe(409);
});

test('is read from payment-processor if a payment is rejected because of a payment that the gateway does not know', async () => {
  const sessionId = await gateway.createSession(merchant);
  const payable = await gateway.findPublishedPayable(sessionId);
  const inProgress = {
    ...buildPayment(payable, { version: 2 }),
    state: 'processing' as const,
    payable: { payableId: sessionId, state: 'reserved' as const, version: 2, paymentCount: 1 },
  };
  await gateway.respondToChecks(() => ({ ok: true, reply: [inProgress] }));
  await gateway.respondToCharges(() => ({
    ok: false,
    code: 'payment.in-progress',
    message: 'Please wait.',
    fields: [],
    retryAfterSeconds: 1,
  }));
  expect((await pay(sessionId)).status).toBe(409);
  expect(await getPage(sessionId)).toContain('data-state="processing"');
});

test('is stored after the result if it is newer than the result', async () => {
  const sessionId = await gateway.createSession(merchant);
  await gateway.respondToCharges(async (command) => {
    const result = buildPayment(command.payable, { reference: command.reference, version: 3 });
    const earlier = {
      ...buildPayment(command.payable, { version: 4 }),
      state: 'processing' as const,
      payable: { payableId: sessionId, state: 'reserved' as const, version: 4, paymentCount: 1 },
    };
    await gateway.deliver(anEvent(PaymentProcessingV1, randomUUID(), 3, inProgress(earlier)));
    return { ok: true, reply: { ...result, state: 'failed' as const } };
  });
  await pay(sessionId);
  expect((await readStoredStates(sessionId)).sort()).toEqual(['failed', 'processing']);
});
