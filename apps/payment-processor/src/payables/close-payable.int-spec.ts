import { PayableClosedV1, SessionCreatedV1 } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import { buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { type Processor, startProcessor } from '../../test/processor.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

const publishedCloseEvents = async (payableId: string): Promise<unknown[]> =>
  (await processor.published(PayableClosedV1))
    .filter((event) => event.aggregateId === payableId)
    .map((event) => [event.aggregateVersion, event.payload]);

test.each([['that is stored', true] as const, ['whose session.created has not arrived yet', false] as const])(
  'a payable %s is closed once, with one event, and can no longer be paid',
  async (_, isStored) => {
    const payable = buildPayable();
    const created = anEvent(SessionCreatedV1, payable.payableId, 1, { payable });
    if (isStored) await processor.deliver(created);

    const closed = await processor.closePayable(payable);
    expect(closed).toEqual({ payableId: payable.payableId, state: 'closed', version: 2, paymentCount: 0 });
    expect(await processor.closePayable(payable)).toEqual(closed);
    expect(await publishedCloseEvents(payable.payableId)).toEqual([[2, closed]]);

    if (!isStored) await processor.deliver(created);
    await expect(processor.pay(payable)).rejects.toMatchObject({ code: 'payable.closed' });
    expect(processor.chargedReferences()).toEqual([]);
  },
);

test('the closing of a payable does not close another payable', async () => {
  const [closedPayable, otherPayable] = [buildPayable(), buildPayable()];
  for (const payable of [otherPayable, closedPayable])
    await processor.deliver(anEvent(SessionCreatedV1, payable.payableId, 1, { payable }));
  expect(await processor.closePayable(closedPayable)).toEqual({
    payableId: closedPayable.payableId,
    state: 'closed',
    version: 2,
    paymentCount: 0,
  });
  expect(await publishedCloseEvents(otherPayable.payableId)).toEqual([]);
  expect(await processor.pay(otherPayable)).toMatchObject({ state: 'success', payable: { version: 3 } });
});

test('a payable is not closed while a payment has no outcome', async () => {
  const payable = buildPayable();
  expect(await processor.pay(payable, { card: CARDS.responseLost })).toMatchObject({ state: 'processing' });
  await expect(processor.closePayable(payable)).rejects.toMatchObject({
    code: 'payment.in-progress',
    retryAfterSeconds: 2,
  });
  expect(await publishedCloseEvents(payable.payableId)).toEqual([]);
});

test('a payable is closed after a failed payment, but not when it is paid', async () => {
  const [declinedPayable, paidPayable] = [buildPayable(), buildPayable()];
  await processor.pay(declinedPayable, { card: CARDS.declined });
  expect(await processor.closePayable(declinedPayable)).toMatchObject({ state: 'closed', version: 4, paymentCount: 1 });

  await processor.pay(paidPayable);
  await expect(processor.closePayable(paidPayable)).rejects.toMatchObject({ code: 'payable.paid' });
  expect(await publishedCloseEvents(paidPayable.payableId)).toEqual([]);
});

test('a payable that was refused after its last payment remains refused', async () => {
  const payable = buildPayable({ maxPayments: 1 });
  await processor.pay(payable, { card: CARDS.declined });
  expect(await processor.closePayable(payable)).toMatchObject({ state: 'refused' });
});
