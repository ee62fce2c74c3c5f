import { buildPayable } from '../../test/builders.js';
import { TestDispute } from '../../test/disputes.js';
import { type Processor, startProcessor } from '../../test/processor.js';

let processor: Processor;
let dispute: TestDispute;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());
beforeEach(async () => {
  dispute = new TestDispute(processor, await processor.pay(buildPayable()));
});

describe('the database schema', () => {
  const violated = (change: Promise<unknown>): Promise<string> =>
    change.then(
      () => 'none',
      ({ driverError }: { driverError: { constraint: string } }) => driverError.constraint,
    );

  test('rejects a second transfer of a report, and a transfer of a dispute without its report', async () => {
    await dispute.report('debited');
    const copy = (columns: string) =>
      processor.dataSource.query(
        `INSERT INTO transfers (transfer_id, kind, debit_account, credit_account, amount, currency, mode, merchant_id, payment_id, dispute_report_id, created_at)
         SELECT gen_random_uuid(), ${columns}, created_at FROM transfers t
          WHERE dispute_report_id IN (SELECT report_id FROM dispute_reports r JOIN disputes d USING (dispute_id) WHERE d.acquirer_reference = $1)`,
        [dispute.disputeReference],
      );
    const rest = 'debit_account, credit_account, amount, currency, mode, merchant_id, payment_id';
    expect(await violated(copy(`kind, ${rest}, dispute_report_id`))).toBe('transfers_one_dispute_report');
    expect(await violated(copy(`'disputeReversal', ${rest}, dispute_report_id`))).toBe('transfers_one_dispute_report');
    expect(await violated(copy(`kind, ${rest}, NULL`))).toBe('transfers_dispute');
    expect(await violated(copy(`'fee', ${rest}, dispute_report_id`))).toBe('transfers_dispute');
  });

  test('rejects a second movement of a kind, and a booking of a report without a movement', async () => {
    await dispute.report('debited');
    await dispute.report('commented');
    const change = (set: string, kind: string) =>
      processor.dataSource.query(
        `UPDATE dispute_reports SET ${set} WHERE kind = $2 AND dispute_id = (SELECT dispute_id FROM disputes WHERE acquirer_reference = $1)`,
        [dispute.disputeReference, kind],
      );
    expect(await violated(change(`kind = 'debited'`, 'commented'))).toBe('dispute_reports_movements');
    expect(await violated(change('booked_at = now()', 'commented'))).toBe('dispute_reports_booked');
  });
});
