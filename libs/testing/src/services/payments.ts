import { randomUUID } from 'node:crypto';
import {
  type EventEnvelope,
  type PartnerPayment,
  PaymentFailedV1,
  PaymentProcessingV1,
  type PaymentSnapshot,
  type PaymentState,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
  type RefundedPayment,
  RefundFailedV1,
  RefundSucceededV1,
} from '@svc/contracts';
import { newPaymentReference } from '@svc/kernel';
import { anEvent } from './test-service.js';

/** A payment of R 123.45 and R 10.00 tip for an invoice, as in the event of payment-processor after it has succeeded. */
export function aPayment(
  organisationId: string,
  customerId: string,
  over: Partial<PartnerPayment> = {},
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
    payable: { payableId, state: 'paid', version: 3, tries: 1 },
    partner: { organisationId, customer: { id: customerId, firstName: 'Thandi', lastName: 'Nkosi' } },
    merchantName: 'Karoo Books',
    siteReference: 'TILL-1',
    ...over,
  };
}

/** A payment on a hosted page, by an anonymous payer. */
export function anAnonymousPayment(): PaymentSnapshot {
  const { partner: _partner, merchantName: _merchant, siteReference: _site, ...payment } = aPayment(randomUUID(), 'x');
  const sessionId = payment.payable.payableId;
  const notificationUrl = 'https://shop.example/hook';
  return {
    ...payment,
    source: { kind: 'session', sessionId, apiVersion: 'v3.1', merchantOrderId: 'order-1', notificationUrl },
  };
}

const TYPE_OF: Readonly<Record<PaymentState, typeof PaymentProcessingV1>> = {
  processing: PaymentProcessingV1,
  verificationRequired: PaymentVerificationRequiredV1,
  success: PaymentSucceededV1,
  failed: PaymentFailedV1,
};

/** The event that publishes the payment. */
export function paymentEvent(payment: PaymentSnapshot, version = 2): EventEnvelope<PaymentSnapshot> {
  return anEvent(TYPE_OF[payment.state], payment.reference, version, payment);
}

/** A refund of R 23.45 of this payment, as in the event of payment-processor after it has ended. */
export function refundOf(
  payment: PaymentSnapshot,
  over: Partial<RefundedPayment['refund']> = {},
): EventEnvelope<RefundedPayment> {
  const refund = {
    refundReference: randomUUID(),
    amount: 2_345,
    status: 'succeeded' as const,
    createdUTCDate: '2026-03-01T10:05:00.000Z',
    ...over,
  };
  const type = refund.status === 'succeeded' ? RefundSucceededV1 : RefundFailedV1;
  return anEvent(type, refund.refundReference, 1, { ...payment, refund });
}
