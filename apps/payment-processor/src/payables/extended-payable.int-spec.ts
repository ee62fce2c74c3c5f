import { SessionCreatedV1, SessionExtendedV1 } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import { aPayable } from '../../test/builders.js';
import { type Processor, startProcessor } from '../../test/processor.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

const MINUTES = 60_000;
const expiryOf = async (payableId: string): Promise<string | undefined> => {
  const [row] = await processor.dataSource.query<{ expires_at: Date }[]>(
    `SELECT expires_at FROM payables WHERE payable_id = $1`,
    [payableId],
  );
  return row?.expires_at.toISOString();
};

test.each([
  ['after the session', ['created', 'extended']],
  ['before the session, and again', ['extended', 'created', 'extended']],
] as const)(
  'a session that was extended can be paid until its later expiry; the event arrives %s',
  async (_, order) => {
    const payable = { ...aPayable(), expiresAt: processor.clock.later(5 * MINUTES).toISOString() };
    const longer = { ...payable, expiresAt: processor.clock.later(20 * MINUTES).toISOString() };
    const events = {
      created: anEvent(SessionCreatedV1, payable.payableId, 1, { payable }),
      extended: anEvent(SessionExtendedV1, payable.payableId, 2, { payable: longer }),
    };
    for (const each of order) await processor.deliver(events[each]);
    expect(await expiryOf(payable.payableId)).toBe(longer.expiresAt);
    processor.clock.advance(6 * MINUTES);
    expect(await processor.pay(longer)).toMatchObject({ state: 'success' });
  },
);

test('the expiry is never shortened, and a session without an extension still expires', async () => {
  const payable = { ...aPayable(), expiresAt: processor.clock.later(5 * MINUTES).toISOString() };
  const shorter = { ...payable, expiresAt: processor.clock.later(1 * MINUTES).toISOString() };
  await processor.deliver(anEvent(SessionCreatedV1, payable.payableId, 1, { payable }));
  await processor.deliver(anEvent(SessionExtendedV1, payable.payableId, 2, { payable: shorter }));
  expect(await expiryOf(payable.payableId)).toBe(payable.expiresAt);
  processor.clock.advance(6 * MINUTES);
  // The stored expiry of the payable decides, not that of the page.
  const claimed = { ...payable, expiresAt: processor.clock.later(10 * MINUTES).toISOString() };
  await expect(processor.pay(claimed)).rejects.toMatchObject({ code: 'payable.expired' });
});
