import { Inject, Injectable } from '@nestjs/common';
import { DisputeChangedV1, type DisputeStage, type PaymentSnapshot } from '@svc/contracts';
import { Clock, isUuid, newUuidAt } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import type { Transaction } from '@svc/persistence';
import type { DisputeReport } from '../acquirers/dispute-report.js';
import { disputeTransfer } from '../ledger/transfer.js';
import { insertTransfersSql, transferRows } from '../ledger/transfer.repository.js';
import { PAYMENT_COLUMNS, PAYMENT_TABLES, type PaymentRow, snapshotFromRow } from '../payments/payment-columns.js';
import type { DisputableCharge, DisputeProblem, DisputeState, RecordedReport, ReportConclusion } from './dispute.js';

/** A charge with its payment. */
export interface LockedCharge extends DisputableCharge {
  /** Undefined if the payment has no approved charge. */
  readonly attemptId: string | undefined;
  readonly paymentId: string;
  readonly payment: PaymentSnapshot;
}

/** A dispute with its reports, in the order of their arrival. */
export interface StoredDispute extends DisputeState {
  readonly disputeId: string;
  readonly attemptId: string;
  readonly createdAt: Date;
  readonly version: number;
  readonly reports: readonly RecordedReport[];
}

/** A report that is recorded, with its charge and its dispute. */
export interface DisputeWrite {
  readonly source: DisputeReport;
  readonly charge: LockedCharge & { readonly attemptId: string };
  /** Undefined for the first report of a dispute. */
  readonly dispute: StoredDispute | undefined;
  readonly conclusion: Extract<ReportConclusion, { kind: 'record' }>;
}

/** Maximum length of a report in the table of incidents, in characters. */
const MAX_INCIDENT_REPORT_LENGTH = 2_000;
const MAX_REFERENCE_LENGTH = 100;

/** The only code that writes disputes. Every method is a step of the transaction that applies a report. */
@Injectable()
export class DisputeRepository {
  constructor(
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Finds the charge of a report at its acquirer and in its mode. Locks its payment, so that reports about one charge are
   * applied one after the other.
   */
  async lockCharge(tx: Transaction, { acquirer, mode, charge }: DisputeReport): Promise<LockedCharge | undefined> {
    if ('idempotencyKey' in charge && !isUuid(charge.idempotencyKey)) return undefined;
    const [row] =
      'idempotencyKey' in charge
        ? await tx.query<ChargeRow[]>(CHARGE_BY_KEY, [charge.idempotencyKey, acquirer, mode])
        : await tx.query<ChargeRow[]>(CHARGE_BY_PAYMENT, [charge.paymentReference, acquirer, mode]);
    if (!row) return undefined;
    return {
      attemptId: row.attempt_id ?? undefined,
      isApproved: row.attempt_state === 'approved' && row.state === 'success' && !row.capture_failed,
      acquirerReference: row.acquirer_reference ?? undefined,
      amount: row.processedAmount,
      currencyISOCode: row.currencyISOCode,
      paymentId: row.paymentId,
      payment: snapshotFromRow(row),
    };
  }

  /** Finds the dispute by the acquirer's reference. The caller has locked its charge. */
  async find(tx: Transaction, { acquirer, mode, disputeReference }: DisputeReport): Promise<StoredDispute | undefined> {
    const [row] = await tx.query<DisputeRow[]>(
      `SELECT dispute_id, attempt_id, stage, amount, reason, respond_by, created_at, version FROM disputes
        WHERE acquirer = $1 AND mode = $2 AND acquirer_reference = $3`,
      [acquirer, mode, disputeReference],
    );
    if (!row) return undefined;
    const reports = await tx.query<ReportRow[]>(
      `SELECT report_reference AS "reportReference", kind, amount, reason, respond_by AS "respondBy", occurred_at AS "occurredAt"
         FROM dispute_reports WHERE dispute_id = $1 ORDER BY report_id`,
      [row.dispute_id],
    );
    const { dispute_id: disputeId, attempt_id: attemptId, stage, amount, reason, created_at: createdAt, version } = row;
    return {
      ...{ disputeId, attemptId, stage, amount, reason, createdAt, version },
      respondBy: row.respond_by ?? undefined,
      reports: reports.map((report) => ({ ...report, respondBy: report.respondBy ?? undefined })),
    };
  }

  /** True if another dispute has a report with this reference. */
  async isReportOfOtherDispute(
    tx: Transaction,
    report: DisputeReport,
    disputeId: string | undefined,
  ): Promise<boolean> {
    const rows = await tx.query<unknown[]>(
      `SELECT FROM dispute_reports WHERE acquirer = $1 AND mode = $2 AND report_reference = $3 AND dispute_id IS DISTINCT FROM $4`,
      [report.acquirer, report.mode, report.reportReference, disputeId ?? null],
    );
    return rows.length > 0;
  }

  /** Writes the report with all effects: the dispute, its transfers, and the change with its event. */
  async record(tx: Transaction, write: DisputeWrite): Promise<void> {
    const now = this.clock.now();
    const { conclusion, dispute } = write;
    const version = (dispute?.version ?? 0) + (conclusion.isChange ? 1 : 0);
    const disputeId = dispute?.disputeId ?? newUuidAt(now);
    if (!dispute) await this.insertDispute(tx, disputeId, write, now);
    else if (conclusion.isChange) await this.updateDispute(tx, disputeId, conclusion.state, version, now);
    await this.insertReport(tx, disputeId, write, now);
    await this.book(tx, disputeId, write, now);
    if (conclusion.isChange) await this.publish(tx, disputeId, write, version, now);
  }

  /** Records an impossible report. One row for each report and problem counts the occurrences. */
  async recordIncident(tx: Transaction, report: DisputeReport, problem: DisputeProblem): Promise<void> {
    const bounded = (text: unknown) => String(text).toWellFormed().replaceAll('\0', ' ').slice(0, MAX_REFERENCE_LENGTH);
    await tx.query(
      `INSERT INTO dispute_incidents AS i (acquirer, mode, report_reference, problem, dispute_reference, report, first_seen_at, last_seen_at, occurrences)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $7, 1)
       ON CONFLICT (acquirer, mode, report_reference, problem)
       DO UPDATE SET last_seen_at = $7, occurrences = least(i.occurrences, 1000000000) + 1, report = excluded.report`,
      [
        ...[bounded(report.acquirer), report.mode, bounded(report.reportReference), problem],
        ...[bounded(report.disputeReference), JSON.stringify(report).slice(0, MAX_INCIDENT_REPORT_LENGTH)],
        this.clock.now(),
      ],
    );
  }

  private async insertDispute(
    tx: Transaction,
    disputeId: string,
    { source, charge, conclusion: { state } }: DisputeWrite,
    now: Date,
  ): Promise<void> {
    await tx.query(
      `INSERT INTO disputes (dispute_id, payment_id, attempt_id, mode, acquirer, acquirer_reference, stage, amount, reason, respond_by, created_at, modified_at, version)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, 1)`,
      [
        ...[disputeId, charge.paymentId, charge.attemptId, source.mode, source.acquirer, source.disputeReference],
        ...[...stateValues(state), now],
      ],
    );
  }

  private async updateDispute(
    tx: Transaction,
    disputeId: string,
    state: DisputeState,
    version: number,
    now: Date,
  ): Promise<void> {
    await tx.query(
      `UPDATE disputes SET stage = $2, amount = $3, reason = $4, respond_by = $5, modified_at = $6, version = $7 WHERE dispute_id = $1`,
      [disputeId, ...stateValues(state), now, version],
    );
  }

  private async insertReport(
    tx: Transaction,
    disputeId: string,
    { source, conclusion: { report } }: DisputeWrite,
    now: Date,
  ): Promise<void> {
    await tx.query(
      `INSERT INTO dispute_reports (report_id, dispute_id, acquirer, mode, report_reference, kind, amount, reason, respond_by, occurred_at, received_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        ...[newUuidAt(now), disputeId, source.acquirer, source.mode, report.reportReference, report.kind],
        ...[report.amount, report.reason, report.respondBy ?? null, report.occurredAt, now],
      ],
    );
  }

  /** Books the movements. Each report is booked at most once (transfers_one_dispute_report). */
  private async book(tx: Transaction, disputeId: string, write: DisputeWrite, now: Date): Promise<void> {
    const { source, charge, conclusion } = write;
    for (const { kind, amount } of conclusion.movements) {
      const [[booked]] = await tx.query<[[{ reportId: string }], number]>(
        `UPDATE dispute_reports SET booked_at = $3 WHERE dispute_id = $1 AND kind = $2 RETURNING report_id AS "reportId"`,
        [disputeId, kind, now],
      );
      const transfer = disputeTransfer(charge.payment, source.acquirer, {
        kind: kind === 'reversed' ? 'disputeReversal' : 'dispute',
        amount,
      });
      const columns = { paymentId: charge.paymentId, disputeReportId: booked.reportId, createdAt: now };
      const rows = transferRows([transfer], charge.payment, columns, this.clock);
      await tx.query(insertTransfersSql('$1::jsonb'), [JSON.stringify(rows)]);
    }
  }

  private async publish(
    tx: Transaction,
    disputeId: string,
    { charge, dispute, conclusion: { state } }: DisputeWrite,
    version: number,
    now: Date,
  ): Promise<void> {
    const changeReference = newUuidAt(now);
    await tx.query(
      `INSERT INTO dispute_changes (change_id, dispute_id, version, stage, amount, reason, respond_by, changed_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [changeReference, disputeId, version, ...stateValues(state), now],
    );
    const { stage, amount, reason, respondBy } = state;
    await this.events.append(tx, {
      type: DisputeChangedV1,
      aggregateId: disputeId,
      aggregateVersion: version,
      payload: {
        ...charge.payment,
        dispute: {
          ...{ disputeReference: disputeId, stage, amount, reason },
          ...(respondBy ? { respondByUTCDate: respondBy.toISOString() } : {}),
          createdUTCDate: (dispute?.createdAt ?? now).toISOString(),
          ...{ changeReference, changedUTCDate: now.toISOString() },
        },
      },
    });
  }
}

function stateValues({ stage, amount, reason, respondBy }: DisputeState): unknown[] {
  return [stage, amount, reason, respondBy ?? null];
}

const CHARGE_COLUMNS = `a.attempt_id, a.state AS attempt_state, a.acquirer_reference,
  EXISTS (SELECT FROM captures c WHERE c.attempt_id = a.attempt_id AND c.state = 'failed') AS capture_failed, ${PAYMENT_COLUMNS}`;

const CHARGE_BY_KEY = `SELECT ${CHARGE_COLUMNS} FROM ${PAYMENT_TABLES} JOIN attempts a ON a.payment_id = p.payment_id
  WHERE a.attempt_id = $1 AND a.acquirer = $2 AND y.mode = $3 FOR NO KEY UPDATE OF p`;

/** A payment has at most one approved attempt. The columns of the attempt are NULL if no attempt is approved. */
const CHARGE_BY_PAYMENT = `SELECT ${CHARGE_COLUMNS}
    FROM ${PAYMENT_TABLES} LEFT JOIN attempts a ON a.payment_id = p.payment_id AND a.state = 'approved'
  WHERE p.payment_reference = $1 AND (a.attempt_id IS NULL OR a.acquirer = $2) AND y.mode = $3 FOR NO KEY UPDATE OF p`;

interface ChargeRow extends PaymentRow {
  readonly attempt_id: string | null;
  readonly attempt_state: string | null;
  readonly acquirer_reference: string | null;
  /** The acquirer could not take the money of this charge. */
  readonly capture_failed: boolean;
}

interface DisputeRow {
  readonly dispute_id: string;
  readonly attempt_id: string;
  readonly stage: DisputeStage;
  readonly amount: number;
  readonly reason: string;
  readonly respond_by: Date | null;
  readonly created_at: Date;
  readonly version: number;
}

type ReportRow = Omit<RecordedReport, 'respondBy'> & { readonly respondBy: Date | null };
