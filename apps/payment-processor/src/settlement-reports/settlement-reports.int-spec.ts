/**
 * Settlement reports of the emulator of Adyen: their lines are stored and booked once, and the books of the platform
 * agree with them.
 */
import { openTransaction, waitForBlockedBackends } from '@svc/testing';
import { DAY_MS, SettledMerchant } from '../../test/adyen/settled-merchant.js';
import { forge } from '../../test/books/ledger.js';
import { StatementRepository } from '../reconciliation/statement.repository.js';
import { SettlementLineRepository } from './settlement-line.repository.js';

const DAY = '2026-03-01';
const RECEIVABLE = 'test:acquirer:adyen:receivable';
const PAYABLE = 'test:merchant:1001:payable';

let merchant: SettledMerchant;
beforeEach(async () => {
  merchant = await SettledMerchant.start();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await merchant.stop();
});

const today = () => merchant.processor.clock.nowISO().slice(0, 10);
const advanceDays = (days: number) => merchant.processor.clock.advance(days * DAY_MS);
const query = <Row>(text: string) => merchant.processor.dataSource.query<Row[]>(text);
const listUnmatched = () =>
  query<{ type: string }>(
    `SELECT type, gross_amount AS gross, problem FROM settlement_lines WHERE NOT is_matched ORDER BY line_number`,
  );

test('a settled and paid batch with a charge, a refund, a chargeback and fees agrees, and the acquirer owes nothing', async () => {
  const payment = await merchant.pay(12_345);
  await merchant.refund(payment, 345);
  const disputed = await merchant.pay(20_000);
  merchant.processor.clock.advance(1_000);
  await merchant.dispute(disputed, 'CHARGEBACK');
  await merchant.dispute(disputed, 'CHARGEBACK_REVERSED');
  await merchant.dispute(disputed, 'SECOND_CHARGEBACK');
  await merchant.pay(40_000);
  merchant.processor.clock.advance(1_000);
  const owed = 12_345 - 345 + 20_000 - 20_000 + 40_000;
  expect(await merchant.balances()).toMatchObject({ [RECEIVABLE]: owed, [PAYABLE]: -owed });
  expect(await merchant.countUnsettled(DAY)).toBe(7);
  expect(await merchant.compare(DAY)).toEqual([]);

  await merchant.settle();
  expect(await merchant.readNotes()).toEqual(['applied: 9 lines, 9 new']);
  // Shares of 0.3, 0.1 and 0.5 % of each charge, 7.50 for each chargeback, and 0.10 for each charge.
  const fees = [12_345, 20_000, 40_000].map((amount) =>
    [30, 10, 50].reduce((sum, points) => sum + Math.round((amount * points) / 10_000), 0),
  );
  const feeTotal = fees.reduce((sum, fee) => sum + fee, 0) + 2 * 750 + 3 * 10;
  expect(await merchant.balances()).toMatchObject({
    [RECEIVABLE]: 0,
    [PAYABLE]: -owed,
    'test:acquirer:adyen:fees': feeTotal,
    'test:service:bank': owed - feeTotal,
  });
  merchant.processor.clock.advance(1_000);
  expect(await listUnmatched()).toEqual([]);
  expect(await merchant.countUnsettled(DAY)).toBe(0);
  expect(await merchant.compare(DAY)).toEqual([]);
  // The ledger is sealed with the new kinds.
  await merchant.processor.sealLedger();
});

test('the ledger must have the fee and the payout of each line', async () => {
  await merchant.pay(12_345);
  await merchant.settle();
  merchant.processor.clock.advance(1_000);
  expect(await merchant.compare(DAY)).toEqual([]);
  await forge(
    merchant.processor,
    `DELETE FROM transfers WHERE kind = 'acquirerPayout'`,
    `UPDATE transfers SET amount = amount + 1 WHERE kind = 'acquirerFee' AND payment_id IS NOT NULL`,
    `UPDATE transfers SET credit_account = 'test:service:bank' WHERE kind = 'acquirerFee' AND payment_id IS NULL`,
  );
  expect((await merchant.compare(DAY)).map(({ book, kind, field }) => [book, kind, field])).toEqual([
    ['ledger', 'differs', 'amount'],
    ['ledger', 'differs', 'credit'],
    ['ledger', 'missing', null],
  ]);
});

test('fees and payouts are not in the statement of the merchant, and the database accepts each only with its line', async () => {
  const payment = await merchant.pay(12_345);
  await merchant.settle();
  expect(await merchant.readStatement(DAY)).toMatchObject({ totals: [{ net: 12_345, fees: { count: 0 } }] });
  const insert = (kind: string, line: string, payment_id: string) =>
    query(`INSERT INTO transfers (transfer_id, kind, debit_account, credit_account, amount, currency, mode, merchant_id, payment_id, settlement_line_id, created_at)
           SELECT gen_random_uuid(), '${kind}', 'a', 'b', 1, 'ZAR', 'test', 1001, ${payment_id}, ${line}, now()
             FROM payments WHERE payment_reference = '${payment.paymentReference}'`);
  const line = `(SELECT line_id FROM settlement_lines WHERE kind = 'payout')`;
  await expect(insert('acquirerFee', line, 'NULL')).rejects.toThrow('transfers_once_for_settlement_line');
  await expect(insert('acquirerFee', 'NULL', 'payment_id')).rejects.toThrow('transfers_settlement_line');
  await expect(insert('voucher', line, 'payment_id')).rejects.toThrow('transfers_settlement_line');
  await expect(insert('voucher', 'NULL', 'NULL')).rejects.toThrow('transfers_payment');
});

test('a movement is open until its line arrives, and a difference seven days after its outcome', async () => {
  const payment = await merchant.pay(12_345);
  await merchant.refund(payment, 345);
  merchant.changeLines((line) => (line.kind === 'refund' ? [] : [line]));
  await merchant.settle();
  merchant.processor.clock.advance(7 * DAY_MS - 1_000);
  expect(await merchant.compare(DAY)).toEqual([]);
  expect(await merchant.countUnsettled(DAY)).toBe(1);
  merchant.processor.clock.advance(10_000);
  expect(await merchant.compare(DAY)).toMatchObject([
    {
      book: 'acquirer',
      kind: 'missing',
      expected: { kind: 'refund', amount: 345, paymentReference: payment.paymentReference },
    },
  ]);
  expect(await merchant.countUnsettled(DAY)).toBe(0);
});

test('a line with another amount, or of another charge, is a difference at once and stays unmatched', async () => {
  await merchant.pay(12_345);
  // Differences are in the order of the payment references, which begin with the second of the payment.
  merchant.processor.clock.advance(1_000);
  await merchant.pay(20_000);
  merchant.changeLines((line) => [
    line.grossAmount === 12_345
      ? { ...line, grossAmount: 12_340 }
      : line.grossAmount === 20_000
        ? { ...line, chargeReference: 'another', acquirerReference: 'another' }
        : line,
  ]);
  await merchant.settle();
  merchant.processor.clock.advance(1_000);
  const differences = (await merchant.compare(DAY)).filter(({ book }) => book === 'acquirer');
  // They are in the order of the payments' references.
  expect(differences.toSorted((one, other) => one.kind.localeCompare(other.kind))).toMatchObject([
    { kind: 'differs', field: 'amount', expected: 12_345, found: 12_340 },
    { kind: 'unexpected', found: { acquirerReference: 'another', amount: 20_000 } },
  ]);
  expect(await listUnmatched()).toMatchObject([{ gross: 12_340 }, { gross: 20_000 }]);
});

test('a second line of the same capture is a difference', async () => {
  await merchant.pay(12_345);
  merchant.changeLines((line) => (line.kind === 'capture' ? [line, { ...line, lineNumber: 500 }] : [line]));
  await merchant.settle();
  merchant.processor.clock.advance(1_000);
  expect(await merchant.compare(DAY)).toMatchObject([{ book: 'acquirer', kind: 'unexpected' }]);
  expect(await listUnmatched()).toHaveLength(1);
  expect(await merchant.readNotes()).toEqual(['incident: 4 lines, 4 new; the lines do not add up to the payout']);
});

describe('money that came back', () => {
  test('in the same batch has no lines, and agrees', async () => {
    const payment = await merchant.pay(12_345);
    await merchant.returnRefund(await merchant.refund(payment, 345));
    const failed = await merchant.pay(20_000);
    merchant.processor.clock.advance(1_000);
    await merchant.failCapture(failed);
    await merchant.settle();
    advanceDays(10);
    expect(await merchant.compare(DAY)).toEqual([]);
    expect(await merchant.balances()).toMatchObject({ [RECEIVABLE]: 0 });
  });

  test('has no lines when both movements are in the same batch: its day is looked at for seven days, and is then settled', async () => {
    const payment = await merchant.pay(12_345);
    await merchant.returnRefund(await merchant.refund(payment, 345));
    await merchant.settle();
    merchant.processor.clock.advance(1_000);
    expect(await merchant.compare(DAY)).toEqual([]);
    expect(await merchant.countUnsettled(DAY)).toBe(2);
    advanceDays(7);
    expect(await merchant.countUnsettled(DAY)).toBe(0);
    expect(await merchant.compare(DAY)).toEqual([]);
  });

  test('is a difference when a later batch contains only one of its two movements', async () => {
    const payment = await merchant.pay(12_345);
    await merchant.returnRefund(await merchant.refund(payment, 345));
    await merchant.settle();
    // The acquirer settles the refund, and never its return.
    await query(
      `UPDATE settlement_lines SET kind = 'refund', gross_amount = -345, is_matched = true, movement_id = (SELECT refund_id FROM refunds),
              acquirer_reference = (SELECT acquirer_reference FROM refunds), payment_reference = '${payment.paymentReference}'
        WHERE kind = 'fee'`,
    );
    advanceDays(6);
    expect(await merchant.countUnsettled(DAY)).toBe(1);
    advanceDays(2);
    expect((await merchant.compare(DAY)).filter(({ book }) => book === 'acquirer')).toMatchObject([
      { kind: 'missing', expected: { kind: 'refundReturn', amount: 345 } },
    ]);
  });

  test('in a later batch has a line there, and is open until then', async () => {
    const payment = await merchant.pay(12_345);
    const reference = await merchant.refund(payment, 345);
    await merchant.settle();
    advanceDays(3);
    await merchant.returnRefund(reference);
    const returnDay = today();
    merchant.processor.clock.advance(1_000);
    expect(await merchant.compare(DAY)).toEqual([]);
    expect(await merchant.compare(returnDay)).toEqual([]);
    expect(await merchant.countUnsettled(returnDay)).toBe(1);
    await merchant.settle();
    advanceDays(8);
    expect(await merchant.compare(DAY)).toEqual([]);
    expect(await merchant.compare(returnDay)).toEqual([]);
    expect(await merchant.balances()).toMatchObject({ [RECEIVABLE]: 0 });
  });

  test('is a difference when the acquirer never returns it', async () => {
    const payment = await merchant.pay(12_345);
    const reference = await merchant.refund(payment, 345);
    await merchant.settle();
    await merchant.returnRefund(reference);
    advanceDays(8);
    expect(await merchant.compare(DAY)).toMatchObject([
      { kind: 'missing', expected: { kind: 'refundReturn', amount: 345 } },
    ]);
  });
});

describe('a report', () => {
  test('that is announced twice, or read again, changes nothing', async () => {
    await merchant.pay(12_345);
    await merchant.settle();
    const before = [await merchant.balances(), await query(`SELECT * FROM settlement_lines ORDER BY line_id`)];
    expect(await merchant.readReport()).toBe(false);
    await query(
      `UPDATE acquirer_reports SET effect = NULL, next_apply_at = received_at WHERE report ->> 'kind' = 'statement'`,
    );
    expect(await merchant.readReport()).toBe(true);
    expect([await merchant.balances(), await query(`SELECT * FROM settlement_lines ORDER BY line_id`)]).toEqual(before);
    expect(await merchant.readNotes()).toEqual(['none: 3 lines, 0 new']);
  });

  test('that differs from the stored lines of its batch is an incident, and the stored lines stay', async () => {
    await merchant.pay(12_345);
    await merchant.settle();
    const before = await merchant.balances();
    merchant.changeLines((line) => [line.kind === 'capture' ? { ...line, netAmount: 1, feeAmount: 12_344 } : line]);
    await query(
      `UPDATE acquirer_reports SET effect = NULL, next_apply_at = received_at WHERE report ->> 'kind' = 'statement'`,
    );
    await merchant.readReport();
    expect(await merchant.balances()).toEqual(before);
    expect(await merchant.readNotes()).toEqual([
      'incident: 3 lines, 0 new; 1 lines differ from the stored lines of the batch; the lines do not add up to the payout',
    ]);
  });

  test('whose reading ends in the middle is continued later, and each line is booked once', async () => {
    await merchant.pay(12_345);
    await merchant.closeBatch();
    let isBroken = true;
    merchant.changeLines((line) => {
      if (isBroken && line.kind === 'payout') throw new Error('The connection was lost.');
      return [line];
    });
    await merchant.readReport();
    const [waiting] = await query<{ effect: null; note: string }>(
      `SELECT effect, note FROM acquirer_reports WHERE report ->> 'kind' = 'statement'`,
    );
    expect(waiting).toEqual({ effect: null, note: 'The connection was lost.' });
    isBroken = false;
    expect(await merchant.readReport()).toBe(false);
    merchant.processor.clock.advance(60_000);
    expect(await merchant.readReport()).toBe(true);
    expect(await merchant.balances()).toMatchObject({ [RECEIVABLE]: 0 });
  });

  test('with unknown types, problems and foreign accounts is stored, counted and listed', async () => {
    await merchant.pay(12_345);
    merchant.changeLines((line) => [
      line.kind === 'fee' ? { ...line, kind: 'unknown', type: 'NewCosts', feeAmount: undefined } : line,
      ...(line.kind === 'capture' ? [{ ...line, lineNumber: 100, accountReference: 'Unknown' }] : []),
    ]);
    await merchant.settle();
    expect(await merchant.readNotes()).toEqual([
      expect.stringContaining('1 lines are of accounts that no merchant has; 1 lines are not usable'),
    ]);
    expect(await listUnmatched()).toMatchObject([{ type: 'NewCosts' }]);
  });
});

test('a dispute that is reported after its line matches then', async () => {
  const payment = await merchant.pay(12_345);
  await merchant.dispute(payment, 'CHARGEBACK');
  const reports = await query<{ report_reference: string }>(
    `UPDATE dispute_reports SET report_reference = 'hidden' RETURNING report_reference`,
  );
  expect(reports).toHaveLength(2);
  await merchant.settle();
  expect(await listUnmatched()).toMatchObject([{ type: 'Chargeback' }]);
  await query(
    `UPDATE dispute_reports SET report_reference = (SELECT dispute_report_reference FROM settlement_lines WHERE kind = 'dispute')`,
  );
  await merchant.settle();
  expect(await listUnmatched()).toEqual([]);
});

test('a report of an account that no merchant has books nothing', async () => {
  await merchant.pay(12_345);
  await query(`UPDATE merchant_accounts SET account = 'Other'`);
  const before = await merchant.balances();
  await merchant.settle();
  expect(await merchant.balances()).toEqual(before);
  expect(await merchant.readNotes()).toEqual([
    'incident: 3 lines, 0 new; 3 lines are of accounts that no merchant has',
  ]);
});

test('a reconciliation reads no statement of a day for an account that is settled by reports', async () => {
  await merchant.pay(12_345);
  const statements = merchant.processor.service.app.get(StatementRepository);
  const accounts = await statements.findAccounts(DAY, merchant.merchantId, () => Promise.resolve());
  expect(accounts.map(({ acquirer }) => acquirer)).not.toContain('adyen');
});

describe('a line matches only a movement', () => {
  const settleWithout = async (statement: string): Promise<readonly { type: string }[]> => {
    const payment = await merchant.pay(12_345);
    await merchant.refund(payment, 345);
    await merchant.dispute(payment, 'CHARGEBACK');
    await forge(merchant.processor, statement);
    await merchant.settle();
    return listUnmatched();
  };
  const ALL = ['Settled', 'Refunded', 'Chargeback'];

  test.each([
    ['of its acquirer', `UPDATE attempts SET acquirer = 'simulated'`, ALL],
    ['of its account', `UPDATE attempts SET account = 'other'`, ALL],
    ['of its mode', `UPDATE payables SET mode = 'live'`, ALL],
    ['in its currency', `UPDATE payables SET currency = 'USD'`, ALL],
    ['of its charge', `UPDATE attempts SET acquirer_reference = 'other'`, ['Settled', 'Refunded']],
    ['with its reference', `UPDATE refunds SET acquirer_reference = 'other'`, ['Refunded']],
    ['that has an outcome', `UPDATE dispute_reports SET booked_at = NULL`, ['Chargeback']],
    ['of its dispute in its mode', `UPDATE dispute_reports SET mode = 'live'`, ['Chargeback']],
    ['of its dispute at its acquirer', `UPDATE dispute_reports SET acquirer = 'simulated'`, ['Chargeback']],
  ])('%s', async (_, statement, types) =>
    expect((await settleWithout(statement)).map(({ type }) => type)).toEqual(types),
  );
});

test('a refund of another payment is not the refund of a line', async () => {
  const [first, second] = [await merchant.pay(12_345), await merchant.pay(20_000)];
  await merchant.refund(first, 345);
  const [{ reference }] = (await query<{ reference: string }>(
    `SELECT a.acquirer_reference AS reference FROM attempts a JOIN payments p USING (payment_id) WHERE p.payment_reference = '${second.paymentReference}'`,
  )) as [{ reference: string }];
  merchant.changeLines((line) => [
    line.kind === 'refund' ? { ...line, paymentReference: second.paymentReference, chargeReference: reference } : line,
  ]);
  await merchant.settle();
  expect(await listUnmatched()).toMatchObject([{ type: 'Refunded' }]);
});

test('two jobs that match the same lines lock them in the same order, so they cannot deadlock', async () => {
  await merchant.pay(12_345);
  await merchant.pay(20_000);
  await merchant.settle();
  const rows = await query<{ id: string }>(
    `SELECT line_id AS id FROM settlement_lines WHERE kind = 'capture' ORDER BY line_id`,
  );
  const [first, second] = rows.map(({ id }) => id);
  // In the table, the second line is now before the first one.
  for (const id of [second, first])
    await query(`UPDATE settlement_lines SET is_matched = false WHERE line_id = '${id}'`);
  const { dataSource, service } = merchant.processor;
  await using other = await openTransaction(dataSource);
  const lock = (id: string | undefined): Promise<unknown> =>
    other.query(`SELECT FROM settlement_lines WHERE line_id = $1 FOR UPDATE`, [id]);
  await lock(first);
  const transactions = jest.spyOn(dataSource, 'transaction');
  const matched = service.app.get(SettlementLineRepository).match();
  await waitForBlockedBackends(dataSource, 1);
  await lock(second);
  await other.commit();
  await matched;
  // A deadlock would be retried.
  expect(transactions).toHaveBeenCalledTimes(1);
  expect(await listUnmatched()).toEqual([]);
});
