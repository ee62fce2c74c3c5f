import type { ReportedPayment } from '@svc/contracts';
import { isUuid } from '@svc/kernel';
import type { StatementLine } from '../../acquirers/acquirer.js';
import type { ChargeRoute } from '../../acquirers/acquirers.js';

/**
 * A movement of money that the bank has made and that the restored database does not contain: this service requested it
 * after the time to which the database was restored.
 */
export interface ForgottenMovement {
  readonly route: ChargeRoute;
  /** Merchant of the account. */
  readonly merchantId: number;
  readonly line: StatementLine;
}

/** Why a movement could be neither recorded nor reversed. */
export type UnresolvedReason =
  /** This platform uses UUIDs as keys, so another program uses the account. */
  | 'foreign-key'
  /** Another service has reported the payment as a success, and this service cannot restore it from the report. */
  | 'reported-as-success'
  /** The report differs from the charge, or the session or invoice cannot be reserved for it. */
  | 'report-does-not-match'
  /** The bank has refunded a part of a charge that this service cannot record. */
  | 'charge-with-refunds'
  /** There is no successful payment that this refund can belong to, or less than its amount is left. */
  | 'refund-without-payment';

/** How a forgotten charge is repaired. */
export type ChargeRepair =
  | { readonly kind: 'record'; readonly report: ReportedPayment }
  | { readonly kind: 'reverse' }
  | { readonly kind: 'unresolved'; readonly reason: UnresolvedReason };

/** The facts about a forgotten charge. */
export interface ChargeFacts {
  /** The copy of a payment on a page that succeeded. */
  readonly report: ReportedPayment | undefined;
  /** The merchant can read the payment as a success. */
  readonly isReportedToMerchant: boolean;
  /** The restored database contains the payment, with other attempts. */
  readonly isPaymentKnown: boolean;
  readonly hasForgottenRefunds: boolean;
  /** An administrator has decided to reverse charges although they were reported to the merchant as successes. */
  readonly reversesReported: boolean;
}

/**
 * A charge that was reported as a success is recorded, because the merchant may have delivered. If no service has
 * reported it, neither the merchant nor the payer knows about a success, so the payer gets the money back.
 */
export function planRepair({ line, route, merchantId }: ForgottenMovement, facts: ChargeFacts): ChargeRepair {
  const { report, hasForgottenRefunds, reversesReported } = facts;
  if (!isUuid(line.idempotencyKey)) return { kind: 'unresolved', reason: 'foreign-key' };
  if (report && !facts.isPaymentKnown && matches(report, { line, route, merchantId }))
    return { kind: 'record', report };
  if (hasForgottenRefunds) return { kind: 'unresolved', reason: 'charge-with-refunds' };
  if (reversesReported) return { kind: 'reverse' };
  if (report) return { kind: 'unresolved', reason: 'report-does-not-match' };
  return facts.isReportedToMerchant ? { kind: 'unresolved', reason: 'reported-as-success' } : { kind: 'reverse' };
}

/** A payment on a page has no vouchers, so the bank charges its amount and tip. */
function matches(report: ReportedPayment, { line, route, merchantId }: ForgottenMovement): boolean {
  return (
    report.paymentReference === line.paymentReference &&
    report.amount + report.tipAmount === line.amount &&
    report.currencyISOCode === line.currencyISOCode &&
    report.mode === route.account.mode &&
    report.merchantId === merchantId
  );
}
