import { SessionCreatedV1, SessionExtendedV1 } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import { buildPayable } from '../../test/builders.js';
import { type Processor, startProcessor } from '../../test/processor.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

const MINUTES = 60_000;
const readExpiry = async (payableId: string): Promise<string | undefined> => {
  const [row] = await processor.dataSource.query<{ expires_at: Date }[]>(
    `SELECT expires_at FROM payables WHERE payable_id = $1`,
    [payableId],
  );
  return row?.expires_at.toISOString();
};

test.each([
  ['after the event of the session', ['created', 'extended']],
  ['before the event of the session, and again after it', ['extended', 'created', 'extended']],
] as const)(
  'an extended session can be paid until its new expiry if the event of the extension arrives %s',
  async (_, order) => {
    const payable = { ...buildPayable(), expiresAt: processor.clock.later(5 * MINUTES).toISOString() };
    const extendedPayable = { ...payable, expiresAt: processor.clock.later(20 * MINUTES).toISOString() };
    const events = {
      created: anEvent(SessionCreatedV1, payable.payableId, 1, { payable }),
      extended: anEvent(SessionExtendedV1, payable.payableId, 2, { payable: extendedPayable }),
    };
    for (const eventName of order) await processor.deliver(events[eventName]);
    expect(await readExpiry(payable.payableId)).toBe(extendedPayable.expiresAt);
    processor.clock.advance(6 * MINUTES);
    expect(await processor.pay(extendedPayable)).toMatchObject({ state: 'success' });
  },
);

test('the expiry is never shortened, and a session without an extension still expires', async () => {
  const payable = { ...buildPayable(), expiresAt: processor.clock.later(5 * MINUTES).toISOString() };
  const shortenedPayable = { ...payable, expiresAt: processor.clock.later(1 * MINUTES).toISOString() };
  await processor.deliver(anEvent(SessionCreatedV1, payable.payableId, 1, { payable }));
  await processor.deliver(anEvent(SessionExtendedV1, payable.payableId, 2, { payable: shortenedPayable }));
  expect(await readExpiry(payable.payableId)).toBe(payable.expiresAt);
  processor.clock.advance(6 * MINUTES);
  // The stored expiry of the payable decides, not the expiry in the command of the page.
  const payableWithLaterExpiry = { ...payable, expiresAt: processor.clock.later(10 * MINUTES).toISOString() };
  await expect(processor.pay(payableWithLaterExpiry)).rejects.toMatchObject({ code: 'payable.expired' });
});

test('an extension does not change the expiry of another session', async () => {
  const build = () => ({ ...buildPayable(), expiresAt: processor.clock.later(5 * MINUTES).toISOString() });
  const [payable, otherPayable] = [build(), build()];
  for (const created of [payable, otherPayable])
    await processor.deliver(anEvent(SessionCreatedV1, created.payableId, 1, { payable: created }));
  const extendedPayable = { ...payable, expiresAt: processor.clock.later(20 * MINUTES).toISOString() };
  await processor.deliver(anEvent(SessionExtendedV1, payable.payableId, 2, { payable: extendedPayable }));
  expect(await readExpiry(payable.payableId)).toBe(extendedPayable.expiresAt);
  expect(await readExpiry(otherPayable.payableId)).toBe(otherPayable.expiresAt);
});
