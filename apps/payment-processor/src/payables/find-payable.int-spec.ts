import { randomUUID } from 'node:crypto';
import { SessionCreatedV1 } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import { aPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { type Processor, startProcessor } from '../../test/processor.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

test('a payable is found in its current state: open, reserved during a payment, paid', async () => {
  const [payable, other] = [aPayable(), aPayable()];
  for (const each of [other, payable])
    await processor.deliver(anEvent(SessionCreatedV1, each.payableId, 1, { payable: each }));
  const { payableId } = payable;
  expect(await processor.findPayable(payableId)).toEqual({
    payable: { payableId, state: 'open', version: 1, tries: 0 },
  });

  expect(await processor.pay(payable, { card: CARDS.dropsTheAnswer })).toMatchObject({ state: 'processing' });
  // The bank has approved it, and a query would show it, but this command does not query.
  expect(await processor.findPayable(payableId)).toEqual({
    payable: { payableId, state: 'reserved', version: 2, tries: 1 },
  });
  await processor.pay(other);
  expect((await processor.findPayable(other.payableId)).payable).toMatchObject({ state: 'paid' });
});

test('an unknown payable is absent, and a malformed id is rejected', async () => {
  expect(await processor.findPayable(randomUUID())).toEqual({});
  await expect(processor.findPayable('x')).rejects.toMatchObject({ code: 'request.invalid' });
});
