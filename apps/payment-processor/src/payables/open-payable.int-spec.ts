import { InvoiceCreatedV1, PayableClosedV1 } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import { anInvoicePayable, aPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { aMerchant } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
  await aMerchant(processor, { merchantId: aPayable().merchantId });
});
afterAll(() => processor.stop());

const closedEvents = async (payableId: string): Promise<unknown[]> =>
  (await processor.published(PayableClosedV1)).filter((event) => event.aggregateId === payableId);

test('an invoice can be paid after it is opened, and is opened once', async () => {
  const payable = anInvoicePayable();
  const opened = { payableId: payable.payableId, state: 'open', version: 1, tries: 0 };
  expect(await processor.open({ payable })).toEqual({ opened });
  expect(await processor.open({ payable })).toEqual({ opened });

  const paid = await processor.payInvoice(payable);
  expect(paid).toMatchObject({ state: 'success', source: payable.source, payable: { state: 'paid' } });
  expect(await processor.open({ payable })).toMatchObject({ opened: { state: 'paid', version: 3 } });
});

test('an invoice that replaces another one closes it, in one step, with its event', async () => {
  const [old, payable] = [anInvoicePayable(), anInvoicePayable({ amount: 500 })];
  await processor.open({ payable: old });
  expect(await processor.open({ payable, replaces: old })).toEqual({
    opened: { payableId: payable.payableId, state: 'open', version: 1, tries: 0 },
    replaced: { payableId: old.payableId, state: 'closed', version: 2, tries: 0 },
  });
  expect(await closedEvents(old.payableId)).toHaveLength(1);
  await expect(processor.payInvoice(old)).rejects.toMatchObject({ code: 'payable.closed' });
  expect(await processor.payInvoice(payable)).toMatchObject({ state: 'success', amount: 500 });
});

test.each([
  ['has a payment without outcome', CARDS.dropsTheAnswer, 'payment.in-progress'],
  ['is paid', CARDS.approved, 'payable.paid'],
])('a payable that %s cannot be replaced', async (_, card, code) => {
  const [old, payable] = [anInvoicePayable(), anInvoicePayable()];
  await processor.open({ payable: old });
  await processor.payInvoice(old, { card });

  await expect(processor.open({ payable, replaces: old })).rejects.toMatchObject({ code });
  expect(await closedEvents(old.payableId)).toEqual([]);
  const [row] = await processor.dataSource.query<{ count: number }[]>(
    `SELECT count(*) FROM payables WHERE payable_id = $1`,
    [payable.payableId],
  );
  expect(row!.count).toBe(0);
});

test('of a concurrent payment and replacement exactly one succeeds, fifty times', async () => {
  const outcomeOf = (made: Promise<{ state: string }>): Promise<string> =>
    made.then(
      ({ state }) => state,
      ({ code }: { code: string }) => code,
    );
  const before = processor.charged().length;
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      const [old, payable] = [anInvoicePayable(), anInvoicePayable()];
      await processor.open({ payable: old });
      const pay = () => outcomeOf(processor.payInvoice(old));
      const replace = () => outcomeOf(processor.open({ payable, replaces: old }).then(({ opened }) => opened));
      // In a fifth of the rounds each side comes first, in the others both are sent at the same time.
      const first = index % 5 === 0 ? await pay() : index % 5 === 1 ? await replace() : undefined;
      const [paid, replaced] = await Promise.all([
        index % 5 === 0 ? first! : pay(),
        index % 5 === 1 ? first! : replace(),
      ]);
      const rows = await processor.dataSource.query<{ state: string }[]>(
        `SELECT state FROM payables WHERE payable_id IN ($1, $2) ORDER BY payable_id = $2`,
        [old.payableId, payable.payableId],
      );
      return `pay: ${paid}, replace: ${replaced}, then: ${rows.map(({ state }) => state).join(' and ')}`;
    }),
  );
  const isPaid = (how: string): string => `pay: success, replace: ${how}, then: paid`;
  const paid = outcomes.filter((outcome) => [isPaid('payment.in-progress'), isPaid('payable.paid')].includes(outcome));
  const replaced = outcomes.filter(
    (outcome) => outcome === 'pay: payable.closed, replace: open, then: closed and open',
  );
  expect([...paid, ...replaced].toSorted()).toEqual(outcomes.toSorted());
  expect([paid.length > 0, replaced.length > 0]).toEqual([true, true]);
  expect(processor.charged()).toHaveLength(before + paid.length);
});

test('an invoice can be paid after its event alone; a repeated event changes nothing', async () => {
  const payable = anInvoicePayable();
  const payload = { payable, origin: 'pos', createdUTCDate: '2026-03-01T10:00:00.000Z' };
  const created = anEvent(InvoiceCreatedV1, payable.payableId, 1, payload);
  await processor.deliver(created);
  expect(await processor.close(payable)).toMatchObject({ state: 'closed', version: 2 });
  await processor.deliver({ ...created, id: anEvent(InvoiceCreatedV1, 'x', 1, payload).id });
  await expect(processor.payInvoice(payable)).rejects.toMatchObject({ code: 'payable.closed' });
});

test('an id with different content is rejected', async () => {
  const payable = anInvoicePayable();
  await processor.open({ payable });
  for (const other of [{ amount: 1 }, { currencyISOCode: 'NAD' }])
    await expect(processor.open({ payable: { ...payable, ...other } })).rejects.toMatchObject({
      code: 'payable.mismatch',
    });
});
