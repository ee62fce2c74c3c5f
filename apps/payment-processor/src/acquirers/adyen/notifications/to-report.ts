import type { Mode } from '@svc/contracts';
import type { AcquirerReport, ReversalReport } from '../../acquirer-report.js';
import { isAdyenUrl } from '../adyen-url.js';
import { declineCodeOf } from '../refusal-reasons.js';
import { findDisputeReportKind, toDisputeReport } from './dispute-report.js';
import type { NotificationItem } from './parse-notification.js';

export interface ReportSource {
  /** Mode of the endpoint that received the item. */
  readonly mode: Mode;
  /** From the notification. */
  readonly isLive: boolean;
  /** Base URL of the Checkout API. */
  readonly checkoutUrl: string;
}

/** Name of a settlement details report (Adyen's documentation, page of this name). Every report has this webhook. */
const SETTLEMENT_REPORT = /^settlement_detail_report/;

/**
 * Identifies an event, so that a second delivery has no effect. In a second delivery the reference and the code are the
 * same, and other fields may differ (Adyen's documentation, page "Handle webhook events"). `success` is part of the key,
 * because a request can fail first and succeed later. The account is part of it, because a report's reference is the name
 * of a file.
 */
export function duplicateKeyOf(item: NotificationItem): string {
  const key = [item.merchantAccountCode, item.pspReference, item.eventCode, item.success].join(' ');
  return isRecapture(item) ? `${key} recaptured` : key;
}

/**
 * Adyen captured again, after it had sent CAPTURE_FAILED because of a technical issue (Adyen's documentation, page
 * "CAPTURE_FAILED and REFUND_FAILED reasons").
 */
function isRecapture({ eventCode, success, reason }: NotificationItem): boolean {
  return eventCode === 'CAPTURE' && success === 'true' && /^Transaction (?:Auto-)?recaptured/i.test(reason ?? '');
}

/** Translates an authentic item. An item of the other mode has no effect. */
export function toReport(item: NotificationItem, { mode, isLive, checkoutUrl }: ReportSource): AcquirerReport {
  const fields = {
    acquirer: 'adyen',
    mode,
    accountReference: item.merchantAccountCode,
    acquirerReference: item.pspReference,
  } as const;
  const ignored = (reason: string): AcquirerReport => ({ kind: 'ignored', ...fields, reason });
  if (isLive !== (mode === 'live'))
    return { kind: 'ignored', ...fields, reason: 'The notification is of the other mode.', isIncident: true };
  if (item.invalidField !== undefined) return ignored(`The field ${item.invalidField} is not usable.`);
  const payment = { ...fields, paymentReference: item.merchantReference };
  const amount = { amount: item.amount.value, currencyISOCode: item.amount.currency };
  const refund = { ...fields, refundId: item.merchantReference };
  const isSuccess = item.success === 'true';
  switch (item.eventCode) {
    case 'AUTHORISATION':
      return {
        kind: 'charge',
        ...payment,
        outcome: isSuccess ? { kind: 'approved' } : { kind: 'declined', reason: declineCodeOf({ text: item.reason }) },
        ...amount,
      };
    case 'CAPTURE':
      return {
        kind: 'capture',
        ...payment,
        outcome: isSuccess ? 'captured' : 'refused',
        ...amount,
        ...(isRecapture(item) ? { isRecapture: true } : {}),
      };
    case 'CANCELLATION':
    case 'TECHNICAL_CANCEL':
      return toReversalReport(item, payment) ?? ignored(`The cancellation failed: ${item.reason ?? 'no reason'}`);
    case 'REFUND':
      return { kind: 'refund', ...refund, outcome: isSuccess ? 'succeeded' : 'declined' };
  }
  // The remaining events report that something has happened. If it has not happened, they have no effect.
  if (!isSuccess) return ignored(`${item.eventCode} without success has no effect.`);
  switch (item.eventCode) {
    // The card scheme rejected a capture that was reported as successful.
    case 'CAPTURE_FAILED':
      return { kind: 'capture', ...payment, outcome: 'failed', ...amount };
    // The card scheme or the payer's bank returned a refund that was reported as successful.
    case 'REFUND_FAILED':
    case 'REFUNDED_REVERSED':
      return { kind: 'refund', ...refund, outcome: 'returned' };
    case 'REPORT_AVAILABLE':
      if (!SETTLEMENT_REPORT.test(item.pspReference)) return ignored('Only settlement details reports are read.');
      return isAdyenUrl(item.reason, { mode, checkoutUrl })
        ? { kind: 'statement', ...fields, url: item.reason }
        : ignored('The URL of the report is not a URL of Adyen in this mode.');
  }
  const kind = findDisputeReportKind(item);
  if (kind === undefined) return ignored(`${item.eventCode} has no effect.`);
  const dispute = toDisputeReport(item, { mode, kind });
  return dispute ? { kind: 'dispute', ...fields, dispute } : ignored('The field eventDate is not usable.');
}

/**
 * Undefined if Adyen knows the payment and could not cancel it. A failed cancellation of an unknown payment contains no
 * reference of the payment. Adyen publishes no list of the reasons.
 */
function toReversalReport(
  { success, originalReference, reason = '' }: NotificationItem,
  payment: Omit<ReversalReport, 'kind' | 'outcome'>,
): ReversalReport | undefined {
  if (success === 'true') return { kind: 'reversal', ...payment, outcome: 'reversed' };
  const isUnknown =
    originalReference === '' || /not (?:be |been )?found|n't been found|does(?: not|n't) exist/i.test(reason);
  return isUnknown ? { kind: 'reversal', ...payment, outcome: 'notFound' } : undefined;
}
