/**
 * Tests which movements and changes of disputes the books of this service contain for a range of time, and which of them
 * are open. The rows are inserted directly, so that their times are exactly at the bounds of the range.
 */
import { randomUUID } from 'node:crypto';
import type { BookLine } from '@svc/contracts';
import { type Processor, startProcessor } from '../../../test/processor.js';
import {
  BEFORE_WATERMARK,
  BOUNDARY_TIMES,
  RANGE,
  ReconciledMerchant,
  WATERMARK,
} from '../../../test/reconciled-rows.js';
import { type BookName, ReconciliationBooks } from './books.js';

let processor: Processor;
let merchant: ReconciledMerchant;
beforeAll(async () => {
  processor = await startProcessor();
});
beforeEach(() => {
  merchant = new ReconciledMerchant(processor);
});
afterAll(() => processor.stop());

async function readBook(name: BookName): Promise<readonly BookLine[]> {
  const comparisons = processor.service.app.get(ReconciliationBooks).buildComparisons({
    ...{ runId: randomUUID(), watermark: new Date(WATERMARK), notifiedSites: [] },
    reversals: () => Promise.resolve('[]'),
  });
  const { expected } = comparisons.find((comparison) => comparison.name === name)!;
  return (await expected.lines(RANGE, merchant.owner, { after: undefined })).lines;
}
const sortKeys = (keys: readonly string[]): string[] =>
  keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
const readKeys = async (name: BookName): Promise<string[]> => sortKeys((await readBook(name)).map(({ key }) => key));

/** Inserts a row at each of the times around the bounds of the range. Returns the keys of the two rows in the range. */
async function insertAroundRange(insertRow: (time: string) => Promise<string>): Promise<string[]> {
  const keys: string[] = [];
  for (const time of BOUNDARY_TIMES) keys.push(await insertRow(time));
  return sortKeys(keys.slice(1, 3));
}

describe('the expected book of notifications', () => {
  test('contains the changes of disputes in the range, open from the watermark on', async () => {
    const payment = await merchant.insertPayment({ accepted_at: '2026-03-01T07:00:00.000Z' });
    const { disputeId } = await merchant.insertDispute(payment, await merchant.insertAttempt(payment));
    let version = 0;
    const insertChange = async (time: string): Promise<string> =>
      `${payment.paymentReference}/${await merchant.insertDisputeChange(disputeId, { changed_at: time, version: ++version })}`;
    const keys = await insertAroundRange(insertChange);
    const finalKey = await insertChange(BEFORE_WATERMARK);
    const openKey = await insertChange(WATERMARK);
    const lines = await readBook('stream');
    expect(sortKeys(lines.map(({ key }) => key))).toEqual(sortKeys([...keys, finalKey, openKey]));
    const openOf = (key: string) => lines.find((line) => line.key === key)?.open;
    expect([openOf(finalKey), openOf(openKey)]).toEqual([false, true]);
  });
});

describe('the expected ledger', () => {
  test.each([
    ['debited', 'dispute'],
    ['reversed', 'disputeReversal'],
    ['debitedAgain', 'dispute'],
  ])('contains the reports %s of disputes that were booked in the range', async (reportKind, kind) => {
    const payment = await merchant.insertPayment({ modified_at: '2026-03-01T07:00:00.000Z' });
    const attemptId = await merchant.insertAttempt(payment);
    await merchant.insertDispute(payment, attemptId, { kind: reportKind, booked_at: null });
    const keys = await insertAroundRange(async (time) => {
      const { reportId } = await merchant.insertDispute(payment, attemptId, { kind: reportKind, booked_at: time });
      return `${payment.paymentReference} ${kind} ${reportId}`;
    });
    expect(await readKeys('ledger')).toEqual(keys);
    const [payable, receivable] = [
      `test:merchant:${merchant.owner.merchantId}:payable`,
      'test:acquirer:simulated:receivable',
    ];
    const [debit, credit] = kind === 'dispute' ? [payable, receivable] : [receivable, payable];
    expect((await readBook('ledger')).map(({ line }) => line)).toEqual(
      Array(2).fill({ kind, debit, credit, amount: 10, currency: 'ZAR' }),
    );
  });
});

describe("the expected acquirer's statement of disputes", () => {
  test('contains the reports that were booked in the range, open from the watermark on', async () => {
    const payment = await merchant.insertPayment();
    const attemptId = await merchant.insertAttempt(payment, { started_at: '2026-03-01T07:00:00.000Z' });
    await merchant.insertDispute(payment, attemptId, { booked_at: null });
    const insertReport = async (time: string): Promise<string> => {
      const row = { kind: 'reversed', booked_at: time };
      const { reportReference } = await merchant.insertDispute(payment, attemptId, row);
      return `${payment.paymentReference} disputeReversal ${reportReference}`;
    };
    const keys = await insertAroundRange(insertReport);
    const finalKey = await insertReport(BEFORE_WATERMARK);
    const openKey = await insertReport(WATERMARK);
    const lines = await readBook('acquirer');
    expect(sortKeys(lines.map(({ key }) => key))).toEqual(sortKeys([...keys, finalKey, openKey]));
    const openOf = (key: string) => lines.find((line) => line.key === key)?.open;
    expect([openOf(finalKey), openOf(openKey)]).toEqual([false, true]);
  });

  test('has the acquirer’s reference of the dispute', async () => {
    const payment = await merchant.insertPayment();
    const attemptId = await merchant.insertAttempt(payment, { started_at: '2026-03-01T07:00:00.000Z' });
    const { disputeId } = await merchant.insertDispute(payment, attemptId);
    expect((await readBook('acquirer')).map(({ line }) => line)).toEqual([
      {
        ...{ kind: 'dispute', acquirer: 'simulated', account: 'account-1', amount: 10, currency: 'ZAR' },
        ...{ paymentReference: payment.paymentReference, acquirerReference: `dispute-${disputeId}` },
      },
    ]);
  });
});
