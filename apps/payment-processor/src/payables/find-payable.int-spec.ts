import { randomUUID } from 'node:crypto';
import { SessionCreatedV1 } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import { buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { type Processor, startProcessor } from '../../test/processor.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

test('find-payable returns the current state of a payable: open, reserved during a payment, or paid', async () => {
  const [payable, paidPayable] = [buildPayable(), buildPayable()];
  for (const created of [paidPayable, payable])
    await processor.deliver(anEvent(SessionCreatedV1, created.payableId, 1, { payable: created }));
  const { payableId } = payable;
  expect(await processor.findPayable(payableId)).toEqual({
    payable: { payableId, state: 'open', version: 1, paymentCount: 0 },
  });

  expect(await processor.pay(payable, { card: CARDS.responseLost })).toMatchObject({ state: 'processing' });
  // The bank has approved the charge, but find-payable does not query the bank.
  expect(await processor.findPayable(payableId)).toEqual({
    payable: { payableId, state: 'reserved', version: 2, paymentCount: 1 },
  });
  await processor.pay(paidPayable);
  expect((await processor.findPayable(paidPayable.payableId)).payable).toMatchObject({ state: 'paid' });
});

test('find-payable returns nothing for an unknown payable, and rejects a malformed id', async () => {
  expect(await processor.findPayable(randomUUID())).toEqual({});
  await expect(processor.findPayable('x')).rejects.toMatchObject({ code: 'request.invalid' });
});
