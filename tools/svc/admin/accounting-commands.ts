import type { Administration } from '../administration-api/administration.ts';
import { SvcError } from '../base/svc-error.ts';
import { command, formatQuery, pickMode, request, usageError } from './command.ts';

/** Refunds, settlements, and the hash chain of the ledger. */
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
    'settlements show <merchantId> <day> [--live] [--csv]',
    "shows a merchant's settlement statement of a day (UTC, e.g. 2026-11-20); --csv: each movement; amounts in cents",
    async (api, { merchantId, day, csv, json, ...input }) => {
      const path = `/settlements/${encodeURIComponent(day)}${formatQuery({ merchantId, ...pickMode(input) })}`;
      if (csv === true) return api.text(path, 'text/csv');
      const statement = (await api.call('GET', path)) as Statement;
      return json === true ? statement : statement.totals.map((totals) => formatTotals(statement, totals));
    },
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
  readonly day: string;
  readonly mode: string;
  readonly closed: boolean;
  readonly totals: readonly TotalsRow[];
}

type TotalsRow = Readonly<Record<'payments' | 'vouchers' | 'externalPayments' | 'refunds' | 'fees', Total>> & {
  readonly currencyISOCode: string;
  readonly net: number;
};

/** Deductions are negative, so that the amounts of a row add up to `net`. */
function formatTotals({ day, mode, closed }: Statement, totals: TotalsRow): Record<string, unknown> {
  const format = ({ amount, count }: Total) => `${amount} (${count})`;
  return {
    day,
    mode,
    books: closed ? 'closed' : 'open',
    currency: totals.currencyISOCode,
    payments: format(totals.payments),
    vouchers: format(totals.vouchers),
    external: format(totals.externalPayments),
    refunds: `-${format(totals.refunds)}`,
    fees: `-${format(totals.fees)}`,
    net: totals.net,
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
  readonly day?: string;
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

function describeFinding({ kind, sealNumber, transferId, day }: Finding): string {
  const seal = `seal ${sealNumber}`;
  if (kind === 'root changed') return `the root of ${day} is not the hash of ${seal}`;
  if (kind === 'seal removed') return `${seal} was removed`;
  if (kind === 'seal changed') return `${seal} was changed`;
  return `transfer ${transferId} of ${seal} was ${kind}`;
}
