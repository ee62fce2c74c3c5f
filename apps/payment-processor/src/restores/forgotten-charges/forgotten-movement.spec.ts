import { randomUUID } from 'node:crypto';
import type { ReportedPayment } from '@svc/contracts';
import { type ChargeFacts, type ForgottenMovement, planRepair } from './forgotten-movement.js';

const MOVEMENT: ForgottenMovement = {
  route: { acquirer: 'simulated', account: { mode: 'test', accountReference: 'merchant-1001' } },
  merchantId: 1001,
  line: {
    kind: 'charge',
    idempotencyKey: randomUUID(),
    acquirerReference: 'a-1',
    paymentReference: 'REFERENCE',
    amount: 12_445,
    currencyISOCode: 'ZAR',
    movedUTCDate: '2026-03-01T10:00:00.000Z',
  },
};
const REPORT: ReportedPayment = {
  ...{ paymentReference: 'REFERENCE', reference: randomUUID(), mode: 'test', merchantId: 1001, siteId: 5001 },
  ...{ payableId: randomUUID(), payableVersion: 3, paymentCount: 1, invoicedAmount: 12_345, currencyISOCode: 'ZAR' },
  ...{ amount: 12_345, tipAmount: 100, paymentMethodLabel: '**** 4242', paymentUTCDate: '2026-03-01T10:00:00.000Z' },
};
const UNREPORTED: ChargeFacts = {
  ...{ report: undefined, isReportedToMerchant: false, isPaymentKnown: false },
  ...{ hasForgottenRefunds: false, reversesReported: false },
};
const REPORTED: ChargeFacts = { ...UNREPORTED, report: REPORT, isReportedToMerchant: true };
const kindOf = (facts: ChargeFacts, movement = MOVEMENT) => {
  const plan = planRepair(movement, facts);
  return plan.kind === 'unresolved' ? plan.reason : plan.kind;
};

test('a charge that was reported as a success is recorded, also with refunds; any other charge is reversed', () => {
  expect(planRepair(MOVEMENT, REPORTED)).toEqual({ kind: 'record', report: REPORT });
  expect(kindOf({ ...REPORTED, hasForgottenRefunds: true, reversesReported: true })).toBe('record');
  expect(kindOf(UNREPORTED)).toBe('reverse');
});

test.each<[string, Partial<ReportedPayment>]>([
  ['reference', { paymentReference: 'OTHER' }],
  ['amount', { amount: 12_346 }],
  ['tip', { tipAmount: 0 }],
  ['currency', { currencyISOCode: 'USD' }],
  ['mode', { mode: 'live' }],
  ['merchant', { merchantId: 1002 }],
])('a report with another %s does not decide about the charge', (_, difference) => {
  const facts = { ...REPORTED, report: { ...REPORT, ...difference } };
  expect(kindOf(facts)).toBe('report-does-not-match');
  expect(kindOf({ ...facts, reversesReported: true })).toBe('reverse');
});

test('a payment that the database contains without this attempt is not recorded a second time', () => {
  expect(kindOf({ ...REPORTED, isPaymentKnown: true })).toBe('report-does-not-match');
  expect(kindOf({ ...UNREPORTED, isPaymentKnown: true })).toBe('reverse');
});

test('a charge that the merchant can read as a success is reversed only by the decision of an administrator', () => {
  const facts = { ...UNREPORTED, isReportedToMerchant: true };
  expect([kindOf(facts), kindOf({ ...facts, reversesReported: true })]).toEqual(['reported-as-success', 'reverse']);
});

test('a charge with refunds that cannot be recorded, and a charge of another program, are never reversed', () => {
  const reverses = { ...UNREPORTED, reversesReported: true };
  expect(kindOf({ ...reverses, hasForgottenRefunds: true })).toBe('charge-with-refunds');
  const foreign = { ...MOVEMENT, line: { ...MOVEMENT.line, idempotencyKey: 'not a UUID' } };
  expect([kindOf(reverses, foreign), kindOf(REPORTED, foreign)]).toEqual(['foreign-key', 'foreign-key']);
});
