import { randomUUID } from 'node:crypto';
import {
  DisputeChangedV1,
  type DisputedPayment,
  type EventEnvelope,
  type PartnerPayment,
  PaymentFailedV1,
  type PaymentInProgress,
  PaymentProcessingV1,
  type PaymentSnapshot,
  type PaymentState,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
  type RefundedPayment,
  RefundFailedV1,
  RefundSucceededV1,
} from '@svc/contracts';
import { newPaymentReference, newUuidAt } from '@svc/kernel';
import { anEvent } from './test-service.js';

/** A successful payment of R 123.45 and a tip of R 10.00 for an invoice, as payment-processor publishes it. */
export function aPayment(
  organisationId: string,
  customerId: string,
  overrides: Partial<PartnerPayment> = {},
): PartnerPayment {
  const payableId = randomUUID();
  return {
    reference: randomUUID(),
    paymentReference: newPaymentReference(new Date('2026-03-01T10:00:00.000Z')),
    mode: 'test',
    merchantId: 1001,
    siteId: 5001,
    state: 'success',
    currencyISOCode: 'ZAR',
    invoicedAmount: 12_345,
    amount: 12_345,
    tipAmount: 1_000,
    processedAmount: 13_345,
    paymentUTCDate: '2026-03-01T10:00:00.123Z',
    modifiedUTCDate: '2026-03-01T10:00:01.456Z',
    paymentMethodType: 'Card',
    paymentMethodLabel: '**** 4242',
    errors: [],
    source: {
      kind: 'invoice',
      invoiceReference: payableId,
      siteReference: 'TILL-1',
      code: '01234567890123456789',
    },
    payable: { payableId, state: 'paid', version: 3, paymentCount: 1 },
    partner: { organisationId, customer: { id: customerId, firstName: 'Thandi', lastName: 'Nkosi' } },
    merchantName: 'Karoo Books',
    siteReference: 'TILL-1',
    ...overrides,
  };
}

/** A payment on a hosted page, by an anonymous payer. */
export function anAnonymousPayment(): PaymentSnapshot {
  const { partner: _, ...payment } = aPayment(randomUUID(), 'x');
  const sessionId = payment.payable.payableId;
  const notificationUrl = 'https://shop.example/hook';
  return {
    ...payment,
    source: {
      ...{ kind: 'session', sessionId, apiVersion: 'v3.1', merchantOrderId: 'order-1', notificationUrl },
      code: '01234567890123456789',
    },
  };
}

/** The content of `payment.processing` for this payment of a payer on a page. */
export function inProgress(payment: PaymentSnapshot): PaymentInProgress {
  const { reference, paymentReference, paymentUTCDate, modifiedUTCDate, payable, source } = payment;
  return {
    ...{ reference, paymentReference, paymentUTCDate, modifiedUTCDate, payable },
    state: 'processing',
    source: { kind: source.kind },
  };
}

const EVENT_TYPE_OF_STATE: Readonly<Record<PaymentState, typeof PaymentProcessingV1>> = {
  processing: PaymentProcessingV1,
  verificationRequired: PaymentVerificationRequiredV1,
  success: PaymentSucceededV1,
  failed: PaymentFailedV1,
};

/** The event that publishes the payment. */
export function paymentEvent(payment: PaymentSnapshot, version = 2): EventEnvelope<PaymentSnapshot> {
  return { ...anEvent(EVENT_TYPE_OF_STATE[payment.state], payment.reference, version, payment), payload: payment };
}

/** The event of a successful refund of R 23.45 of this payment, as payment-processor publishes it. */
export function refundOf(
  payment: PaymentSnapshot,
  overrides: Partial<RefundedPayment['refund']> = {},
): EventEnvelope<RefundedPayment> {
  const refund = {
    refundReference: randomUUID(),
    amount: 2_345,
    status: 'succeeded' as const,
    createdUTCDate: '2026-03-01T10:05:00.000Z',
    ...overrides,
  };
  const type = refund.status === 'succeeded' ? RefundSucceededV1 : RefundFailedV1;
  return anEvent(type, refund.refundReference, 1, { ...payment, refund });
}

/** The event of a debited dispute of R 23.45 of this payment, as payment-processor publishes it. */
export function disputeOf(
  payment: PaymentSnapshot,
  overrides: Partial<DisputedPayment['dispute']> = {},
  version = 1,
): EventEnvelope<DisputedPayment> {
  const dispute: DisputedPayment['dispute'] = {
    disputeReference: randomUUID(),
    stage: 'debited',
    amount: 2_345,
    reason: '10.4 Other Fraud-Card Absent Environment',
    respondByUTCDate: '2026-03-15T10:00:00.000Z',
    createdUTCDate: '2026-03-01T10:05:00.000Z',
    changeReference: newUuidAt(new Date('2026-03-01T10:06:00.000Z')),
    changedUTCDate: '2026-03-01T10:06:00.000Z',
    ...overrides,
  };
  return anEvent(DisputeChangedV1, dispute.disputeReference, version, { ...payment, dispute });
}
