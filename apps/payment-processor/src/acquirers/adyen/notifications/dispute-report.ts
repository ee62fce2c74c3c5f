import type { Mode } from '@svc/contracts';
import type { AcquirerDisputeReport } from '../../acquirer-report.js';
import type { DisputeReportKind } from '../../dispute-report.js';
import type { NotificationItem } from './parse-notification.js';

/**
 * Adyen's OpenAPI document of webhooks and the page "Dispute webhooks" describe these events. `NOTIFICATION_OF_FRAUD` is
 * not one of them: it announces no dispute.
 */
const KINDS: Readonly<Record<string, DisputeReportKind>> = {
  REQUEST_FOR_INFORMATION: 'inquiry',
  NOTIFICATION_OF_CHARGEBACK: 'opened',
  CHARGEBACK: 'debited',
  CHARGEBACK_REVERSED: 'reversed',
  SECOND_CHARGEBACK: 'debitedAgain',
  INFORMATION_SUPPLIED: 'defended',
  DISPUTE_DEFENSE_PERIOD_ENDED: 'defencePeriodEnded',
  ISSUER_COMMENTS: 'commented',
  // The issuer accepted the defence, or did not respond in time.
  ISSUER_RESPONSE_TIMEFRAME_EXPIRED: 'won',
  PREARBITRATION_OPEN: 'preArbitrationOpened',
  PREARBITRATION_ACCEPTED: 'commented',
  PREARBITRATION_DECLINED: 'commented',
  PREARBITRATION_ISSUER_WITHDRAWN: 'won',
  PREARBITRATION_LOST: 'lost',
  PREARBITRATION_WON: 'won',
  SCHEME_ARBITRATION: 'preArbitrationOpened',
  SCHEME_ARBITRATION_LOST: 'lost',
  SCHEME_ARBITRATION_WON: 'won',
};

/** The `disputeStatus` decides these events. Their description does not say which side has won. */
const DECIDED_BY_STATUS: ReadonlySet<string> = new Set([
  'DISPUTE_DEFENSE_PERIOD_ENDED',
  'PREARBITRATION_ACCEPTED',
  'PREARBITRATION_DECLINED',
]);
const DECISIONS: Readonly<Record<string, DisputeReportKind>> = { Won: 'won', Lost: 'lost' };

/** Undefined for an event that is not about a dispute. */
export function findDisputeReportKind({ eventCode, dispute }: NotificationItem): DisputeReportKind | undefined {
  const kind = Object.hasOwn(KINDS, eventCode) ? KINDS[eventCode] : undefined;
  return (DECIDED_BY_STATUS.has(eventCode) ? DECISIONS[dispute?.disputeStatus ?? ''] : undefined) ?? kind;
}

/** All events of a dispute have its reference as `pspReference` (page "Dispute webhooks"). Undefined without a date. */
export function toDisputeReport(
  item: NotificationItem,
  { mode, kind }: { mode: Mode; kind: DisputeReportKind },
): AcquirerDisputeReport['dispute'] | undefined {
  const { pspReference, originalReference, merchantReference, eventCode, amount, eventUTCDate, reason, dispute } = item;
  if (eventUTCDate === undefined) return undefined;
  const { reasonCode, defensePeriodEndsUTCDate, defendable, autoDefended } = dispute ?? {};
  const mayRespond = defensePeriodEndsUTCDate !== undefined && defendable !== 'false' && autoDefended !== 'true';
  return {
    acquirer: 'adyen',
    mode,
    reportReference: `${pspReference}-${eventCode}`,
    disputeReference: pspReference,
    charge: {
      paymentReference: merchantReference,
      ...(originalReference === '' ? {} : { acquirerReference: originalReference }),
    },
    kind,
    amount: amount.value,
    currencyISOCode: amount.currency,
    reason: {
      ...(reasonCode === undefined ? {} : { code: reasonCode }),
      ...(reason === undefined ? {} : { text: reason }),
    },
    ...(mayRespond ? { respondByUTCDate: defensePeriodEndsUTCDate } : {}),
    occurredUTCDate: eventUTCDate,
  };
}
