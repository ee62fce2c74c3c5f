import { Inject, Injectable } from '@nestjs/common';
import { isText, MAX_AMOUNT_CENTS, MAX_IDENTIFIER_LENGTH } from '@svc/contracts';
import { createCounter } from '@svc/kernel';
import { inTransaction, isUniqueViolation, type Transaction } from '@svc/persistence';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import type { DisputeReport } from '../acquirers/dispute-report.js';
import {
  concludeReport,
  type DisputeProblem,
  findChargeProblem,
  formatReason,
  type RecordedReport,
  type ReportConclusion,
} from './dispute.js';
import { DisputeRepository } from './dispute.repository.js';

/** The effect of a report, with the problems that it has caused. */
export type AppliedReport = Pick<ReportConclusion, 'kind'> & { readonly problems: readonly DisputeProblem[] };

/**
 * Applies an acquirer's report about a dispute (M8). One transaction writes the report, the dispute, its transfers and
 * its event. A second delivery changes nothing, because the acquirer's reference of the report is unique. Reports may
 * arrive in any order. An impossible report is an incident: it creates a row, a metric and a log entry, and no error,
 * so that it does not block the reports behind it.
 */
@Injectable()
export class ApplyDisputeReport {
  private readonly reports = createCounter('svc.disputes.reports');
  private readonly incidents = createCounter('svc.disputes.incidents');

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(DisputeRepository) private readonly disputes: DisputeRepository,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  async execute(report: DisputeReport): Promise<AppliedReport> {
    const applied = await this.applyOnce(report);
    const { acquirer, mode, kind, reportReference, disputeReference } = report;
    for (const problem of applied.problems) {
      this.incidents.add(1, { acquirer, problem });
      this.log.error({ acquirer, mode, kind, reportReference, disputeReference, problem }, 'impossible dispute report');
    }
    if (applied.kind === 'record') {
      this.reports.add(1, { acquirer, kind });
      this.log.info({ acquirer, mode, kind, reportReference, disputeReference }, 'dispute report recorded');
    }
    return applied;
  }

  private async applyOnce(report: DisputeReport): Promise<AppliedReport> {
    try {
      return await inTransaction(this.dataSource, (tx) => this.apply(tx, report));
    } catch (error) {
      // Reports about two charges had the same reference at the same time. The committed one is visible now.
      if (!isUniqueViolation(error, 'disputes_one_each') && !isUniqueViolation(error, 'dispute_reports_once'))
        throw error;
      return inTransaction(this.dataSource, (tx) => this.apply(tx, report));
    }
  }

  private async apply(tx: Transaction, report: DisputeReport): Promise<AppliedReport> {
    if (!isValidReport(report)) return this.reject(tx, report, 'invalidReport');
    const charge = await this.disputes.lockCharge(tx, report);
    const problem = findChargeProblem(charge, report);
    if (problem !== undefined) return this.reject(tx, report, problem);
    const { attemptId } = charge!;
    if (attemptId === undefined) return this.reject(tx, report, 'notCharged');
    const dispute = await this.disputes.find(tx, report);
    if (dispute && dispute.attemptId !== attemptId) return this.reject(tx, report, 'disputeOfOtherCharge');
    if (await this.disputes.isReportOfOtherDispute(tx, report, dispute?.disputeId))
      return this.reject(tx, report, 'reportOfOtherDispute');

    const conclusion = concludeReport(dispute?.reports ?? [], toRecordedReport(report));
    if (conclusion.kind === 'none') return { kind: 'none', problems: [] };
    if (conclusion.kind === 'incident') return this.reject(tx, report, conclusion.problem);
    await this.disputes.record(tx, { source: report, charge: { ...charge!, attemptId }, dispute, conclusion });
    const problems = conclusion.impossible.map(() => 'exceedsPreviousMovement' as const);
    for (const { reportReference } of conclusion.impossible)
      await this.disputes.recordIncident(tx, { ...report, reportReference }, 'exceedsPreviousMovement');
    return { kind: 'record', problems };
  }

  /** Records the incident, and nothing else. */
  private async reject(tx: Transaction, report: DisputeReport, problem: DisputeProblem): Promise<AppliedReport> {
    await this.disputes.recordIncident(tx, report, problem);
    return { kind: 'incident', problems: [problem] };
  }
}

function isValidReport(report: DisputeReport): boolean {
  const isReference = (text: string | undefined): boolean => isText(text, MAX_IDENTIFIER_LENGTH);
  const { charge, amount, respondBy, occurredAt } = report;
  return (
    [report.acquirer, report.reportReference, report.disputeReference].every(isReference) &&
    isReference('idempotencyKey' in charge ? charge.idempotencyKey : charge.paymentReference) &&
    Number.isSafeInteger(amount) &&
    amount > 0 &&
    amount <= MAX_AMOUNT_CENTS &&
    isPlausible(occurredAt) &&
    (respondBy === undefined || isPlausible(respondBy))
  );
}

/** A date that both ISO 8601 with four digits of the year and PostgreSQL can represent. */
function isPlausible(date: Date): boolean {
  const year = date.getUTCFullYear();
  return year >= 2000 && year < 3000;
}

function toRecordedReport(report: DisputeReport): RecordedReport {
  const { reportReference, kind, amount, respondBy, occurredAt } = report;
  return { reportReference, kind, amount, reason: formatReason(report.reason), respondBy, occurredAt };
}
