import { Inject, Injectable } from '@nestjs/common';
import { AuditTrail, type ChangeAuthor } from '@svc/auth';
import { Clock, DomainError } from '@svc/kernel';
import { type OpenRestore, Restores } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import { Acquirers } from '../acquirers/acquirers.js';
import { RecoverAttempts } from '../jobs/recover-attempts.js';
import { RecoverRefunds } from '../refunds/recover-refunds.js';
import { FindForgottenMovements } from './find-forgotten-movements.js';
import { FindReports } from './find-reports.js';
import { ForgottenChargeRepository } from './forgotten-charges/forgotten-charge.repository.js';
import { type ForgottenMovement, planRepair, type UnresolvedReason } from './forgotten-charges/forgotten-movement.js';
import { ReverseForgottenCharges } from './forgotten-charges/reverse-forgotten-charges.js';
import { RestoreRepository } from './restore.repository.js';

/** A movement of money for a person to decide. */
export interface UnresolvedMovement {
  readonly reason: UnresolvedReason;
  readonly kind: 'charge' | 'refund';
  readonly acquirer: string;
  readonly accountReference: string;
  readonly idempotencyKey: string;
  readonly svcId: string;
  /** Cents. */
  readonly amount: number;
  readonly currencyISOCode: string;
}

/** Result of a comparison with the bank. */
export interface RepairReport {
  readonly chargesRecorded: number;
  readonly chargesReversed: number;
  readonly refundsRecorded: number;
  /** Number of movements that were neither recorded nor reversed. */
  readonly unresolved: number;
  /** The first {@link MAX_LISTED} of them. */
  readonly listedUnresolved: readonly UnresolvedMovement[];
  /** Acquirers that answer with no statement of a day: their webhooks and settlement reports contain what was forgotten. */
  readonly acquirersWithoutStatement: readonly string[];
}

const MAX_LISTED = 100;

/**
 * Compares the restored database with the bank, and repairs what the restore has forgotten (docs/backup.md). A charge that
 * another service has reported as a success is recorded; any other charge is reversed. A refund is recorded. Each decision
 * is a transaction with its entry in the audit log, so a repeated call continues where another ended.
 */
@Injectable()
export class RepairAfterRestore {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Restores) private readonly restores: Restores,
    @Inject(RestoreRepository) private readonly repository: RestoreRepository,
    @Inject(ForgottenChargeRepository) private readonly charges: ForgottenChargeRepository,
    @Inject(FindForgottenMovements) private readonly findForgotten: FindForgottenMovements,
    @Inject(FindReports) private readonly findReports: FindReports,
    @Inject(RecoverAttempts) private readonly recoverAttempts: RecoverAttempts,
    @Inject(RecoverRefunds) private readonly recoverRefunds: RecoverRefunds,
    @Inject(ReverseForgottenCharges) private readonly reversals: ReverseForgottenCharges,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(AuditTrail) private readonly audit: AuditTrail,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /**
   * Throws `resource.not-found` when no restore is open, and `service.not-ready` while events of other services are
   * missing: a payment can only be recorded for a known session of a known merchant.
   *
   * @param reversesReported reverses also charges that were reported to the merchant as successes
   */
  async execute(author: ChangeAuthor, reversesReported: boolean): Promise<RepairReport> {
    const restore = await this.restores.findOpen();
    if (!restore) throw new DomainError('resource.not-found', { message: 'No restore is open.' });
    if (!restore.replayedAt) throw new DomainError('service.not-ready', { retryAfterSeconds: 5 });
    const forgotten = await this.findForgotten.execute(restore.restoredTo);
    const charges = forgotten.filter(({ line }) => line.kind === 'charge');
    const refunds = forgotten.filter(({ line }) => line.kind === 'refund');
    const run = new Run(restore, author);
    await this.repairCharges(run, charges, refunds, reversesReported);
    // A refund needs the recorded payment of its charge, with its outcome.
    await this.forEachAcquirer((name) => this.recoverAttempts.runStep(name));
    await this.repairRefunds(run, refunds);
    await this.forEachAcquirer((name) => this.recoverRefunds.runStep(name));
    await this.forEachAcquirer((name) => this.reversals.runStep(name));
    const report = { ...run.report, acquirersWithoutStatement: this.acquirers.namesWithSettlementReports };
    await inTransaction(this.dataSource, async (tx) => {
      await this.repository.markRepaired(tx, restore.restoreId, report.unresolved);
      const { listedUnresolved: _, ...counts } = report;
      await this.audit.append(tx, author, { action: 'restore.repaired', after: { ...counts, reversesReported } });
    });
    this.log.warn({ restoredTo: restore.restoredTo, ...report }, 'the database was compared with the bank');
    return report;
  }

  private async repairCharges(
    run: Run,
    charges: readonly ForgottenMovement[],
    refunds: readonly ForgottenMovement[],
    reversesReported: boolean,
  ): Promise<void> {
    const references = [...new Set(charges.map(({ line }) => line.paymentReference))];
    const reports = await this.findReports.findOfPages(references);
    const known = await this.repository.findKnownPayments(references);
    const refunded = new Set(refunds.map(({ line }) => line.paymentReference));
    for (const charge of charges) {
      const reference = charge.line.paymentReference;
      const report = reports.get(reference);
      const plan = planRepair(charge, {
        ...{ report, reversesReported, isPaymentKnown: known.has(reference) },
        hasForgottenRefunds: refunded.has(reference),
        isReportedToMerchant: report !== undefined || (await this.findReports.isReportedToMerchant(charge)),
      });
      if (plan.kind === 'unresolved') run.addUnresolved(charge, plan.reason);
      else if (plan.kind === 'reverse') await this.reverse(run, charge);
      else if (await this.record(run, charge, plan.report)) run.count('chargesRecorded');
      else if (reversesReported) await this.reverse(run, charge);
      else run.addUnresolved(charge, 'report-does-not-match');
    }
  }

  private record(run: Run, charge: ForgottenMovement, report: Parameters<RestoreRepository['recordCharge']>[2]) {
    return inTransaction(this.dataSource, async (tx) => {
      if (!(await this.repository.recordCharge(tx, charge, report))) return false;
      await this.audit.append(tx, run.author, describeAction('restore.charge-recorded', charge));
      return true;
    });
  }

  private async reverse(run: Run, charge: ForgottenMovement): Promise<void> {
    const { restoreId } = run.restore;
    const isNew = await inTransaction(this.dataSource, async (tx) => {
      if (!(await this.charges.insert(tx, charge, { restoreId, nextRequestAt: this.clock.now() }))) return false;
      await this.audit.append(tx, run.author, describeAction('restore.charge-reversed', charge));
      return true;
    });
    if (isNew) run.count('chargesReversed');
  }

  private async repairRefunds(run: Run, refunds: readonly ForgottenMovement[]): Promise<void> {
    for (const refund of refunds) {
      const isRecorded = await inTransaction(this.dataSource, async (tx) => {
        if (!(await this.repository.recordRefund(tx, refund, run.restore.restoreId))) return false;
        await this.audit.append(tx, run.author, describeAction('restore.refund-recorded', refund));
        return true;
      });
      if (isRecorded) run.count('refundsRecorded');
      else run.addUnresolved(refund, 'refund-without-payment');
    }
  }

  /** Repeats a step of a job until nothing more is due. Each step leases its rows, so that a row is due once. */
  private async forEachAcquirer(runStep: (acquirer: string) => Promise<number>): Promise<void> {
    for (const name of this.acquirers.names) while ((await runStep(name)) > 0);
  }
}

/** The counts of one call. */
class Run {
  private readonly counts = { chargesRecorded: 0, chargesReversed: 0, refundsRecorded: 0, unresolved: 0 };
  private readonly listed: UnresolvedMovement[] = [];

  constructor(
    readonly restore: OpenRestore,
    readonly author: ChangeAuthor,
  ) {}

  count(name: 'chargesRecorded' | 'chargesReversed' | 'refundsRecorded'): void {
    this.counts[name]++;
  }

  addUnresolved({ line, route }: ForgottenMovement, reason: UnresolvedReason): void {
    this.counts.unresolved++;
    if (this.listed.length === MAX_LISTED) return;
    const { idempotencyKey, paymentReference: svcId, amount, currencyISOCode } = line;
    const kind = line.kind === 'refund' ? 'refund' : 'charge';
    const { acquirer, account } = route;
    const movement = { reason, kind, acquirer, accountReference: account.accountReference } as const;
    this.listed.push({ ...movement, idempotencyKey, svcId, amount, currencyISOCode });
  }

  get report(): Omit<RepairReport, 'acquirersWithoutStatement'> {
    return { ...this.counts, listedUnresolved: this.listed };
  }
}

function describeAction(action: string, { line, route, merchantId }: ForgottenMovement) {
  const { idempotencyKey, paymentReference: svcId, amount, currencyISOCode, movedUTCDate } = line;
  const { acquirer, account } = route;
  const movement = { svcId, mode: account.mode, acquirer, idempotencyKey, amount, currencyISOCode, movedUTCDate };
  return { action, merchantId, after: movement };
}
