import type { PaymentError, PaymentState, RefundStatus } from '@svc/contracts';
import type { DataSource } from 'typeorm';
import type { AttemptState } from '../payments/attempt.js';

/** Rows of each kind, so that the reply has a bound. */
const MAX_ROWS = 100;

interface PaymentRecord {
  readonly paymentId: string;
  readonly state: PaymentState;
  readonly amount: number;
  readonly processedAmount: number;
  readonly methodLabel: string;
  readonly siteReference: string;
  readonly isOfPartner: boolean;
  readonly errors: readonly PaymentError[];
  readonly acceptedAt: Date;
  readonly modifiedAt: Date;
  /** The challenge of the newest verification; null without one. */
  readonly challengeReference: string | null;
  readonly verificationExpiresAt: Date | null;
}

export interface AttemptRecord {
  readonly attemptId: string;
  readonly acquirer: string;
  readonly account: string;
  readonly traceId: string | null;
  readonly state: AttemptState;
  readonly acquirerReference: string | null;
  /** The acquirer's own code of a refusal. */
  readonly acquirerCode: string | null;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly queries: number;
  readonly nextQueryAt: Date | null;
  readonly captureState: 'due' | 'requested' | 'captured' | 'failed' | null;
  readonly captureAmount: number | null;
  readonly captureReference: string | null;
  readonly captureRequests: number | null;
  readonly captureFailure: string | null;
  readonly captureCreatedAt: Date | null;
  readonly captureEndedAt: Date | null;
  readonly capturedAt: Date | null;
  readonly reversalRequestedAt: Date | null;
  readonly reversalConfirmedAt: Date | null;
  readonly foundCharge: boolean | null;
}

export interface IncidentRecord {
  readonly subject: 'attempt' | 'refund';
  readonly subjectState: string;
  readonly response: string;
  readonly acquirerReference: string | null;
  readonly firstSeenAt: Date;
  readonly lastSeenAt: Date;
  readonly occurrences: number;
}

export interface RefundRecord {
  readonly refundId: string;
  readonly amount: number;
  readonly reason: string | null;
  readonly requestedBy: string;
  readonly state: RefundStatus;
  readonly acquirerReference: string | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  readonly returnedAt: Date | null;
  readonly uncertainSince: Date | null;
  readonly queries: number;
  readonly nextQueryAt: Date | null;
}

export interface DisputeReportRecord {
  readonly kind: string;
  readonly amount: number;
  readonly reason: string;
  readonly respondBy: Date | null;
  readonly occurredAt: Date;
  readonly receivedAt: Date;
  readonly acquirer: string;
  readonly disputeReference: string;
  readonly acquirerReference: string;
}

export interface SettlementLineRecord {
  readonly kind: string;
  readonly type: string;
  readonly acquirer: string;
  readonly account: string;
  readonly batch: number;
  readonly lineNumber: number;
  readonly grossAmount: number | null;
  readonly netAmount: number | null;
  readonly feeAmount: number | null;
  readonly problem: string | null;
  readonly isMatched: boolean;
  readonly storedAt: Date;
}

/** All rows about a payment, each oldest first, at most {@link MAX_ROWS} of each kind. */
export interface PaymentRecords {
  readonly payment: PaymentRecord;
  readonly attempts: readonly AttemptRecord[];
  readonly incidents: readonly IncidentRecord[];
  readonly refunds: readonly RefundRecord[];
  readonly disputeReports: readonly DisputeReportRecord[];
  readonly disputeChanges: readonly { readonly changeReference: string; readonly changedAt: Date }[];
  readonly settlementLines: readonly SettlementLineRecord[];
}

const PAYMENT = `
  SELECT p.payment_id AS "paymentId", p.state, p.amount + p.tip_amount AS amount, p.processed_amount AS "processedAmount",
         p.method_label AS "methodLabel", p.site_reference AS "siteReference", p.partner IS NOT NULL AS "isOfPartner", p.errors,
         p.accepted_at AS "acceptedAt", p.modified_at AS "modifiedAt", v.challenge_reference AS "challengeReference",
         v.expires_at AS "verificationExpiresAt"
    FROM payments p LEFT JOIN verifications v ON v.payment_id = p.payment_id WHERE p.payment_reference = $1`;

// Each statement below: $1 the payment.
const ATTEMPTS = `
  SELECT a.attempt_id AS "attemptId", a.acquirer, a.account, a.trace_id AS "traceId", a.state,
         a.acquirer_reference AS "acquirerReference", a.acquirer_code AS "acquirerCode", a.started_at AS "startedAt", a.ended_at AS "endedAt", a.queries,
         a.next_query_at AS "nextQueryAt", c.state AS "captureState", c.amount AS "captureAmount",
         c.acquirer_reference AS "captureReference", c.requests AS "captureRequests", c.failure AS "captureFailure",
         c.created_at AS "captureCreatedAt", c.ended_at AS "captureEndedAt", c.captured_at AS "capturedAt",
         r.requested_at AS "reversalRequestedAt", r.confirmed_at AS "reversalConfirmedAt", r.found_charge AS "foundCharge"
    FROM attempts a LEFT JOIN captures c ON c.attempt_id = a.attempt_id LEFT JOIN reversals r ON r.attempt_id = a.attempt_id
   WHERE a.payment_id = $1 ORDER BY a.started_at, a.attempt_id LIMIT ${MAX_ROWS}`;
const SEEN = `i.response, i.acquirer_reference AS "acquirerReference", i.first_seen_at AS "firstSeenAt",
         i.last_seen_at AS "lastSeenAt", i.occurrences`;
const INCIDENTS = `
  (SELECT 'attempt' AS subject, i.attempt_state AS "subjectState", ${SEEN}
     FROM attempts a JOIN incidents i ON i.attempt_id = a.attempt_id WHERE a.payment_id = $1 LIMIT ${MAX_ROWS})
  UNION ALL
  (SELECT 'refund', i.refund_state, ${SEEN}
     FROM refunds r JOIN refund_incidents i ON i.refund_id = r.refund_id WHERE r.payment_id = $1 LIMIT ${MAX_ROWS})`;
const REFUNDS = `
  SELECT r.refund_id AS "refundId", r.amount, r.reason, r.requested_by AS "requestedBy", r.state,
         r.acquirer_reference AS "acquirerReference", r.created_at AS "createdAt", r.ended_at AS "endedAt",
         r.returned_at AS "returnedAt", r.uncertain_since AS "uncertainSince", r.queries, r.next_query_at AS "nextQueryAt"
    FROM refunds r WHERE r.payment_id = $1 ORDER BY r.refund_id LIMIT ${MAX_ROWS}`;
const DISPUTE_REPORTS = `
  SELECT r.kind, r.amount, r.reason, r.respond_by AS "respondBy", r.occurred_at AS "occurredAt", r.received_at AS "receivedAt",
         d.acquirer, d.dispute_id AS "disputeReference", d.acquirer_reference AS "acquirerReference"
    FROM disputes d JOIN dispute_reports r ON r.dispute_id = d.dispute_id
   WHERE d.payment_id = $1 ORDER BY r.report_id LIMIT ${MAX_ROWS}`;
const DISPUTE_CHANGES = `
  SELECT c.change_id AS "changeReference", c.changed_at AS "changedAt"
    FROM disputes d JOIN dispute_changes c ON c.dispute_id = d.dispute_id
   WHERE d.payment_id = $1 ORDER BY c.change_id LIMIT ${MAX_ROWS}`;
/** A line names the attempt, the refund or the report of the dispute that it settles. */
const SETTLEMENT_LINES = `
  SELECT l.kind, l.type, l.acquirer, l.account, l.batch, l.line_number AS "lineNumber", l.gross_amount AS "grossAmount",
         l.net_amount AS "netAmount", l.fee_amount AS "feeAmount", l.problem, l.is_matched AS "isMatched", l.stored_at AS "storedAt"
    FROM (SELECT attempt_id AS movement_id FROM attempts WHERE payment_id = $1
          UNION ALL SELECT refund_id FROM refunds WHERE payment_id = $1
          UNION ALL SELECT r.report_id FROM disputes d JOIN dispute_reports r ON r.dispute_id = d.dispute_id
                     WHERE d.payment_id = $1) AS movement
    JOIN settlement_lines l ON l.movement_id = movement.movement_id
   ORDER BY l.stored_at, l.line_id LIMIT ${MAX_ROWS}`;

/** Everything that this service knows of a payment of any merchant, for operators. */
export async function findPaymentRecords(
  dataSource: Pick<DataSource, 'query'>,
  paymentReference: string,
): Promise<PaymentRecords | undefined> {
  const [payment] = await dataSource.query<PaymentRecord[]>(PAYMENT, [paymentReference]);
  if (!payment) return undefined;
  const read = <Row>(statement: string): Promise<Row[]> => dataSource.query(statement, [payment.paymentId]);
  // One after another, because payments need the connections.
  return {
    payment,
    attempts: await read(ATTEMPTS),
    incidents: await read(INCIDENTS),
    refunds: await read(REFUNDS),
    disputeReports: await read(DISPUTE_REPORTS),
    disputeChanges: await read(DISPUTE_CHANGES),
    settlementLines: await read(SETTLEMENT_LINES),
  };
}
