import { Inject, Injectable } from '@nestjs/common';
import { Clock, newUuid } from '@svc/kernel';
import {
  type ColumnMap,
  insertedColumns,
  inTransaction,
  namedStatement,
  recordColumns,
  recordValues,
} from '@svc/persistence';
import { DataSource } from 'typeorm';
import type { StatementReport } from '../acquirers/acquirer-report.js';
import type { SettlementLine } from '../acquirers/settlement-line.js';
import { settlementTransfer } from '../ledger/transfer.js';
import { insertTransfersSql, type TransferRow } from '../ledger/transfer.repository.js';
import { LINE_AMOUNT, OWN_MOVEMENT_OF_LINE } from './own-movements.query.js';

/** The report whose lines are stored. */
export interface StoredStatement {
  readonly reportId: string;
  readonly report: StatementReport;
}

/** A line with the merchant of its account. */
export interface OwnedLine extends SettlementLine {
  readonly merchantId: number;
}

export interface StoredLines {
  /** Number of the lines that were not stored before. */
  readonly stored: number;
  /** Number of the lines that were stored before with another content. The stored content stays. */
  readonly different: number;
  /** True if an older report, which is not read completely yet, stores some of the lines. */
  readonly isReadElsewhere: boolean;
}

/** Stores the lines of settlement reports, each once, with the transfer of its fee or payout in the same statement. */
@Injectable()
export class SettlementLineRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** The merchant that has, or had, this account at the acquirer; the one with the lowest id if there are several. */
  async findMerchant({
    acquirer,
    mode,
    accountReference,
  }: Pick<StatementReport, 'acquirer' | 'mode' | 'accountReference'>): Promise<number | undefined> {
    const [row] = await this.dataSource.query<{ merchantId: number | null }[]>(
      `SELECT min(merchant_id) AS "merchantId" FROM merchant_accounts WHERE acquirer = $1 AND mode = $2 AND account = $3`,
      [acquirer, mode, accountReference],
    );
    return row?.merchantId ?? undefined;
  }

  /**
   * Stores lines of one report, and matches them with the movements of this service. A repeat changes nothing. A line of a
   * batch that another report stores is only compared with the lines of that report.
   */
  async store({ reportId, report }: StoredStatement, lines: readonly OwnedLine[]): Promise<StoredLines> {
    const now = this.clock.now();
    const rows = lines.map(({ feeParts, currencyISOCode, ...line }) => ({
      ...line,
      ...feeParts,
      currencyISOCode,
      lineId: newUuid(this.clock),
    }));
    const located = await this.locate(report, rows);
    const transfers = located.flatMap((line): TransferRow[] => {
      const transfer = settlementTransfer(line, report);
      if (transfer === undefined || line.currencyISOCode === undefined) return [];
      const { currencyISOCode, merchantId, paymentId, lineId: settlementLineId } = line;
      const columns = { transferId: newUuid(this.clock), createdAt: now, settlementLineId };
      return [{ ...transfer, ...columns, currencyISOCode, mode: report.mode, merchantId, paymentId }];
    });
    const { acquirer, mode } = report;
    const batches = { reportId, acquirer, mode };
    const parameters = { ...batches, now, lines: JSON.stringify(located) };
    await this.dataSource.query(CLAIM_BATCHES.text, CLAIM_BATCHES.valuesOf({ ...batches, lines: parameters.lines }));
    const stored = await this.dataSource.query<{ lineId: string }[]>(
      STORE.text,
      STORE.valuesOf({ ...parameters, transfers: JSON.stringify(transfers) }),
    );
    await this.match(stored.map(({ lineId }) => lineId));
    if (stored.length === lines.length) return { stored: stored.length, different: 0, isReadElsewhere: false };
    const values = COMPARE.valuesOf({ ...batches, lines: parameters.lines });
    const [found] = await this.dataSource.query<[Omit<StoredLines, 'stored'>]>(COMPARE.text, values);
    return { stored: stored.length, ...found };
  }

  /**
   * Matches lines with the movements of this service, for example with a dispute that was reported after its line. Only
   * the first line of a movement matches it. Several callers may match all lines at the same time, so each locks them in the
   * same order.
   *
   * @param lineIds by default all unmatched lines
   */
  async match(lineIds?: readonly string[]): Promise<void> {
    if (lineIds?.length === 0) return;
    const values = [lineIds ?? null];
    await inTransaction(this.dataSource, async (tx) => {
      for (const statement of [LOCK_UNMATCHED, LOCATE_DISPUTES, MATCH]) await tx.query(statement, values);
    });
  }

  /** Finds the payment and the movement of each line. Only payments with this account at this acquirer are found. */
  private async locate<Line extends OwnedLine | Omit<OwnedLine, 'feeParts'>>(
    { acquirer, mode }: StatementReport,
    lines: readonly Line[],
  ): Promise<(Line & Location)[]> {
    const values = LOCATE.valuesOf({ acquirer, mode, lines: JSON.stringify(lines) });
    const rows = await this.dataSource.query<(Location & { lineNumber: number })[]>(LOCATE.text, values);
    const byLine = new Map(rows.map((row) => [row.lineNumber, row]));
    return lines.map((line) => {
      const { merchantId = line.merchantId, paymentId = null, movementId = null } = byLine.get(line.lineNumber) ?? {};
      return { ...line, merchantId, paymentId, movementId };
    });
  }
}

interface Location {
  readonly merchantId: number;
  readonly paymentId: string | null;
  readonly movementId: string | null;
}

const LINE_MAP: ColumnMap = {
  lineId: ['line_id', 'uuid'],
  accountReference: ['account', 'text'],
  batch: ['batch', 'bigint'],
  lineNumber: ['line_number', 'int'],
  merchantId: ['merchant_id', 'bigint'],
  type: ['type', 'text'],
  kind: ['kind', 'text'],
  paymentId: ['payment_id', 'uuid'],
  movementId: ['movement_id', 'uuid'],
  disputeReportReference: ['dispute_report_reference', 'text'],
  paymentReference: ['payment_reference', 'text'],
  acquirerReference: ['acquirer_reference', 'text'],
  currencyISOCode: ['currency', 'text'],
  grossAmount: ['gross_amount', 'bigint'],
  netAmount: ['net_amount', 'bigint'],
  feeAmount: ['fee_amount', 'bigint'],
  commission: ['commission', 'bigint'],
  markup: ['markup', 'bigint'],
  schemeFees: ['scheme_fees', 'bigint'],
  interchange: ['interchange', 'bigint'],
  problem: ['problem', 'text'],
};

const LOCATE = namedStatement(`
  SELECT line."lineNumber", y.merchant_id AS "merchantId", p.payment_id AS "paymentId",
         CASE WHEN line.kind IN ('refund', 'refundReturn') THEN r.refund_id ELSE a.attempt_id END AS "movementId"
    FROM jsonb_to_recordset($lines::jsonb) AS line ("lineNumber" int, kind text, "accountReference" text, "paymentReference" text,
                                                   "chargeReference" text, "refundId" uuid)
    JOIN payments p ON p.payment_reference = line."paymentReference"
    JOIN payables y ON y.payable_id = p.payable_id AND y.mode = $mode::text
    JOIN attempts a ON a.payment_id = p.payment_id AND a.acquirer = $acquirer::text AND a.account = line."accountReference"
                   AND a.acquirer_reference = line."chargeReference"
    LEFT JOIN refunds r ON r.refund_id = line."refundId" AND r.attempt_id = a.attempt_id
   WHERE line.kind IN ('capture', 'captureReversal', 'refund', 'refundReturn')
  UNION ALL
  SELECT line."lineNumber", y.merchant_id, p.payment_id, NULL
    FROM jsonb_to_recordset($lines::jsonb) AS line ("lineNumber" int, kind text, "accountReference" text, "paymentReference" text)
    JOIN payments p ON p.payment_reference = line."paymentReference"
    JOIN payables y ON y.payable_id = p.payable_id AND y.mode = $mode
   WHERE line.kind IN ('dispute', 'disputeReversal')
     AND EXISTS (SELECT FROM attempts a WHERE a.payment_id = p.payment_id AND a.acquirer = $acquirer AND a.account = line."accountReference")`);

/** The first report that contains a batch stores its lines. */
const CLAIM_BATCHES = namedStatement(`
  INSERT INTO settlement_batches (acquirer, mode, account, batch, report_id)
  SELECT DISTINCT $acquirer::text, $mode::text, line.account, line.batch, $reportId::uuid
    FROM jsonb_to_recordset($lines::jsonb) AS source (${recordColumns(LINE_MAP)})
   CROSS JOIN LATERAL (SELECT source."accountReference" AS account, source.batch) AS line
  ON CONFLICT (acquirer, mode, account, batch) DO NOTHING`);

/** The transfers of lines that were stored before are not inserted again. */
const STORE = namedStatement(`
  WITH stored AS (
    INSERT INTO settlement_lines (report_id, acquirer, mode, is_matched, stored_at, ${insertedColumns(LINE_MAP)})
    SELECT $reportId::uuid, $acquirer::text, $mode::text, line.kind IN ('fee', 'payout', 'balance') AND line.problem IS NULL,
           $now::timestamptz, ${recordValues(LINE_MAP, 'line')}
      FROM jsonb_to_recordset($lines::jsonb) AS line (${recordColumns(LINE_MAP)})
      JOIN settlement_batches b ON b.report_id = $reportId::uuid AND b.account = line."accountReference" AND b.batch = line.batch
    ON CONFLICT (acquirer, mode, account, batch, line_number) DO NOTHING
    RETURNING line_id
  ), transfer AS (
    ${insertTransfersSql('$transfers::jsonb', 'stored')} WHERE transfer."settlementLineId" = stored.line_id
  )
  SELECT line_id AS "lineId" FROM stored`);

const LINE_CONTENT = `line.type, line."paymentReference", line."acquirerReference", line."currencyISOCode", line."grossAmount", line."netAmount", line."feeAmount"`;
const STORED_CONTENT = `l.type, l.payment_reference, l.acquirer_reference, l.currency, l.gross_amount, l.net_amount, l.fee_amount`;

/** Another report numbers its lines in another way, so the content of its lines is compared as a set. */
const COMPARE = namedStatement(`
  WITH line AS (
    SELECT source.*, b.report_id AS owner
      FROM jsonb_to_recordset($lines::jsonb) AS source (${recordColumns(LINE_MAP)})
      JOIN settlement_batches b ON b.acquirer = $acquirer::text AND b.mode = $mode::text AND b.account = source."accountReference"
                               AND b.batch = source.batch
  ), other_batch AS (
    SELECT DISTINCT "accountReference" AS account, batch, owner FROM line WHERE owner <> $reportId::uuid
  ), different AS (
    SELECT b.account, b.batch, ${LINE_CONTENT}
      FROM other_batch b JOIN line ON line."accountReference" = b.account AND line.batch = b.batch
    EXCEPT
    SELECT l.account, l.batch, ${STORED_CONTENT}
      FROM other_batch b JOIN settlement_lines l ON l.acquirer = $acquirer AND l.mode = $mode AND l.account = b.account AND l.batch = b.batch
  )
  SELECT ((SELECT count(*) FROM different)
          + (SELECT count(*) FROM line JOIN settlement_lines l ON l.acquirer = $acquirer AND l.mode = $mode AND l.account = line."accountReference"
                                      AND l.batch = line.batch AND l.line_number = line."lineNumber"
              WHERE line.owner = $reportId::uuid AND (${STORED_CONTENT}) IS DISTINCT FROM (${LINE_CONTENT})))::int AS different,
         EXISTS (SELECT FROM other_batch b JOIN acquirer_reports r ON r.report_id = b.owner
                  WHERE r.effect IS NULL AND r.report_id < $reportId::uuid) AS "isReadElsewhere"`);

/** $1: ids of lines, or NULL for all unmatched lines. */
const UNMATCHED_LINES = `NOT l.is_matched AND ($1::uuid[] IS NULL OR l.line_id = ANY ($1::uuid[]))`;

const LOCK_UNMATCHED = `
  SELECT count(*) FROM (SELECT FROM settlement_lines l WHERE ${UNMATCHED_LINES} ORDER BY l.line_id FOR NO KEY UPDATE) AS locked`;

const LOCATE_DISPUTES = `
  UPDATE settlement_lines l SET movement_id = report.report_id
    FROM dispute_reports report JOIN disputes d ON d.dispute_id = report.dispute_id
   WHERE ${UNMATCHED_LINES} AND l.movement_id IS NULL AND report.acquirer = l.acquirer AND report.mode = l.mode
     AND report.report_reference = l.dispute_report_reference AND d.payment_id = l.payment_id`;

const MATCH = `
  UPDATE settlement_lines l SET is_matched = true
   WHERE ${UNMATCHED_LINES} AND l.problem IS NULL AND l.movement_id IS NOT NULL
     AND EXISTS (SELECT FROM (${OWN_MOVEMENT_OF_LINE}) AS own
                   JOIN attempts a ON a.attempt_id = own.attempt_id
                   JOIN payments p ON p.payment_id = a.payment_id JOIN payables y ON y.payable_id = p.payable_id
                  WHERE own.amount = ${LINE_AMOUNT} AND y.currency = l.currency AND own.acquirer_reference = l.acquirer_reference)
     AND NOT EXISTS (SELECT FROM settlement_lines earlier
                      WHERE earlier.movement_id = l.movement_id AND earlier.kind = l.kind AND earlier.line_id < l.line_id)`;
