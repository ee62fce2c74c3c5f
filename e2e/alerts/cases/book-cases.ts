/** Alerts of the ledger, reconciliations and settlement reports. */
import { waitUntil } from '@svc/testing';
import type { AlertCase } from '../alert-case.js';
import type { AlertDrill } from '../alert-drill.js';
import { requestRefund, today } from './payment-cases.js';

const ACCOUNT = 'SvcDemo';
const DAY_MS = 86_400_000;
/** A nightly run that fails is started three times in all. */
const STARTS_BEFORE_LAST = 2;

const yesterday = (): string => new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);

/** A nightly run of a day, which otherwise begins at 00:30 UTC of the next day. */
async function requestNight({ platform }: AlertDrill, day = today(), starts = 0): Promise<void> {
  const [{ runId }] = (await platform.sql<{ runId: string }>(
    `INSERT INTO payment_processor.reconciliations (run_id, day, night, state, starts, requested_at)
     VALUES (gen_random_uuid(), $1, $1::date + 1, 'waiting', $2, now())
     ON CONFLICT (night, day) DO UPDATE SET state = 'waiting', starts = $2, ended_at = NULL, differences = NULL, open = NULL,
       is_whole_day = NULL, result = NULL, failure = NULL, requested_at = now() RETURNING run_id AS "runId"`,
    [day, starts],
  )) as [{ runId: string }];
  await waitUntil('the end of the nightly run', 90_000, async () => {
    const rows = await platform.sql(
      `SELECT 1 FROM payment_processor.reconciliations WHERE run_id = $1 AND state IN ('done', 'failed')`,
      [runId],
    );
    return rows.length > 0;
  });
}

/** Makes a settlement report, and waits until it is announced. */
async function announceReport(drill: AlertDrill, column: string): Promise<void> {
  await drill.emulator.closeBatch(ACCOUNT);
  await waitUntil('the announced report', 20_000, async () => {
    const rows = await drill.platform.sql(
      `UPDATE payment_processor.acquirer_reports SET ${column} WHERE report ->> 'kind' = 'statement' AND effect IS NULL RETURNING 1`,
    );
    return rows.length > 0;
  });
}

export const BOOK_CASES: readonly AlertCase[] = [
  {
    alert: 'SvcReconciliationDiffers',
    how: 'the copy of a payment in merchant-retrieval has another amount; time is moved: the nightly run is requested now',
    cause: async (drill) => {
      const reference = await drill.pay();
      const change = (difference: number): Promise<unknown[]> =>
        drill.platform.sql(
          `UPDATE merchant_retrieval.payments SET tendered_amount = tendered_amount + $2 WHERE payment_reference = $1 RETURNING 1`,
          [reference, difference],
        );
      await waitUntil('the copy', 20_000, async () => (await change(1)).length > 0);
      await requestNight(drill);
      return { values: { 'YYYY-MM-DD': today() }, repair: () => change(-1) };
    },
  },
  {
    alert: 'SvcReconciliationFailed',
    how: 'a table of the reconciliation is missing; time is moved: the last start of the nightly run is requested now',
    cause: async (drill) => {
      await drill.platform.sql('ALTER TABLE payment_processor.statement_lines RENAME TO statement_lines_away');
      try {
        await requestNight(drill, today(), STARTS_BEFORE_LAST);
      } finally {
        await drill.platform.sql('ALTER TABLE payment_processor.statement_lines_away RENAME TO statement_lines');
      }
      return { values: { 'YYYY-MM-DD': today() } };
    },
  },
  {
    alert: 'SvcReconciliationLate',
    how: 'time is moved: the last nightly run is made two days older',
    cause: async (drill) => {
      // Only the run of a day that is over compares the whole day.
      await requestNight(drill, yesterday());
      await drill.platform.sql(
        `UPDATE payment_processor.reconciliations SET ended_at = ended_at - interval '2 days' WHERE ended_at IS NOT NULL`,
      );
      return { values: { 'YYYY-MM-DD': yesterday() } };
    },
  },
  {
    alert: 'SvcLedgerUnsealed',
    how: 'a transaction with a transaction id stays open for more than a minute, and a payment is made',
    cause: async (drill) => {
      await drill.platform.sql('CREATE TABLE IF NOT EXISTS public.drill (id int)');
      const { pid } = await drill.openTransaction('INSERT INTO public.drill VALUES (1)');
      await drill.pay();
      return { values: { pid } };
    },
  },
  {
    alert: 'SvcSettlementReportUnread',
    how: 'the download of a settlement report gets 401; time is moved: its announcement is made three hours older',
    cause: async (drill) => {
      await drill.pay();
      await drill.emulator.refuseReports(401, 1_000);
      await announceReport(drill, `received_at = received_at - interval '3 hours'`);
      return {
        repair: async () => {
          await drill.emulator.clearFaults();
          await drill.platform.sql(
            `UPDATE payment_processor.acquirer_reports SET next_apply_at = now() WHERE next_apply_at IS NOT NULL`,
          );
        },
      };
    },
  },
  {
    alert: 'SvcSettlementLinesUnmatched',
    how: 'the webhook of a refund is missing while its line is in a settlement report',
    cause: async (drill) => {
      await drill.emulator.withholdWebhooks('REFUND', 1);
      await requestRefund(drill);
      await drill.emulator.closeBatch(ACCOUNT);
      return {
        repair: async () => {
          await drill.emulator.releaseWebhooks('REFUND');
          await waitUntil('the line to match', 60_000, async () => {
            await drill.platform.svc('admin', 'reconcile', '--day', today());
            return (await drill.admin('settlement-reports', 'unmatched', '--json')).trim() === '[]';
          });
        },
      };
    },
  },
  {
    alert: 'SvcSettlementReportMissing',
    how: 'no settlement report after a capture; time is moved: the captures are made six days older',
    cause: async (drill) => {
      await drill.pay();
      await waitUntil('the transfer of the capture', 20_000, async () => {
        const rows = await drill.platform.sql(`SELECT 1 FROM payment_processor.transfers WHERE kind = 'capture'`);
        return rows.length > 0;
      });
      await drill.platform.sql(
        `BEGIN; SET LOCAL session_replication_role = 'replica';
         UPDATE payment_processor.merchant_accounts SET set_at = set_at - interval '30 days';
         UPDATE payment_processor.acquirer_reports SET received_at = received_at - interval '20 days';
         UPDATE payment_processor.settlement_lines SET stored_at = stored_at - interval '20 days';
         UPDATE payment_processor.transfers SET created_at = created_at - interval '6 days' WHERE kind = 'capture'; COMMIT`,
      );
      return { repair: () => drill.emulator.closeBatch(ACCOUNT) };
    },
  },
];
