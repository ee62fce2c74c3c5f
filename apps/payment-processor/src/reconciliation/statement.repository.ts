import { Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { addDays } from '@svc/kernel';
import { inTransaction, namedStatement, useDefaultPlanner } from '@svc/persistence';
import { DataSource } from 'typeorm';
import type { StatementLine } from '../acquirers/acquirer.js';
import { Acquirers } from '../acquirers/acquirers.js';
import { formatUTCDay } from '../ledger/day.js';
import { sliceDay, startOfDay } from './day-slices.js';
import type { LeasedRun } from './reconciliation.repository.js';

/** An account at an acquirer, with the days whose statements must be read. */
export interface StatementAccount {
  readonly acquirer: string;
  readonly mode: Mode;
  readonly accountReference: string;
  /** Merchant to which movements without an attempt, a refund or a dispute are assigned. */
  readonly merchantId: number;
  /** Days whose statements may contain movements of the reconciled day. */
  readonly days: readonly string[];
}

/** Number of earlier days whose statements are read for movements that were confirmed late. */
const MAX_DAYS_BACK = 14;
/** Limit of lines that one DELETE statement removes. */
const DELETE_BATCH_SIZE = 50_000;
const UUID_PATTERN = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';

/** Stores the acquirer's statements during a run. */
@Injectable()
export class StatementRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
  ) {}

  /**
   * The accounts with movements on the day. Their statements of the previous day and the next day are read too, because
   * around midnight the acquirer's clock and the platform's clock may assign different days to a movement. All other
   * accounts of merchants are included too, because their statements must be empty. Accounts at acquirers with settlement
   * reports are not included.
   */
  async findAccounts(
    day: string,
    merchantId: number | undefined,
    renewLease: () => Promise<void>,
  ): Promise<StatementAccount[]> {
    const accountsWithMovements = await this.findAccountsWithMovements(day, merchantId, renewLease);
    const accounts = new Map(accountsWithMovements.map((account) => [buildAccountKey(account), account]));
    for (const owner of await this.findMerchants(merchantId)) {
      const route = await this.acquirers.find(owner.merchantId, owner.mode);
      if (!route) continue;
      const account = { ...owner, acquirer: route.acquirer, ...route.account, days: [day] };
      if (!accounts.has(buildAccountKey(account))) accounts.set(buildAccountKey(account), account);
    }
    const settledByReports = this.acquirers.namesWithSettlementReports;
    return [...accounts.values()].filter(({ acquirer }) => !settledByReports.includes(acquirer));
  }

  async insertLines(
    { runId, starts, day }: LeasedRun,
    watermark: Date,
    { acquirer, accountReference, mode, merchantId }: StatementAccount,
    lines: readonly StatementLine[],
  ): Promise<void> {
    const values = INSERT_LINES.valuesOf({
      ...{ runId, starts, acquirer, accountReference, mode, merchantId, watermark },
      lines: JSON.stringify(lines),
      from: startOfDay(day),
      until: startOfDay(addDays(day)),
      uuidPattern: UUID_PATTERN,
    });
    await this.dataSource.query(INSERT_LINES.text, values);
  }

  /**
   * Deletes the lines of this run and of ended runs, in batches because of the statement timeout of 15 s. Deletes no
   * line of this run when another replica has taken over the run.
   */
  async deleteLines({ runId, starts }: LeasedRun, renewLease?: () => Promise<void>): Promise<void> {
    for (let deletedCount = DELETE_BATCH_SIZE; deletedCount === DELETE_BATCH_SIZE;) {
      await renewLease?.();
      [, deletedCount] = await this.dataSource.query<[unknown[], number]>(
        `WITH runs AS (
           SELECT run_id FROM reconciliations WHERE run_id = $1 AND starts = $2
           UNION SELECT run_id FROM reconciliations WHERE state IN ('done', 'failed')
         )
         DELETE FROM statement_lines WHERE ctid = ANY (ARRAY(
           SELECT l.ctid FROM runs JOIN statement_lines l ON l.run_id = runs.run_id LIMIT ${DELETE_BATCH_SIZE}))`,
        [runId, starts],
      );
    }
  }

  private async findAccountsWithMovements(
    day: string,
    merchantId: number | undefined,
    renewLease: () => Promise<void>,
  ): Promise<StatementAccount[]> {
    const accountsWithMovements = new Map<string, AccountRow>();
    for (const { from, until } of sliceDay(day, startOfDay(addDays(day)))) {
      await renewLease();
      const rows = await inTransaction(this.dataSource, async (tx) => {
        await useDefaultPlanner(tx);
        return tx.query<AccountRow[]>(MOVED_ACCOUNTS, [from, until, merchantId ?? null]);
      });
      for (const row of rows) {
        const earlier = accountsWithMovements.get(buildAccountKey(row));
        accountsWithMovements.set(buildAccountKey(row), earlier && earlier.since < row.since ? earlier : row);
      }
    }
    const [oldest, last] = [addDays(day, -MAX_DAYS_BACK), addDays(day)];
    return [...accountsWithMovements.values()].map(({ since, ...account }) => {
      const first = addDays(formatUTCDay(since), -1);
      return { ...account, days: daysBetween(first < oldest ? oldest : first, last) };
    });
  }

  private async findMerchants(merchantId: number | undefined): Promise<{ merchantId: number; mode: Mode }[]> {
    return this.dataSource.query(
      `SELECT merchant_id AS "merchantId", mode FROM known_merchants CROSS JOIN (VALUES ('test'), ('live')) AS modes (mode)
        WHERE $1::bigint IS NULL OR merchant_id = $1 ORDER BY merchant_id, mode`,
      [merchantId ?? null],
    );
  }
}

interface AccountRow extends Omit<StatementAccount, 'days'> {
  /** Earliest possible time of the account's movements. */
  readonly since: Date;
}

/**
 * Inserts the lines of a page of a statement that belong to the day of the run. The charge (also one that a restore has
 * forgotten), the refund or the report of a dispute is found by the line's idempotency key. It decides three columns:
 * - `at`: its own time instead of the acquirer's, so that both sides of the comparison have the same time
 * - `has_reference`: false for a charge that is not approved, whose reference is not compared
 * - `open`: it has no outcome or booking yet, or got it after the watermark, so the line is not compared
 *
 * A replica whose run was taken over inserts nothing, because `starts` has changed.
 */
const INSERT_LINES = namedStatement(`
  INSERT INTO statement_lines (run_id, at, mode, merchant_id, kind, idempotency_key, acquirer, account, acquirer_reference,
                               payment_reference, amount, currency, open)
  SELECT $runId::uuid, known.at, $mode::text, known.merchant_id, line.kind, line."idempotencyKey", $acquirer::text, $accountReference::text,
         CASE WHEN known.has_reference THEN line."acquirerReference" END, line."paymentReference", line.amount, line."currencyISOCode", known.open
    FROM jsonb_to_recordset($lines::jsonb) AS line (kind text, "idempotencyKey" text, "acquirerReference" text, "paymentReference" text,
                                                amount bigint, "currencyISOCode" text, "movedUTCDate" timestamptz)
    LEFT JOIN attempts a ON line.kind IN ('charge', 'reversal') AND a.attempt_id = CASE WHEN line."idempotencyKey" ~* $uuidPattern THEN line."idempotencyKey"::uuid END
    LEFT JOIN forgotten_charges f ON line.kind IN ('charge', 'reversal') AND f.charge_id = CASE WHEN line."idempotencyKey" ~* $uuidPattern THEN line."idempotencyKey"::uuid END
    LEFT JOIN reversals late_approval ON late_approval.attempt_id = a.attempt_id
    LEFT JOIN refunds r ON line.kind = 'refund' AND r.refund_id = CASE WHEN line."idempotencyKey" ~* $uuidPattern THEN line."idempotencyKey"::uuid END
    LEFT JOIN dispute_reports report ON line.kind IN ('dispute', 'disputeReversal') AND report.acquirer = $acquirer AND report.mode = $mode
                                     AND report.report_reference = line."idempotencyKey"
    LEFT JOIN disputes d ON d.dispute_id = report.dispute_id
    LEFT JOIN payments p ON p.payment_id = coalesce(a.payment_id, r.payment_id, d.payment_id)
    LEFT JOIN payables y ON y.payable_id = p.payable_id
   CROSS JOIN LATERAL (
     SELECT coalesce(CASE WHEN line.kind = 'charge' THEN coalesce(a.started_at, f.found_at)
                          WHEN f.charge_id IS NOT NULL THEN f.reversed_at
                          WHEN late_approval.attempt_id IS NOT NULL THEN late_approval.confirmed_at
                          WHEN a.state = 'reversed' THEN a.ended_at
                          ELSE coalesce(r.ended_at, report.booked_at) END, line."movedUTCDate") AS at,
            coalesce(y.merchant_id, f.merchant_id, $merchantId::bigint) AS merchant_id,
            coalesce(a.state = 'approved' OR a.attempt_id IS NULL, true) AND f.charge_id IS NULL AS has_reference,
            coalesce(a.state IN ('started', 'unknown', 'reversing') OR a.ended_at >= $watermark::timestamptz OR line."movedUTCDate" >= $watermark
                     OR (line.kind = 'reversal' AND late_approval.attempt_id IS NOT NULL AND (late_approval.confirmed_at IS NULL OR late_approval.confirmed_at >= $watermark))
                     OR r.state = 'pending' OR r.ended_at >= $watermark
                     OR (line.kind = 'charge' AND f.found_at >= $watermark)
                     OR (line.kind = 'reversal' AND f.charge_id IS NOT NULL AND (f.reversed_at IS NULL OR f.reversed_at >= $watermark))
                     OR (report.report_id IS NOT NULL AND report.booked_at IS NULL) OR report.booked_at >= $watermark, false) AS open) AS known
   WHERE known.at >= $from::timestamptz AND known.at < $until::timestamptz
     AND EXISTS (SELECT FROM reconciliations WHERE run_id = $runId AND starts = $starts::int)`);

/**
 * Accounts with movements. A payment that was recorded after a restore was charged when it was accepted. `$1` and `$2`: a range within the day, `$3`: the merchant or NULL.
 */
const MOVED_ACCOUNTS = `
  SELECT acquirer, mode, account AS "accountReference", min(merchant_id) AS "merchantId", min(since) AS since FROM (
  SELECT a.acquirer, y.mode, a.account, y.merchant_id, least(moved.since, p.accepted_at) AS since
    FROM (SELECT attempt_id, started_at AS since FROM attempts WHERE started_at >= $1 AND started_at < $2
          UNION ALL
          SELECT attempt_id, requested_at FROM reversals WHERE confirmed_at >= $1 AND confirmed_at < $2
          UNION ALL
          SELECT attempt_id, started_at FROM attempts WHERE state = 'reversed' AND ended_at >= $1 AND ended_at < $2
          UNION ALL
          SELECT attempt_id, created_at FROM refunds WHERE ended_at >= $1 AND ended_at < $2
          UNION ALL
          SELECT d.attempt_id, least(report.occurred_at, report.booked_at)
            FROM dispute_reports report JOIN disputes d ON d.dispute_id = report.dispute_id
           WHERE report.booked_at >= $1 AND report.booked_at < $2) AS moved
    JOIN attempts a ON a.attempt_id = moved.attempt_id
    JOIN payments p ON p.payment_id = a.payment_id JOIN payables y ON y.payable_id = p.payable_id
  UNION ALL
  SELECT f.acquirer, f.mode, f.account, f.merchant_id, f.charged_at
    FROM (SELECT charge_id FROM forgotten_charges WHERE found_at >= $1 AND found_at < $2
          UNION SELECT charge_id FROM forgotten_charges WHERE reversed_at >= $1 AND reversed_at < $2) AS moved
    JOIN forgotten_charges f ON f.charge_id = moved.charge_id) AS account
   WHERE $3::bigint IS NULL OR merchant_id = $3
   GROUP BY acquirer, mode, account`;

function buildAccountKey({ acquirer, mode, accountReference }: Omit<StatementAccount, 'days' | 'merchantId'>): string {
  return [acquirer, mode, accountReference].join(' ');
}

function daysBetween(first: string, last: string): string[] {
  const days: string[] = [];
  for (let day = first; day <= last; day = addDays(day)) days.push(day);
  return days;
}
