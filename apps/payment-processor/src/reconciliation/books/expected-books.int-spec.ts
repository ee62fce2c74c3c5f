/**
 * Compares the statements of the expected books with the functions that build the messages and transfers, on generated
 * payments: a rule that is changed only in one of them fails this test.
 */
import { randomUUID } from 'node:crypto';
import {
  type BookLine,
  buildMerchantPayment,
  type DisputeStage,
  isPartnerPayment,
  type PayableSource,
  type PaymentSnapshot,
  type RefundedPayment,
} from '@svc/contracts';
import { buildPaymentNotification, canonicalId, newUuidAt } from '@svc/kernel';
import fc from 'fast-check';
import { buildInvoicePayable, buildPayable } from '../../../test/builders.js';
import { type Processor, startProcessor } from '../../../test/processor.js';
import { EARLY, RANGE, ReconciledMerchant, type StoredPayment, WATERMARK } from '../../../test/reconciled-rows.js';
import { paymentTransfers, refundTransfer, type Transfer } from '../../ledger/transfer.js';
import { vouchersTotal } from '../../payables/amount-to-process.js';
import { PAYMENT_MAP, rowFromPayment } from '../../payments/payment-columns.js';
import { type BookName, ReconciliationBooks } from './books.js';

let processor: Processor;
let merchant: ReconciledMerchant;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

const FEE_TERMS = { basisPoints: 290, fixedAmount: 150 };
const CHARGE = { acquirer: 'simulated', feeTerms: FEE_TERMS };

interface GeneratedPayment {
  readonly payment: PaymentSnapshot;
  readonly refundedAmount: number;
}

const text = fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme-ascii' });

const source: fc.Arbitrary<PayableSource> = fc.oneof(
  fc.record({ merchantOrderId: text }).map((fields) => ({ ...buildPayable().source, ...fields })),
  fc.record({ externalReference: text }, { requiredKeys: [] }).map((fields) => ({
    ...buildInvoicePayable().source,
    ...fields,
  })),
);

const generatedPayment: fc.Arbitrary<GeneratedPayment> = fc
  .record({
    source,
    state: fc.constantFrom('success', 'failed'),
    isOfPartner: fc.boolean(),
    customerId: fc.oneof(
      fc.uuid(),
      fc.uuid().map((id) => id.toUpperCase()),
      text,
    ),
    card: fc.integer({ min: 0, max: 100_000 }),
    tip: fc.integer({ min: 0, max: 10_000 }),
    vouchers: fc.array(fc.record({ merchantLiable: fc.boolean(), amount: fc.integer({ min: 1, max: 9_999 }) }), {
      maxLength: 3,
    }),
    isExternal: fc.boolean(),
    names: fc.record({ merchantName: text, siteReference: text }),
    references: fc.record({ orderReference: text, invoiceExternalReference: text }, { requiredKeys: [] }),
    refundShare: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map((terms) => {
    const vouchers = terms.isOfPartner ? terms.vouchers : [];
    const isVoucherOnly = vouchers.length > 0 && terms.card === 0;
    const tipAmount = isVoucherOnly ? 0 : terms.tip;
    const amount = vouchersTotal(vouchers) + (isVoucherOnly ? 0 : terms.card + 1);
    const isExternal = terms.isOfPartner && terms.isExternal && !isVoucherOnly;
    const processedAmount = terms.state === 'success' ? amount - vouchersTotal(vouchers) + tipAmount : 0;
    const payment = {
      ...terms.names,
      reference: '',
      paymentReference: '',
      ...{ mode: 'test', merchantId: 0, siteId: 5001, state: terms.state },
      ...{ currencyISOCode: 'ZAR', invoicedAmount: 1_000_000, amount, tipAmount, processedAmount },
      ...{ paymentUTCDate: EARLY, modifiedUTCDate: EARLY, source: terms.source },
      paymentMethodType: isVoucherOnly ? 'Voucher' : isExternal ? 'External' : 'Card',
      paymentMethodLabel: isVoucherOnly || isExternal ? 'Other' : '**** 4242',
      errors: terms.state === 'failed' ? [{ errorReference: '10', message: 'Declined.' }] : [],
      payable: { payableId: '', state: 'closed', version: 1, paymentCount: 1 },
      ...(terms.isOfPartner
        ? {
            ...terms.references,
            invoiceReference: 'invoice-1',
            partner: {
              organisationId: '5b1d6f0c-9f5e-4a55-8d5b-3d8c8f1f0a11',
              customer: { id: terms.customerId, firstName: 'Thandi', lastName: 'Ngubane' },
            },
            ...(vouchers.length > 0 ? { vouchers } : {}),
          }
        : {}),
    } as PaymentSnapshot;
    return {
      payment,
      refundedAmount: payment.paymentMethodType === 'Card' ? Math.ceil(processedAmount * terms.refundShare) : 0,
    };
  });

/** A run of the property has new ids, because the rows of earlier runs still exist. */
function withNewIds({ payment, refundedAmount }: GeneratedPayment): GeneratedPayment {
  const payable = { ...payment.payable, payableId: randomUUID() };
  const ids = { reference: randomUUID().toUpperCase(), paymentReference: `ref-${randomUUID()}` };
  return { payment: { ...payment, ...ids, merchantId: merchant.owner.merchantId, payable }, refundedAmount };
}

/** Inserts a payment, its attempt and its refund. Returns the states that were published. */
async function insert({ payment, refundedAmount }: GeneratedPayment): Promise<(PaymentSnapshot | RefundedPayment)[]> {
  const paymentId = randomUUID();
  const row = rowFromPayment(paymentId, payment);
  const columns = Object.entries(PAYMENT_MAP).map(([property, [column, type]]) => {
    return [column, type === 'jsonb' ? JSON.stringify(row[property]) : row[property]];
  });
  await merchant.insertPayment(
    {
      ...(Object.fromEntries(columns) as Record<string, unknown>),
      ...(payment.partner ? {} : { partner: null }),
      ...{ fee_basis_points: FEE_TERMS.basisPoints, fee_fixed_amount: FEE_TERMS.fixedAmount },
    },
    { payable_id: payment.payable.payableId, amount: payment.invoicedAmount, source: JSON.stringify(payment.source) },
  );
  if (payment.paymentMethodType !== 'Card') return [payment];
  const stored = { paymentId, paymentReference: payment.paymentReference };
  const attemptId = await merchant.insertAttempt(stored, {
    state: payment.state === 'success' ? 'approved' : 'declined',
  });
  if (refundedAmount === 0) return [payment, ...(await insertDispute(stored, attemptId, payment))];
  const refundId = newUuidAt(new Date(EARLY));
  await merchant.insertRefund(stored, attemptId, { refund_id: refundId, amount: refundedAmount });
  const refund = { refundReference: refundId, amount: refundedAmount, status: 'succeeded', createdUTCDate: EARLY };
  return [payment, { ...payment, refund } as RefundedPayment];
}

/** Inserts a dispute of the payment with two changes, one with and one without a deadline. Returns what was published. */
async function insertDispute(
  stored: StoredPayment,
  attemptId: string,
  payment: PaymentSnapshot,
): Promise<PaymentSnapshot[]> {
  const { disputeId } = await merchant.insertDispute(stored, attemptId, { booked_at: null });
  const change = async (version: number, stage: DisputeStage, deadline: { respondByUTCDate?: string }) => {
    const fields = { version, stage, amount: 10 + version, respond_by: deadline.respondByUTCDate ?? null };
    const changeReference = await merchant.insertDisputeChange(disputeId, fields);
    const dates = { ...deadline, createdUTCDate: EARLY, changedUTCDate: EARLY };
    const dispute = { disputeReference: disputeId, stage, amount: fields.amount, reason: '10.4', ...dates };
    return { ...payment, dispute: { ...dispute, changeReference } };
  };
  return [await change(1, 'opened', { respondByUTCDate: '2026-03-09T10:00:00.123Z' }), await change(2, 'debited', {})];
}

async function readLines(name: BookName): Promise<unknown[]> {
  const comparisons = processor.service.app.get(ReconciliationBooks).buildComparisons({
    ...{ runId: randomUUID(), watermark: new Date(WATERMARK), notifiedSites: [] },
    reversals: () => Promise.resolve('[]'),
  });
  const { expected } = comparisons.find((comparison) => comparison.name === name)!;
  const { lines } = await expected.lines(RANGE, merchant.owner, { after: undefined });
  return lines.map(({ line }: BookLine) => line);
}

/** With sorted members, and without members that are null, because a book has a null if the message has no member. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, canonical(member)] as const).toSorted());
}
const sortLines = (lines: readonly unknown[]): string[] =>
  lines.map((line) => JSON.stringify(canonical(line))).toSorted();

const toStreamLine = (snapshot: PaymentSnapshot): object => {
  const { customer: _, ...body } = buildPaymentNotification(snapshot).notification;
  return { ...body, rowType: body.type, rowSiteId: snapshot.siteId };
};
const toRetrievalLine = (payment: PaymentSnapshot): object => {
  const { customer: _, paymentReference: __, ...line } = buildMerchantPayment(payment);
  return { ...line, version: 1 };
};
const toHistoryLines = (payment: PaymentSnapshot): object[] =>
  isPartnerPayment(payment)
    ? [
        {
          ...{ reference: payment.reference, organisationId: payment.partner.organisationId, state: payment.state },
          ...{ customerId: payment.partner.customer.id, customerKey: canonicalId(payment.partner.customer.id) },
          ...{ currency: payment.currencyISOCode, invoicedAmount: payment.invoicedAmount, amount: payment.amount },
          ...{ tipAmount: payment.tipAmount, processedAmount: payment.processedAmount, errors: payment.errors },
          ...{ paymentUTCDate: payment.paymentUTCDate, modifiedUTCDate: payment.modifiedUTCDate, version: 1 },
          ...{ methodType: payment.paymentMethodType, methodLabel: payment.paymentMethodLabel },
          ...{ merchantName: payment.merchantName, siteReference: payment.siteReference },
          invoiceReference: payment.invoiceReference,
          invoiceExternalReference: payment.invoiceExternalReference,
        },
      ]
    : [];
const toTransfers = ({ payment, refundedAmount }: GeneratedPayment): Transfer[] => [
  ...paymentTransfers(payment, payment.paymentMethodType === 'Card' ? CHARGE : undefined),
  ...(refundedAmount > 0 ? [refundTransfer(payment, CHARGE.acquirer, refundedAmount)] : []),
];

test('the expected rows of generated payments are the same as the messages and transfers of these payments', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(generatedPayment, { minLength: 10, maxLength: 40 }), async (generated) => {
      merchant = new ReconciledMerchant(processor);
      const payments = generated.map(withNewIds);
      const snapshots: PaymentSnapshot[] = [];
      for (const payment of payments) snapshots.push(...(await insert(payment)));
      const final = payments.map(({ payment }) => payment);
      expect(sortLines(await readLines('stream'))).toEqual(sortLines(snapshots.map(toStreamLine)));
      expect(sortLines(await readLines('retrieval'))).toEqual(sortLines(final.map(toRetrievalLine)));
      expect(sortLines(await readLines('history'))).toEqual(sortLines(final.flatMap(toHistoryLines)));
      const transfers = payments.flatMap(toTransfers).map((transfer) => ({ ...transfer, currency: 'ZAR' }));
      expect(sortLines(await readLines('ledger'))).toEqual(sortLines(transfers));
    }),
    { numRuns: 10 },
  );
});
