/**
 * Tests which rows the books of this service contain for a range of time, and which of them are open. The rows are
 * inserted directly, so that their times are exactly at the bounds of the range.
 */
import { randomUUID } from 'node:crypto';
import type { BookLine, NotifiedSite } from '@svc/contracts';
import { buildInvoicePayable } from '../../../test/builders.js';
import { type Processor, startProcessor } from '../../../test/processor.js';
import {
  BEFORE_WATERMARK,
  BOUNDARY_TIMES,
  EARLY,
  RANGE,
  ReconciledMerchant,
  type StoredPayment,
  WATERMARK,
} from '../../../test/reconciled-rows.js';
import { ReversalNotificationsQuery } from '../reversal-notifications.query.js';
import { type BookName, ReconciliationBooks } from './books.js';

let processor: Processor;
let merchant: ReconciledMerchant;
const runId = randomUUID();
beforeAll(async () => {
  processor = await startProcessor();
  await new ReconciledMerchant(processor).insert('reconciliations', {
    ...{ run_id: runId, day: '2026-03-01', state: 'waiting', requested_at: EARLY },
  });
});
beforeEach(() => {
  merchant = new ReconciledMerchant(processor);
});
afterAll(() => processor.stop());

async function readBook(
  name: BookName,
  side: 'expected' | 'found' = 'expected',
  notifiedSites: readonly NotifiedSite[] = [],
): Promise<readonly BookLine[]> {
  const { app } = processor.service;
  const reversals = (range: typeof RANGE) => app.get(ReversalNotificationsQuery).find(range);
  const comparisons = app
    .get(ReconciliationBooks)
    .buildComparisons({ runId, watermark: new Date(WATERMARK), reversals, notifiedSites });
  const { lines } = await comparisons
    .find((comparison) => comparison.name === name)!
    [side].lines(RANGE, merchant.owner, { after: undefined });
  return lines;
}
const sortKeys = (keys: readonly string[]): string[] =>
  keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
const readKeys = async (...parameters: Parameters<typeof readBook>): Promise<string[]> =>
  sortKeys((await readBook(...parameters)).map(({ key }) => key));

/** Inserts a row at each of the times around the bounds of the range. Returns the keys of the two rows in the range. */
async function insertAroundRange(insertRow: (time: string) => Promise<string>): Promise<string[]> {
  const keys: string[] = [];
  for (const time of BOUNDARY_TIMES) keys.push(await insertRow(time));
  return sortKeys(keys.slice(1, 3));
}

describe('the expected book of payments', () => {
  test('contains the payments that were accepted in the range', async () => {
    const keys = await insertAroundRange(
      async (time) => (await merchant.insertPayment({ accepted_at: time })).paymentReference,
    );
    expect(await readKeys('retrieval')).toEqual(keys);
  });

  test.each([
    ['success', BEFORE_WATERMARK, false, true],
    ['failed', BEFORE_WATERMARK, false, true],
    ['success', WATERMARK, true, true],
    ['failed', WATERMARK, true, true],
    ['processing', BEFORE_WATERMARK, true, false],
    ['verificationRequired', BEFORE_WATERMARK, true, false],
  ])(
    'contains a payment in the state %s since %s (open: %s, with content: %s)',
    async (state, modifiedAt, open, hasContent) => {
      await merchant.insertPayment({ state, modified_at: modifiedAt });
      const lines = await readBook('retrieval');
      expect(lines.map((line) => [line.open, line.line !== null])).toEqual([[open, hasContent]]);
    },
  );

  test('contains only payments of partners in the history', async () => {
    await merchant.insertPayment();
    const partner = { reference: 'r-1', partner: { organisationId: randomUUID() } };
    const { paymentReference } = await merchant.insertPayment({ partner });
    expect(await readKeys('history')).toEqual([paymentReference]);
  });
});

test.each(['notifications', 'sessions'] as const)('the book %s contains only payments of sessions', async (name) => {
  const { paymentReference } = await merchant.insertPayment();
  await merchant.insertPayment({}, { source: buildInvoicePayable().source });
  expect(await readKeys(name)).toEqual([paymentReference]);
});

describe('the expected book of notifications', () => {
  test('contains the reference of the site at the acceptance, also for reversals', async () => {
    const payment = await merchant.insertPayment({ state: 'failed', site_reference: 'our site' });
    await merchant.insertReversal(await merchant.insertAttempt(payment, { state: 'reversed' }));
    expect((await readBook('stream')).map(({ line }) => line?.['siteReference'])).toEqual(['our site', 'our site']);
  });

  test.each([
    [null, true, false],
    [BEFORE_WATERMARK, false, true],
    [WATERMARK, true, true],
  ])('contains a refund that ended at %s (open: %s, with content: %s)', async (endedAt, open, hasContent) => {
    const payment = await merchant.insertPayment({ accepted_at: '2026-03-01T07:00:00.000Z' });
    const attemptId = await merchant.insertAttempt(payment);
    await merchant.insertRefund(payment, attemptId, {
      state: endedAt === null ? 'pending' : 'succeeded',
      ended_at: endedAt,
    });
    const lines = await readBook('stream');
    expect(lines.map((line) => [line.open, line.line !== null])).toEqual([[open, hasContent]]);
  });

  test('contains the reversals that were confirmed in the range', async () => {
    const references = await insertAroundRange(async (time) => {
      const payment = await merchant.insertPayment({ state: 'failed', accepted_at: '2026-03-01T07:00:00.000Z' });
      await merchant.insertReversal(await merchant.insertAttempt(payment, { state: 'reversed' }), {
        confirmed_at: time,
      });
      return payment.paymentReference;
    });
    expect((await readKeys('stream')).map((key) => key.split('/')[0])).toEqual(references);
  });

  test('contains only notifications of notified sites for webhooks, from the time at which the webhook was enabled', async () => {
    const [siteId, { merchantId }] = [merchant.owner.merchantId, merchant.owner];
    const insertAt = (acceptedAt: string, site: number) =>
      merchant.insertPayment({ accepted_at: acceptedAt }, { site_id: site });
    await insertAt('2026-03-01T08:09:59.999Z', siteId);
    const { paymentReference } = await insertAt(EARLY, siteId);
    await insertAt(EARLY, siteId + 1);
    const sites = [
      { merchantId, siteId, since: EARLY },
      { merchantId: 1, siteId: siteId + 1, since: EARLY },
    ] as NotifiedSite[];
    expect(await readKeys('webhooks', 'expected', sites)).toEqual([paymentReference]);
  });
});

describe('the expected ledger', () => {
  const VOUCHER = { partner: { organisationId: randomUUID() }, vouchers: [{ merchantLiable: true, amount: 5 }] };

  test('contains the transfers of payments that succeeded in the range', async () => {
    const keys = await insertAroundRange(async (time) => {
      const payment = await merchant.insertPayment({ modified_at: time });
      await merchant.insertAttempt(payment);
      return `${payment.paymentReference} capture`;
    });
    expect(await readKeys('ledger')).toEqual(keys);
  });

  test('contains one capture of a payment with a declined and an approved attempt', async () => {
    const payment = await merchant.insertPayment();
    await merchant.insertAttempt(payment, { state: 'declined', acquirer: 'other' });
    await merchant.insertAttempt(payment, { acquirer: 'simulated' });
    expect((await readBook('ledger')).map(({ line }) => line?.['debit'])).toEqual([
      'test:acquirer:simulated:receivable',
    ]);
  });

  test('contains no vouchers of a failed payment', async () => {
    await merchant.insertPayment({ state: 'failed', partner: VOUCHER });
    expect(await readKeys('ledger')).toEqual([]);
  });

  test('contains the refunds that succeeded in the range', async () => {
    const payment = await merchant.insertPayment({ modified_at: '2026-03-01T07:00:00.000Z' });
    const attemptId = await merchant.insertAttempt(payment);
    await merchant.insertRefund(payment, attemptId, { state: 'failed' });
    const keys = await insertAroundRange(async (time) => {
      const refundId = await merchant.insertRefund(payment, attemptId, { ended_at: time });
      return `${payment.paymentReference} refund ${refundId}`;
    });
    expect(await readKeys('ledger')).toEqual(keys);
  });

  test.each([
    ['lateApproval', 'requested_at', 'confirmed_at'],
    ['reversal', 'confirmed_at', 'requested_at'],
  ])('contains a transfer %s if the column %s is in the range', async (kind, column, otherColumn) => {
    const keys = await insertAroundRange(async (time) => {
      const payment = await merchant.insertPayment({ state: 'failed' });
      const attemptId = await merchant.insertAttempt(payment, { state: 'reversed' });
      await merchant.insertReversal(attemptId, { [column]: time, [otherColumn]: '2026-03-01T12:00:00.000Z' });
      return `${payment.paymentReference} ${kind} ${attemptId}`;
    });
    expect(await readKeys('ledger')).toEqual(keys);
  });
});

test('the ledger contains the transfers that were created in the range', async () => {
  const keys = await insertAroundRange(async (time) => {
    const { paymentId, paymentReference } = await merchant.insertPayment();
    await merchant.insert('transfers', {
      ...{ transfer_id: randomUUID(), kind: 'capture', debit_account: 'a', credit_account: 'b', amount: 100 },
      ...{ currency: 'ZAR', payment_id: paymentId, created_at: time, mode: 'test' },
      merchant_id: merchant.owner.merchantId,
    });
    return `${paymentReference} capture`;
  });
  expect(await readKeys('ledger', 'found')).toEqual(keys);
});

describe("the expected acquirer's statement", () => {
  const insertPayment = (): Promise<StoredPayment> => merchant.insertPayment();

  test('contains the charges that started in the range', async () => {
    const keys = await insertAroundRange(async (time) => {
      const payment = await insertPayment();
      return `${payment.paymentReference} charge ${await merchant.insertAttempt(payment, { started_at: time })}`;
    });
    expect(await readKeys('acquirer')).toEqual(keys);
  });

  test.each([
    ['approved', EARLY, false, 'bank-1'],
    ['approved', BEFORE_WATERMARK, false, 'bank-1'],
    ['approved', WATERMARK, true, undefined],
    ['reversed', '2026-03-01T09:00:00.000Z', true, undefined],
    ['reversed', '2026-03-01T07:00:00.000Z', false, null],
    ['started', null, true, undefined],
    ['unknown', null, true, undefined],
    ['reversing', null, true, undefined],
  ])(
    'contains a charge in the state %s that ended at %s (open: %s, reference: %s)',
    async (state, endedAt, open, reference) => {
      await merchant.insertAttempt(await insertPayment(), { state, ended_at: endedAt });
      const lines = await readBook('acquirer');
      expect(lines.map((line) => [line.open, line.line?.['acquirerReference']])).toEqual([[open, reference]]);
    },
  );

  test.each(['declined', 'notAttempted'])(
    'contains a charge in the state %s only after a late approval',
    async (state) => {
      const payment = await insertPayment();
      await merchant.insertAttempt(payment, { state });
      const lateAttemptId = await merchant.insertAttempt(payment, { state });
      await merchant.insertReversal(lateAttemptId, { confirmed_at: null });
      expect(await readKeys('acquirer')).toEqual([`${payment.paymentReference} charge ${lateAttemptId}`]);
    },
  );

  test('contains the reversals of late approvals that were confirmed in the range', async () => {
    const keys = await insertAroundRange(async (time) => {
      const payment = await insertPayment();
      const attemptId = await merchant.insertAttempt(payment, {
        ...{ state: 'reversed', started_at: '2026-03-01T07:00:00.000Z' },
      });
      await merchant.insertReversal(attemptId, { confirmed_at: time });
      return `${payment.paymentReference} reversal ${attemptId}`;
    });
    expect(await readKeys('acquirer')).toEqual(keys);
  });

  test('contains the reversals of other charges that ended in the range', async () => {
    const keys = await insertAroundRange(async (time) => {
      const payment = await insertPayment();
      const attempt = { state: 'reversed', started_at: '2026-03-01T07:00:00.000Z', ended_at: time };
      return `${payment.paymentReference} reversal ${await merchant.insertAttempt(payment, attempt)}`;
    });
    expect(await readKeys('acquirer')).toEqual(keys);
  });

  test('contains the refunds that succeeded in the range, open from the watermark on', async () => {
    const payment = await insertPayment();
    const attemptId = await merchant.insertAttempt(payment, { started_at: '2026-03-01T07:00:00.000Z' });
    await merchant.insertRefund(payment, attemptId, { state: 'failed' });
    const insertRefund = async (time: string): Promise<string> =>
      `${payment.paymentReference} refund ${await merchant.insertRefund(payment, attemptId, { ended_at: time })}`;
    const keys = await insertAroundRange(insertRefund);
    const finalKey = await insertRefund(BEFORE_WATERMARK);
    const openKey = await insertRefund(WATERMARK);
    const lines = await readBook('acquirer');
    expect(sortKeys(lines.map(({ key }) => key))).toEqual(sortKeys([...keys, finalKey, openKey]));
    const openOf = (key: string) => lines.find((line) => line.key === key)?.open;
    expect([openOf(finalKey), openOf(openKey)]).toEqual([false, true]);
  });
});

describe("the acquirer's statement", () => {
  const insertLine = async (at: string, open = false): Promise<string> => {
    const idempotencyKey = randomUUID();
    await merchant.insert('statement_lines', {
      ...{ run_id: runId, at, mode: 'test', merchant_id: merchant.owner.merchantId, kind: 'charge' },
      ...{ idempotency_key: idempotencyKey, acquirer: 'simulated', account: 'account-1', payment_reference: 'ref' },
      ...{ amount: 1, currency: 'ZAR', open },
    });
    return `ref charge ${idempotencyKey}`;
  };

  test('contains the stored lines of the range', async () => {
    const keys = await insertAroundRange((time) => insertLine(time));
    expect(await readKeys('acquirer', 'found')).toEqual(keys);
  });

  test.each([true, false])(
    'contains a stored line (open: %s), and its content only if the line is not open',
    async (open) => {
      await insertLine(EARLY, open);
      const lines = await readBook('acquirer', 'found');
      expect(lines.map((line) => [line.open, line.line === null])).toEqual([[open, open]]);
    },
  );
});

describe('the expected amounts of a payment with a tip, vouchers of both kinds and both parts of a fee', () => {
  const CHARGED = 20_000 + 1_700 - 3_300 - 4_107;
  const insertPayment = (state: 'success' | 'failed', method = 'Card'): Promise<StoredPayment> =>
    merchant.insertPayment({
      ...{ state, method_type: method, amount: 20_000, tip_amount: 1_700, voucher_amount: 3_300 + 4_107 },
      ...{ processed_amount: state === 'success' ? CHARGED : 0, fee_basis_points: 295, fee_fixed_amount: 151 },
      partner: {
        partner: { organisationId: randomUUID() },
        vouchers: [
          { merchantLiable: true, amount: 3_300 },
          { merchantLiable: false, amount: 4_107 },
        ],
      },
    });
  const readAmounts = async (name: BookName): Promise<unknown[]> =>
    (await readBook(name)).map(({ line }) => [line?.['kind'], line?.['amount']]).toSorted();

  test('are those of the charge, of its fee, of each voucher and of the refunds', async () => {
    const payment = await insertPayment('success');
    await merchant.insertRefund(payment, await merchant.insertAttempt(payment), { amount: 2_100 });
    expect(await readAmounts('ledger')).toEqual(
      [
        ['capture', CHARGED],
        // 2.95 % of 14 293 cents are 421.64 cents.
        ['fee', 422 + 151],
        ['refund', 2_100],
        ['voucher', 3_300],
        ['voucher', 4_107],
      ].toSorted(),
    );
    expect(await readAmounts('acquirer')).toEqual([
      ['charge', CHARGED],
      ['refund', 2_100],
    ]);
  });

  test('are those of an external payment and of each voucher', async () => {
    await insertPayment('success', 'External');
    expect(await readAmounts('ledger')).toEqual([
      ['external', CHARGED],
      ['voucher', 3_300],
      ['voucher', 4_107],
    ]);
    expect(await readAmounts('acquirer')).toEqual([]);
  });

  test('are those of the charge for a late approval and its reversal', async () => {
    const payment = await insertPayment('failed');
    await merchant.insertReversal(await merchant.insertAttempt(payment, { state: 'reversed' }));
    expect(await readAmounts('ledger')).toEqual([
      ['lateApproval', CHARGED],
      ['reversal', CHARGED],
    ]);
    expect(await readAmounts('acquirer')).toEqual([
      ['charge', CHARGED],
      ['reversal', CHARGED],
    ]);
  });
});
