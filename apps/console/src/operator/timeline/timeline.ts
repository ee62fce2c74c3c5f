import type { TimelineStep, TimelineSubject, TracedDelivery } from '@svc/contracts';
import { describeStep } from '@svc/kernel';
import type { PaymentDetails } from '../../payment/find-payment.query.js';
import { buildTimeline, type TimelineEvent } from '../../payment/timeline.js';

/** A payment, session or invoice with the names of its merchant and site. */
export interface FoundSubject extends TimelineSubject {
  /** Empty while the name is unknown. */
  readonly merchantName: string;
  /** Empty while the name is unknown. */
  readonly siteName: string;
}

/** A step with the service that reported it. */
export interface TimelineEntry extends TimelineStep {
  readonly service: string;
}

/** A part of the answer that is missing, because its owner did not respond in time. */
export interface MissingPart {
  readonly service: string;
  /** For example `attempts, refunds, disputes and settlement`. */
  readonly part: string;
}

/** All that happened to a payment, session or invoice. */
export interface OperatorTimeline {
  readonly subject: FoundSubject;
  /** Oldest first. */
  readonly entries: readonly TimelineEntry[];
  readonly missing: readonly MissingPart[];
}

/** The result of a search for payments, sessions and invoices of all merchants. */
export interface TimelineSearch {
  /** Newest first, at most 20. */
  readonly matches: readonly FoundSubject[];
  /** True if there are further matches: narrow the search with a day or a mode. */
  readonly hasMore: boolean;
  /** The timeline of the only match; null if there are none or several. */
  readonly timeline: OperatorTimeline | null;
  /** The services that did not take part in the search. */
  readonly missing: readonly MissingPart[];
}

/** Adds the service to its steps. */
export function stepsOf(service: string, steps: readonly TimelineStep[]): TimelineEntry[] {
  return steps.map((step) => ({ ...step, service }));
}

/** The sort is stable: steps at the same time keep the order of their services. */
export function sortEntries(entries: readonly TimelineEntry[]): TimelineEntry[] {
  return entries.toSorted((a, b) => a.utcDate.localeCompare(b.utcDate));
}

/** A notification, and each attempt to deliver it. */
export function describeDelivery(delivery: TracedDelivery): TimelineStep[] {
  const { id, webhookId, recipient, type, state, url, traceId, attempts, attemptCount, nextAttemptUTCDate } = delivery;
  const recorded = describeStep(
    delivery.createdUTCDate,
    `notification of the ${type} recorded`,
    {
      ...{
        notification: id,
        'webhook-id': webhookId,
        to: `${recipient} at ${hostOf(url)}`,
        state,
        attempts: attemptCount,
      },
      ...{ 'next attempt': nextAttemptUTCDate, 'missing keys': delivery.missingKeys?.join(', ') },
    },
    { traceId, ...(state === 'pending' ? { isOpen: true } : {}) },
  );
  return [
    recorded,
    // They come newest first.
    ...attempts
      .toReversed()
      .map(({ attemptNumber, startedUTCDate, durationMs, statusCode, errorClass, hint, response }) =>
        describeStep(
          startedUTCDate,
          `notification attempt ${attemptNumber}`,
          {
            status: statusCode,
            error: errorClass,
            'took ms': durationMs,
            to: recipient,
            notification: id,
            hint,
            response,
          },
          { traceId },
        ),
      ),
  ];
}

/** Paths and queries of webhooks can contain secrets of the merchant. `./svc admin webhooks show` has the whole URL. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an invalid URL';
}

/** Other payments of the same session or invoice, for example an earlier one that the bank declined. */
export function describeOtherPayments({ otherPayments, source }: PaymentDetails): TimelineStep[] {
  return otherPayments.map(({ paymentReference, paymentUTCDate, state, errors }) =>
    describeStep(paymentUTCDate, `other payment of the ${source}`, {
      ...{ payment: paymentReference, state, errors: errors.map(({ message }) => message).join(' ') },
    }),
  );
}

/** The payment as this service's copy has it, while payment-processor does not respond. */
export function describeCopy(payment: PaymentDetails): TimelineStep[] {
  return buildTimeline({ ...payment, otherPayments: [] }, [])
    .filter(({ kind }) => kind !== 'created')
    .map((event) => describeCopiedEvent(payment, event));
}

function describeCopiedEvent(payment: PaymentDetails, event: TimelineEvent): TimelineStep {
  const { utcDate } = event;
  switch (event.kind) {
    case 'accepted':
      return describeStep(utcDate, 'payment accepted', { method: payment.methodLabel }, { amount: payment.amount });
    case 'verification':
      return describeStep(utcDate, 'bank asks the payer for a confirmation');
    case 'refund':
    case 'returned': {
      const { refundReference, amount, status } = event.refund;
      const what = event.kind === 'refund' ? `refund ${status}` : 'refund returned: the money came back';
      return describeStep(utcDate, what, { refund: refundReference }, { amount });
    }
    case 'reversal':
      return describeStep(utcDate, event.reversal.captureFailed ? 'capture failed' : 'reversal confirmed');
    case 'dispute': {
      const { disputeReference, stage, amount, reason } = event.dispute;
      return describeStep(utcDate, `dispute ${stage}`, { dispute: disputeReference, reason }, { amount });
    }
    default:
      return describeStep(utcDate, `payment ${payment.state}`, {
        errors: payment.errors.map(({ message }) => message).join(' '),
      });
  }
}
