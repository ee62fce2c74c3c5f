import { SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';
import { command, parseMerchantId, usageError } from './command.ts';

/** The reconciliation of a day with about ten million payments takes about this time. */
const RECONCILIATION_TIMEOUT_SECONDS = 3_600;

interface Difference {
  /** One of the compared data sets: payments, ledger, acquirer, notifications or a read model. */
  readonly book: string;
  readonly merchantId: number;
  readonly mode: string;
  readonly key: string;
  readonly kind: 'missing' | 'unexpected' | 'differs';
  readonly field: string | null;
  readonly expected: unknown;
  readonly found: unknown;
}

interface MerchantReport {
  readonly merchantId: number;
  readonly mode: string;
  /** The number of differing rows of each book. `past-retention`: the book has already deleted rows of the day. */
  readonly books: Readonly<Record<string, number | 'past-retention'>>;
  /** The members below count what is not final. */
  readonly refundsPending: number;
  readonly unsettled: number;
  readonly undelivered: number;
}

interface ReconciliationRun {
  readonly state: 'waiting' | 'running' | 'done' | 'failed';
  readonly day: string;
  readonly watermark: string | null;
  readonly failure: string | null;
  readonly result: {
    readonly merchants: readonly MerchantReport[];
    /** The first differences in detail. */
    readonly listedDifferences: readonly Difference[];
    /** The number of all differences. */
    readonly differences: number;
  } | null;
}

export const reconcileCommand = command(
  'reconcile [--day=…] [--merchant=…]',
  'compares payments, ledger, acquirer, notifications and read models of a day (today); exits with 1 where they differ',
  async (api, { day, merchant }) => {
    if (day !== undefined && !isPastOrPresentDay(day))
      throw usageError(`"${day}" is not a day that has begun (UTC): write it as 2026-11-22`);
    const request = {
      ...(day === undefined ? {} : { day }),
      ...(merchant === undefined ? {} : { merchantId: parseMerchantId(merchant) }),
    };
    const { runId } = (await api.call('POST', '/reconciliations', request)) as { runId: string };
    const run = await waitUntil(
      async () => {
        const current = (await api.call('GET', `/reconciliations/${runId}`)) as ReconciliationRun;
        return current.state === 'done' || current.state === 'failed' ? current : undefined;
      },
      { withinSeconds: RECONCILIATION_TIMEOUT_SECONDS, everyMilliseconds: 250 },
    );
    if (run === undefined)
      throw new SvcError(`reconciliation ${runId} has not finished yet`, {
        hint: 'see the log of payment-processor for its result',
      });
    return formatResult(run);
  },
);

function isPastOrPresentDay(text: string): boolean {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : NaN;
  // Date.parse turns 31 February into 3 March.
  return time <= Date.now() && new Date(time).toISOString().startsWith(text);
}

function formatResult({ day, watermark, failure, result }: ReconciliationRun): unknown {
  if (result === null)
    throw new SvcError(`the reconciliation of ${day} failed: ${failure}`, {
      hint: 'a service or the acquirer did not respond: check ./svc status, then run the command again',
    });
  const table = result.merchants.map(formatReport);
  console.error(`${day} until ${watermark}: payments that became final later are not compared`);
  const { listedDifferences: listed, differences: count } = result;
  const [first] = listed;
  if (first === undefined) return table;
  const more = count > 1 ? `, and ${count - 1} more (--json shows ${listed.length})` : '';
  const hint = 'see "Resolve a difference" in docs/reconciliation.md';
  throw new SvcError(`${describeDifference(first)}${more}`, { hint, output: { table, json: result } });
}

/** Counts that are shown only when they are not 0. */
const EXCEPTIONS = { refundsPending: 'refunds pending', unsettled: 'unsettled', undelivered: 'undelivered' } as const;

/**
 * A row of the table. `differs`: the books that differ from the payments, each with its number of rows. `notes`: what is
 * pending, and books that have already deleted rows of the day.
 */
function formatReport({ books, ...row }: MerchantReport): Record<string, unknown> {
  const list = Object.entries(books).map(([name, state]) => ({
    name: name === 'payments' ? 'payment rows' : name,
    state,
  }));
  const differing = list.filter(({ state }) => typeof state === 'number' && state > 0);
  const exceptions = (['refundsPending', 'unsettled', 'undelivered'] as const).flatMap((name) =>
    row[name] > 0 ? [`${row[name]} ${EXCEPTIONS[name]}`] : [],
  );
  const deleted = list.filter(({ state }) => typeof state === 'string').map(({ name, state }) => `${name} ${state}`);
  return {
    ...row,
    differs: differing.map(({ name, state }) => `${name} ${state}`).join(', ') || '=',
    notes: [...exceptions, ...deleted].join(', '),
  };
}

function describeDifference({ book, merchantId, mode, key, kind, field, expected, found }: Difference): string {
  const row = `${key} of merchant ${merchantId} (${mode})`;
  const other = book === 'payments' ? 'the other books' : 'the payments';
  if (kind === 'missing') return `${book} has no ${row}, but ${other} have`;
  if (kind === 'unexpected') return `${book} has ${row}, but ${other} do not`;
  return `${book} has ${field} ${JSON.stringify(found)} for ${row}, but ${other} have ${JSON.stringify(expected)}`;
}
