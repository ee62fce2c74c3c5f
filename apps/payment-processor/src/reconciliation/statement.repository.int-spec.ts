/**
 * Tests which accounts have statements to read, and how the lines of a statement are stored: with the time of the
 * attempt or refund, and open while its outcome may change.
 */
import { randomUUID } from 'node:crypto';
import { type Processor, startProcessor } from '../../test/processor.js';
import { BEFORE_WATERMARK, EARLY, ReconciledMerchant, WATERMARK } from '../../test/reconciled-rows.js';
import type { StatementLine } from '../acquirers/acquirer.js';
import { type LeasedRun, ReconciliationRepository } from './reconciliation.repository.js';
import { StatementRepository } from './statement.repository.js';

const DAY = '2026-03-01';
const DAY_BOUNDARY_TIMES = [
  '2026-02-28T23:59:59.999Z',
  '2026-03-01T00:00:00.000Z',
  '2026-03-01T23:59:59.999Z',
  '2026-03-02T00:00:00.000Z',
];
const DAYS_BEFORE = '2026-02-20T10:00:00.000Z';

let processor: Processor;
let merchant: ReconciledMerchant;
let statements: StatementRepository;
let run: LeasedRun;
beforeAll(async () => {
  processor = await startProcessor({ SVC_ACQUIRER_LIVE: 'simulated' });
  statements = processor.service.app.get(StatementRepository);
});
beforeEach(async () => {
  merchant = new ReconciledMerchant(processor);
  await processor.dataSource.query(`DELETE FROM statement_lines`);
  await processor.dataSource.query(`DELETE FROM reconciliations`);
  const runs = processor.service.app.get(ReconciliationRepository);
  await runs.request(processor.dataSource.manager, { day: DAY, merchantId: undefined });
  run = (await runs.lease())!;
});
afterAll(() => processor.stop());

interface StoredLine {
  readonly at: Date;
  readonly merchantId: number;
  readonly reference: string | null;
  readonly open: boolean;
}

/** Stores a line of the statement for the default account of merchant 9. Returns the line as it was stored. */
async function storeLine(line: Partial<StatementLine>): Promise<StoredLine | undefined> {
  const idempotencyKey = line.idempotencyKey ?? randomUUID();
  const account = { acquirer: 'simulated', mode: 'test', accountReference: 'm', merchantId: 9, days: [] } as const;
  await statements.insertLines(run, new Date(WATERMARK), account, [
    {
      ...{ kind: 'charge', acquirerReference: 'bank-1', paymentReference: 'p', amount: 1, currencyISOCode: 'ZAR' },
      ...{ movedUTCDate: '2026-03-01T06:00:00.000Z', ...line, idempotencyKey },
    },
  ]);
  const [stored] = await processor.dataSource.query<StoredLine[]>(
    `SELECT at, merchant_id AS "merchantId", acquirer_reference AS reference, open FROM statement_lines WHERE idempotency_key = $1`,
    [idempotencyKey],
  );
  return stored;
}

describe('statement lines', () => {
  test('a line without an attempt is stored if the acquirer has moved the money on the day', async () => {
    const stored: (StoredLine | undefined)[] = [];
    for (const movedUTCDate of DAY_BOUNDARY_TIMES) stored.push(await storeLine({ movedUTCDate }));
    expect(stored.map((line) => line?.at.toISOString())).toEqual([
      undefined,
      DAY_BOUNDARY_TIMES[1],
      DAY_BOUNDARY_TIMES[2],
      undefined,
    ]);
  });

  test.each([
    ['approved', BEFORE_WATERMARK, 'bank-1', false],
    ['approved', WATERMARK, 'bank-1', true],
    ['declined', BEFORE_WATERMARK, null, false],
    ['started', null, null, true],
    ['unknown', null, null, true],
    ['reversing', null, null, true],
  ])(
    'the line of a charge in the state %s that ended at %s has the reference %s (open: %s)',
    async (state, endedAt, reference, open) => {
      const attempt = { state, ended_at: endedAt };
      const idempotencyKey = await merchant.insertAttempt(await merchant.insertPayment(), attempt);
      const { merchantId } = merchant.owner;
      expect(await storeLine({ idempotencyKey })).toEqual({ at: new Date(EARLY), merchantId, reference, open });
    },
  );

  test.each([
    ['reversed', BEFORE_WATERMARK],
    ['approved', '2026-03-01T06:00:00.000Z'],
  ])('the line of a reversal of a charge in the state %s has the time %s', async (state, at) => {
    const attempt = { state, ended_at: BEFORE_WATERMARK };
    const idempotencyKey = await merchant.insertAttempt(await merchant.insertPayment(), attempt);
    expect(await storeLine({ kind: 'reversal', idempotencyKey })).toMatchObject({ at: new Date(at), open: false });
  });

  test.each([
    [BEFORE_WATERMARK, BEFORE_WATERMARK, false],
    [WATERMARK, WATERMARK, true],
    [null, '2026-03-01T06:00:00.000Z', true],
  ])(
    'the line of a reversal of a late approval that was confirmed at %s has the time %s (open: %s)',
    async (confirmedAt, at, open) => {
      const idempotencyKey = await merchant.insertAttempt(await merchant.insertPayment(), { state: 'declined' });
      await merchant.insertReversal(idempotencyKey, { confirmed_at: confirmedAt });
      expect(await storeLine({ kind: 'reversal', idempotencyKey })).toMatchObject({ at: new Date(at), open });
    },
  );

  test.each([
    ['succeeded', BEFORE_WATERMARK, false],
    ['succeeded', WATERMARK, true],
    ['pending', null, true],
  ])('the line of a refund in the state %s that ended at %s is stored (open: %s)', async (state, endedAt, open) => {
    const payment = await merchant.insertPayment();
    const refund = { state, ended_at: endedAt };
    const idempotencyKey = await merchant.insertRefund(payment, await merchant.insertAttempt(payment), refund);
    expect(await storeLine({ kind: 'refund', idempotencyKey })).toMatchObject({ open });
  });

  test('the line of a refund with the id of a charge, and of a charge with the id of a refund, belong to no payment', async () => {
    const payment = await merchant.insertPayment();
    const attemptId = await merchant.insertAttempt(payment, { state: 'unknown' });
    const refundId = await merchant.insertRefund(payment, attemptId, { state: 'pending' });
    const lineWithoutPayment = { merchantId: 9, reference: 'bank-1', open: false };
    expect(await storeLine({ kind: 'refund', idempotencyKey: attemptId })).toMatchObject(lineWithoutPayment);
    expect(await storeLine({ kind: 'charge', idempotencyKey: refundId })).toMatchObject(lineWithoutPayment);
  });

  test.each([
    [BEFORE_WATERMARK, BEFORE_WATERMARK, false],
    [WATERMARK, WATERMARK, true],
    [null, '2026-03-01T06:00:00.000Z', true],
  ])('the line of a dispute that was booked at %s has the time %s (open: %s)', async (bookedAt, at, open) => {
    const payment = await merchant.insertPayment();
    const attemptId = await merchant.insertAttempt(payment);
    const report = await merchant.insertDispute(payment, attemptId, { booked_at: bookedAt });
    const { merchantId } = merchant.owner;
    const line = { idempotencyKey: report.reportReference, acquirerReference: 'dispute-1' };
    for (const kind of ['dispute', 'disputeReversal'] as const) {
      await processor.dataSource.query(`DELETE FROM statement_lines`);
      expect(await storeLine({ ...line, kind })).toEqual({
        at: new Date(at),
        merchantId,
        reference: 'dispute-1',
        open,
      });
    }
  });

  test('the line of a dispute belongs to no payment if its report is of another acquirer or mode, or unknown', async () => {
    const payment = await merchant.insertPayment();
    const attemptId = await merchant.insertAttempt(payment);
    const lineWithoutPayment = { merchantId: 9, reference: 'bank-1', open: false };
    for (const row of [{ acquirer: 'other' }, { mode: 'live' }]) {
      const { reportReference } = await merchant.insertDispute(payment, attemptId, { booked_at: null, ...row });
      const line = { kind: 'dispute', idempotencyKey: reportReference } as const;
      expect(await storeLine(line)).toMatchObject(lineWithoutPayment);
    }
    expect(await storeLine({ kind: 'dispute', idempotencyKey: attemptId })).toMatchObject(lineWithoutPayment);
    const { reportReference } = await merchant.insertDispute(payment, attemptId, { booked_at: null });
    expect(await storeLine({ kind: 'charge', idempotencyKey: reportReference })).toMatchObject(lineWithoutPayment);
  });

  test('the line of a charge is not open while the reversal of its late approval is not confirmed', async () => {
    const idempotencyKey = await merchant.insertAttempt(await merchant.insertPayment(), { state: 'declined' });
    await merchant.insertReversal(idempotencyKey, { confirmed_at: null });
    expect(await storeLine({ kind: 'charge', idempotencyKey })).toMatchObject({ at: new Date(EARLY), open: false });
  });
});

test('the lines of the run and of ended runs are deleted, but not the lines of another run', async () => {
  const insertRun = async (state: string, columns: object): Promise<string> => {
    const runId = randomUUID();
    await merchant.insert('reconciliations', {
      ...{ run_id: runId, day: DAY, state, requested_at: EARLY, ...columns },
    });
    return runId;
  };
  const runIds = [
    run.runId,
    await insertRun('done', { ended_at: EARLY, result: {}, differences: 0, open: 0, is_whole_day: true }),
    await insertRun('failed', { ended_at: EARLY }),
    await insertRun('running', { leased_until: EARLY }),
  ];
  for (const runId of runIds)
    await merchant.insert('statement_lines', {
      ...{ run_id: runId, at: EARLY, mode: 'test', merchant_id: 9, kind: 'charge', idempotency_key: 'k' },
      ...{ acquirer: 'simulated', account: 'm', payment_reference: 'p', amount: 1, currency: 'ZAR', open: false },
    });
  await statements.deleteLines(run);
  expect(await processor.dataSource.query(`SELECT run_id AS "runId" FROM statement_lines`)).toEqual([
    { runId: runIds.at(-1) },
  ]);
});

describe('findAccounts', () => {
  const findAccounts = () => statements.findAccounts(DAY, merchant.owner.merchantId, () => Promise.resolve());

  /** Inserts a row at each of the times around the bounds of the day. Expects the accounts of the rows in the day. */
  async function expectAccountsOfDay(insertRow: (time: string, account: string) => Promise<unknown>): Promise<void> {
    for (const time of DAY_BOUNDARY_TIMES) await insertRow(time, `account at ${time}`);
    const accounts = (await findAccounts()).map(({ accountReference }) => accountReference).toSorted();
    expect(accounts).toEqual(DAY_BOUNDARY_TIMES.slice(1, 3).map((time) => `account at ${time}`));
  }

  test('returns the accounts of charges that started on the day', () =>
    expectAccountsOfDay(async (time, account) =>
      merchant.insertAttempt(await merchant.insertPayment(), { started_at: time, account }),
    ));

  test('returns the accounts of late approvals whose reversal was confirmed on the day', () =>
    expectAccountsOfDay(async (time, account) => {
      const attempt = { state: 'declined', started_at: DAYS_BEFORE, ended_at: DAYS_BEFORE, account };
      const attemptId = await merchant.insertAttempt(await merchant.insertPayment(), attempt);
      await merchant.insertReversal(attemptId, { confirmed_at: time });
    }));

  test('returns the accounts of charges that were reversed on the day', () =>
    expectAccountsOfDay(async (time, account) => {
      const attempt = { started_at: DAYS_BEFORE, ended_at: time };
      await merchant.insertAttempt(await merchant.insertPayment(), { ...attempt, state: 'reversed', account });
      await merchant.insertAttempt(await merchant.insertPayment(), { ...attempt, account: 'account of an approval' });
    }));

  test('returns the accounts of refunds that ended on the day', () =>
    expectAccountsOfDay(async (time, account) => {
      const payment = await merchant.insertPayment();
      const attempt = { started_at: DAYS_BEFORE, ended_at: DAYS_BEFORE, account };
      await merchant.insertRefund(payment, await merchant.insertAttempt(payment, attempt), {
        ...{ created_at: DAYS_BEFORE, ended_at: time },
      });
    }));

  test('returns the accounts of disputes that were booked on the day', () =>
    expectAccountsOfDay(async (time, account) => {
      const payment = await merchant.insertPayment();
      const attempt = { started_at: DAYS_BEFORE, ended_at: DAYS_BEFORE, account };
      await merchant.insertDispute(payment, await merchant.insertAttempt(payment, attempt), { booked_at: time });
    }));

  test('returns the days since the acquirer moved the money of a dispute', async () => {
    const payment = await merchant.insertPayment();
    const attemptId = await merchant.insertAttempt(payment, { started_at: DAYS_BEFORE, ended_at: DAYS_BEFORE });
    await merchant.insertDispute(payment, attemptId, { occurred_at: '2026-02-26T10:00:00.000Z' });
    const [account] = await findAccounts();
    expect(account!.days).toEqual(['2026-02-25', '2026-02-26', '2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02']);
  });

  test('returns the live and the test account of a merchant without movements', async () => {
    const { merchantId } = merchant.owner;
    await merchant.insert('known_merchants', {
      ...{
        merchant_id: merchantId,
        name: 'Shop',
        features: {},
        minimum_amount: 100,
        grants: '[]',
        fees: {},
        version: 1,
      },
    });
    const accounts = await findAccounts();
    expect(accounts.map(({ mode, days }) => [mode, days])).toEqual([
      ['live', [DAY]],
      ['test', [DAY]],
    ]);
  });
});
