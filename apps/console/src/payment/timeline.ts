import type { DeliveryWithAttempts } from '@svc/contracts';
import { findUuidTime } from '@svc/kernel';
import type {
  OtherPayment,
  PaymentDetails,
  PaymentDispute,
  PaymentRefund,
  PaymentReversal,
} from './find-payment.query.js';

/** Something that happened to a payment. */
export type TimelineEvent = { readonly utcDate: string } & (
  | { readonly kind: 'created' | 'accepted' | 'verification' | 'outcome' }
  | { readonly kind: 'other'; readonly other: OtherPayment }
  | { readonly kind: 'refund' | 'returned'; readonly refund: PaymentRefund }
  | { readonly kind: 'reversal'; readonly reversal: PaymentReversal }
  | { readonly kind: 'dispute'; readonly dispute: PaymentDispute }
  | { readonly kind: 'webhook'; readonly delivery: DeliveryWithAttempts }
);

/** All that happened to a payment, from its session to the answers of the merchant, oldest first. */
export function buildTimeline(payment: PaymentDetails, deliveries: readonly DeliveryWithAttempts[]): TimelineEvent[] {
  const events: TimelineEvent[] = [
    ...listCreation(payment),
    ...payment.otherPayments.map((other) => ({ kind: 'other' as const, other, utcDate: other.paymentUTCDate })),
    { kind: 'accepted', utcDate: payment.paymentUTCDate },
    ...listVerification(payment),
    { kind: 'outcome', utcDate: payment.modifiedUTCDate },
    ...payment.refunds.flatMap((refund): TimelineEvent[] => [
      { kind: 'refund', refund, utcDate: refund.createdUTCDate },
      ...(refund.returnedUTCDate === null
        ? []
        : [{ kind: 'returned' as const, refund, utcDate: refund.returnedUTCDate }]),
    ]),
    ...payment.reversals.map((reversal) => ({
      kind: 'reversal' as const,
      reversal,
      utcDate: reversal.reversedUTCDate,
    })),
    ...payment.disputes.map((dispute) => ({ kind: 'dispute' as const, dispute, utcDate: dispute.changedUTCDate })),
    ...deliveries.map((delivery) => ({ kind: 'webhook' as const, delivery, utcDate: delivery.createdUTCDate })),
  ];
  // The sort is stable: of events at the same time, the payment comes before its webhook.
  return events.sort((a, b) => a.utcDate.localeCompare(b.utcDate));
}

/** The id of a session, and of an invoice of the platform, contains the time at which it was created. */
function listCreation({ payableId, paymentUTCDate }: PaymentDetails): TimelineEvent[] {
  const createdAt = findUuidTime(payableId)?.toISOString();
  return createdAt === undefined || createdAt > paymentUTCDate ? [] : [{ kind: 'created', utcDate: createdAt }];
}

/** While the payment waits for the confirmation, that is its outcome. */
function listVerification({ state, verificationUTCDate }: PaymentDetails): TimelineEvent[] {
  if (verificationUTCDate === null || state === 'verificationRequired') return [];
  return [{ kind: 'verification', utcDate: verificationUTCDate }];
}
