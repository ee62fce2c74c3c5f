/** Checks that the statements of disputes find their rows by indexes, even before the tables are analysed. */
import { randomUUID } from 'node:crypto';
import { inTransaction, type Transaction } from '@svc/persistence';
import { planOf } from '@svc/testing';
import { type Processor, startProcessor } from '../../test/processor.js';
import type { DisputeReport } from '../acquirers/dispute-report.js';
import { AdminDisputesQuery } from './admin-disputes.query.js';
import { DisputeRepository } from './dispute.repository.js';
import { ListDisputesQuery } from './list-disputes.query.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

const REPORT: DisputeReport = {
  ...({ acquirer: 'adyen', mode: 'test', charge: { paymentReference: 'P' }, disputeReference: 'D' } as const),
  ...({ reportReference: 'R', kind: 'debited', amount: 1, currencyISOCode: 'ZAR', reason: {} } as const),
  ...{ respondBy: undefined, occurredAt: new Date() },
};
const OWNER = { merchantId: 1001, mode: 'test', siteId: undefined } as const;
const apply = (run: (tx: Transaction, disputes: DisputeRepository) => Promise<unknown>): Promise<unknown> =>
  inTransaction(processor.dataSource, (tx) => run(tx, processor.service.app.get(DisputeRepository)));
const getAdminDisputes = () => processor.service.app.get(AdminDisputesQuery);

test.each<[string, () => Promise<unknown>, string[]]>([
  [
    'the charge of a report by its idempotency key',
    () => apply((tx, disputes) => disputes.lockCharge(tx, { ...REPORT, charge: { idempotencyKey: randomUUID() } })),
    ['attempts_pkey', 'payments_pkey', 'payables_pkey', 'captures_pkey'],
  ],
  [
    'the charge of a report by its payment',
    () => apply((tx, disputes) => disputes.lockCharge(tx, REPORT)),
    ['payments_payment_reference', 'payables_pkey', 'attempts_one_open', 'captures_pkey'],
  ],
  ['a dispute', () => apply((tx, disputes) => disputes.find(tx, REPORT)), ['disputes_one_each']],
  [
    'a report of another dispute',
    () => apply((tx, disputes) => disputes.isReportOfOtherDispute(tx, REPORT, undefined)),
    ['dispute_reports_once'],
  ],
  ['the newest decided disputes', () => getAdminDisputes().list(), ['disputes_pkey', 'payments_pkey', 'payables_pkey']],
  [
    'the disputes of a payment, for administrators',
    () => getAdminDisputes().listOfPayment('P'),
    ['payments_payment_reference', 'disputes_of_payment', 'dispute_incidents_of_dispute'],
  ],
  ['the newest impossible reports', () => getAdminDisputes().listIncidents(), ['dispute_incidents_newest']],
  ['the open disputes, for metrics', () => getAdminDisputes().countOpen(new Date()), ['disputes_open']],
  [
    'the disputes of a payment',
    () => processor.service.app.get(ListDisputesQuery).list(OWNER, 'P'),
    ['payments_payment_reference', 'payables_pkey', 'disputes_of_payment'],
  ],
])('the statement that reads %s uses indexes', async (_, runQuery, indexes) => {
  const plan = await planOf(processor.dataSource, runQuery);
  expect(plan).not.toMatch(/Seq Scan/);
  for (const index of indexes) expect(plan).toMatch(new RegExp(`(using|on) ${index}\\b`));
});
