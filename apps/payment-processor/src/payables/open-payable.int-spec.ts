import { InvoiceCreatedV1, PayableClosedV1 } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import { buildInvoicePayable, buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { createMerchant } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
  await createMerchant(processor, { merchantId: buildPayable().merchantId });
});
afterAll(() => processor.stop());

const findCloseEvents = async (payableId: string): Promise<unknown[]> =>
  (await processor.published(PayableClosedV1)).filter((event) => event.aggregateId === payableId);

test('an invoice can be opened several times with the same result, and can then be paid', async () => {
  const payable = buildInvoicePayable();
  const opened = { payableId: payable.payableId, state: 'open', version: 1, paymentCount: 0 };
  expect(await processor.openPayable({ payable })).toEqual({ opened });
  expect(await processor.openPayable({ payable })).toEqual({ opened });

  const paid = await processor.payInvoice(payable);
  expect(paid).toMatchObject({ state: 'success', source: payable.source, payable: { state: 'paid' } });
  expect(await processor.openPayable({ payable })).toMatchObject({ opened: { state: 'paid', version: 3 } });
});

test('the opening of an invoice that replaces another invoice also closes the replaced invoice and publishes its event', async () => {
  const [oldInvoice, payable] = [buildInvoicePayable(), buildInvoicePayable({ amount: 500 })];
  await processor.openPayable({ payable: oldInvoice });
  expect(await processor.openPayable({ payable, replaces: oldInvoice })).toEqual({
    opened: { payableId: payable.payableId, state: 'open', version: 1, paymentCount: 0 },
    replaced: { payableId: oldInvoice.payableId, state: 'closed', version: 2, paymentCount: 0 },
  });
  expect(await findCloseEvents(oldInvoice.payableId)).toHaveLength(1);
  await expect(processor.payInvoice(oldInvoice)).rejects.toMatchObject({ code: 'payable.closed' });
  expect(await processor.payInvoice(payable)).toMatchObject({ state: 'success', amount: 500 });
});

test.each([
  ['has a payment without an outcome', CARDS.responseLost, 'payment.in-progress'],
  ['is paid', CARDS.approved, 'payable.paid'],
])('a payable that %s cannot be replaced', async (_, card, code) => {
  const [oldInvoice, payable] = [buildInvoicePayable(), buildInvoicePayable()];
  await processor.openPayable({ payable: oldInvoice });
  await processor.payInvoice(oldInvoice, { card });

  await expect(processor.openPayable({ payable, replaces: oldInvoice })).rejects.toMatchObject({ code });
  expect(await findCloseEvents(oldInvoice.payableId)).toEqual([]);
  const [row] = await processor.dataSource.query<{ count: number }[]>(
    `SELECT count(*) FROM payables WHERE payable_id = $1`,
    [payable.payableId],
  );
  expect(row!.count).toBe(0);
});

test('either a payment or a concurrent replacement of an invoice succeeds, never both, in fifty rounds', async () => {
  const stateOrErrorCode = (operation: Promise<{ state: string }>): Promise<string> =>
    operation.then(
      ({ state }) => state,
      ({ code }: { code: string }) => code,
    );
  const before = processor.chargedReferences().length;
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      const [oldInvoice, payable] = [buildInvoicePayable(), buildInvoicePayable()];
      await processor.openPayable({ payable: oldInvoice });
      const pay = () => stateOrErrorCode(processor.payInvoice(oldInvoice));
      const replace = () =>
        stateOrErrorCode(processor.openPayable({ payable, replaces: oldInvoice }).then(({ opened }) => opened));
      // In one fifth of the rounds the payment comes first. In another fifth the replacement comes first. In all other
      // rounds payment and replacement are concurrent.
      const first = index % 5 === 0 ? await pay() : index % 5 === 1 ? await replace() : undefined;
      const [paid, replaced] = await Promise.all([
        index % 5 === 0 ? first! : pay(),
        index % 5 === 1 ? first! : replace(),
      ]);
      const rows = await processor.dataSource.query<{ state: string }[]>(
        `SELECT state FROM payables WHERE payable_id IN ($1, $2) ORDER BY payable_id = $2`,
        [oldInvoice.payableId, payable.payableId],
      );
      return `pay: ${paid}, replace: ${replaced}, then: ${rows.map(({ state }) => state).join(' and ')}`;
    }),
  );
  const paidOutcome = (replaceResult: string): string => `pay: success, replace: ${replaceResult}, then: paid`;
  const paid = outcomes.filter((outcome) =>
    [paidOutcome('payment.in-progress'), paidOutcome('payable.paid')].includes(outcome),
  );
  const replaced = outcomes.filter(
    (outcome) => outcome === 'pay: payable.closed, replace: open, then: closed and open',
  );
  expect([...paid, ...replaced].toSorted()).toEqual(outcomes.toSorted());
  expect([paid.length > 0, replaced.length > 0]).toEqual([true, true]);
  expect(processor.chargedReferences()).toHaveLength(before + paid.length);
});

test('the event of an invoice stores its payable, and a repeated event does not reopen a closed payable', async () => {
  const payable = buildInvoicePayable();
  const payload = { payable, origin: 'pos', createdUTCDate: '2026-03-01T10:00:00.000Z' };
  const created = anEvent(InvoiceCreatedV1, payable.payableId, 1, payload);
  await processor.deliver(created);
  expect(await processor.closePayable(payable)).toMatchObject({ state: 'closed', version: 2 });
  await processor.deliver({ ...created, id: anEvent(InvoiceCreatedV1, 'x', 1, payload).id });
  await expect(processor.payInvoice(payable)).rejects.toMatchObject({ code: 'payable.closed' });
});

test('the opening of an existing id with another amount or currency is rejected', async () => {
  const payable = buildInvoicePayable();
  await processor.openPayable({ payable });
  for (const changedFields of [{ amount: 1 }, { currencyISOCode: 'NAD' }])
    await expect(processor.openPayable({ payable: { ...payable, ...changedFields } })).rejects.toMatchObject({
      code: 'payable.mismatch',
    });
});
