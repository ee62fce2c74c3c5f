import type { Administration } from '../administration-api/administration.ts';
import { SvcError } from '../base/svc-error.ts';
import { command, formatQuery, pickMode, request, usageError } from './command.ts';
import { formatAmount } from './output/table-columns.ts';

/** Refunds, disputes, settlements, settlement reports of acquirers, and the hash chain of the ledger. */
export const accountingCommands = [
  // There is no command that creates a refund, because only the merchant's own key may create refunds (M5).
  command(
    'refunds list [--payment=…] [--pending]',
    'lists the newest 100 refunds; --payment: of one svcId; --pending: waiting for the bank, oldest first',
    async (api, { payment, pending }) => {
      const query = formatQuery({ svcId: payment, state: pending === true ? 'pending' : undefined });
      return ((await api.call('GET', `/refunds${query}`)) as { refunds: unknown }).refunds;
    },
  ),
  command(
    'disputes list [--payment=…]',
    'lists 100 disputes, open ones with the nearest deadline first; --payment: of one svcId',
    async (api, { payment }) =>
      ((await api.call('GET', `/disputes${formatQuery({ svcId: payment })}`)) as { disputes: unknown }).disputes,
  ),
  request(
    'disputes incidents',
    'lists the newest 100 impossible reports of acquirers about disputes',
    'GET /disputes/incidents#incidents',
  ),
  command(
    'open-cases list [--kind=…]',
    'lists charges, captures and reversals without an outcome, and contradictions of acquirers',
    async (api, { kind }) =>
      ((await api.call('GET', `/open-cases${formatQuery({ kind })}`)) as { cases: unknown }).cases,
  ),
  command(
    'settlements show <merchantId> <day> [--to=…] [--site=…] [--live] [--csv] [--bom]',
    "shows a merchant's statement of a day of its time zone (e.g. 2026-11-20); --to: of all days up to this one; --csv: each movement; --bom: for Excel",
    async (api, { merchantId, day: from, to, site: siteId, csv, bom, json, ...input }) => {
      const query = { merchantId, ...pickMode(input), from, to, siteId, bom: bom === true ? '1' : undefined };
      const path = `/settlements${formatQuery(query)}`;
      if (csv === true) return api.text(path, 'text/csv');
      const statement = (await api.call('GET', path)) as Statement;
      return json === true ? statement : statement.totals.map((totals) => formatTotals(statement, totals));
    },
  ),
  request(
    'settlement-reports list',
    'lists the newest 100 settlement reports that acquirers have announced, and whether they were read',
    'GET /settlement-reports#reports',
  ),
  command(
    'settlement-reports unmatched [--report=…]',
    'lists the newest 100 lines that no payment, refund or dispute matches; --report: of one report',
    async (api, { report }) =>
      (
        (await api.call('GET', `/settlement-reports/unmatched${formatQuery({ reportId: report })}`)) as {
          lines: unknown;
        }
      ).lines,
  ),
  command(
    'ledger verify [--day=…] [--root=…]',
    'recomputes the hash chain, or the seals of a day, and reports the first error; --root: the published root of the day',
    async (api, { day, root }) => {
      if (root !== undefined && day === undefined) throw usageError('--root needs the --day of that root');
      const range = day && ((await api.call('GET', `/ledger/days/${encodeURIComponent(day)}`)) as DaySeals);
      if (range && root !== undefined && range.root !== root.toLowerCase())
        throw new SvcError(`the root of ${day} is ${range.root}, not the one that was published`);
      return verifyLedger(api, range || undefined);
    },
  ),
  request(
    'ledger seal <sealNumber>',
    'shows a seal, to compare its hash with a settlement statement that cites it; then verify the ledger',
    'GET /ledger/seals/{sealNumber}',
  ),
  request(
    'ledger roots',
    'lists the root hashes of closed days, newest first; store them outside the platform',
    'GET /ledger/days#days',
  ),
];

interface Total {
  readonly count: number;
  readonly amount: number;
}

interface Statement {
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
  readonly mode: string;
  readonly status: 'provisional' | 'final';
  readonly totals: readonly TotalsRow[];
}

type Item =
  | 'payments'
  | 'reversals'
  | 'vouchers'
  | 'externalPayments'
  | 'refunds'
  | 'refundReturns'
  | 'fees'
  | 'feeReversals'
  | 'disputes'
  | 'disputeReversals';

type TotalsRow = Readonly<Record<Item, Total>> & {
  readonly currencyISOCode: string;
  readonly net: number;
};

/** Deductions are negative, so that the amounts of a row add up to `net`. */
function formatTotals({ from, to, timeZone, mode, status }: Statement, totals: TotalsRow): Record<string, unknown> {
  const currency = totals.currencyISOCode;
  const format = ({ amount, count }: Total) => `${formatAmount(amount, currency)} (${count})`;
  return {
    ...(from === to ? { day: from } : { from, to }),
    timeZone,
    mode,
    status,
    currency,
    payments: format(totals.payments),
    reversals: `-${format(totals.reversals)}`,
    vouchers: format(totals.vouchers),
    external: format(totals.externalPayments),
    refunds: `-${format(totals.refunds)}`,
    refundReturns: format(totals.refundReturns),
    fees: `-${format(totals.fees)}`,
    feeReversals: format(totals.feeReversals),
    disputes: `-${format(totals.disputes)}`,
    disputeReversals: format(totals.disputeReversals),
    net: formatAmount(totals.net, currency),
  };
}

/** The seals of a day. A seal is a hash of a group of transfers and of the previous seal. */
interface DaySeals {
  readonly root: string;
  readonly afterSeal: number;
  readonly sealNumber: number;
}

interface Finding {
  readonly kind: string;
  readonly sealNumber: number;
  readonly transferId?: string;
  readonly closedUntilUTCDate?: string;
}

interface VerifiedPage {
  readonly seals: number;
  readonly transfers: number;
  readonly sealNumber: number;
  readonly more: boolean;
  readonly finding: Finding | null;
}

async function verifyLedger(api: Administration, range: DaySeals | undefined): Promise<unknown> {
  const until = range === undefined ? '' : `&until=${range.sealNumber}`;
  let [seals, transfers, after] = [0, 0, range?.afterSeal ?? 0];
  for (;;) {
    const page = (await api.call('GET', `/ledger/verification?after=${after}${until}`)) as VerifiedPage;
    if (page.finding !== null) throw new SvcError(describeFinding(page.finding));
    seals += page.seals;
    transfers += page.transfers;
    after = page.sealNumber;
    if (!page.more) return { seals, transfers, lastSeal: after, ...(range === undefined ? {} : { root: range.root }) };
    console.error(`${transfers} transfers in ${seals} seals verified`);
  }
}

function describeFinding({ kind, sealNumber, transferId, closedUntilUTCDate }: Finding): string {
  const seal = `seal ${sealNumber}`;
  if (kind === 'root changed') return `the root of the closing at ${closedUntilUTCDate} is not the hash of ${seal}`;
  if (kind === 'seal removed') return `${seal} was removed`;
  if (kind === 'seal changed') return `${seal} was changed`;
  return `transfer ${transferId} of ${seal} was ${kind}`;
}
