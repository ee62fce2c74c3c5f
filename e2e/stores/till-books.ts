/** Compares a day of trade in the books of tills, transformer, ledger and acquirer, to the cent. */
import { waitUntil } from '@svc/testing';
import { refundsAtBank, waitForRefunds } from '../books/refund-books.js';
import type { Day, Sale } from './till-day.js';

/** Cents. */
interface Amounts {
  readonly paid: number;
  readonly refunded: number;
}

export interface DayBooks {
  /** Each sentence is a basket on which the books do not agree. */
  readonly problems: readonly string[];
  /** Sums of the day. The transformer keeps no sum of refunds for tills, so its refunds are compared at the acquirer. */
  readonly sums: { tills: Amounts; transformer: Pick<Amounts, 'paid'>; ledger: Amounts; bank: Amounts };
  readonly payments: number;
  readonly refunds: number;
}

interface LedgerRow {
  readonly reference: string;
  readonly payment: string;
  readonly state: string;
  readonly captured: string;
  readonly refunded: string;
}

/** Call it when all work is finished. */
export async function booksOf(day: Day): Promise<DayBooks> {
  const { platform, site, sales } = day;
  const references = sales.map(({ reference }) => reference);
  const local = new Map<string, Readonly<Record<string, unknown>>>();
  for (const sale of sales) local.set(sale.reference, await atTransformer(day, sale));
  await waitForRefunds(
    platform,
    [...local.values()].map((payment) => String(payment['SvcId'])),
  );
  const ledger = Map.groupBy(
    await platform.sql<LedgerRow>(
      `SELECT i.external_reference AS reference, p.payment_reference AS payment, p.state,
              coalesce(sum(t.amount) FILTER (WHERE t.kind = 'capture'), 0) AS captured,
              coalesce(sum(t.amount) FILTER (WHERE t.kind = 'refund'), 0) AS refunded
       FROM code_decoder.invoices i
       JOIN payment_processor.payments p ON p.payable_id = i.invoice_id
       LEFT JOIN payment_processor.transfers t USING (payment_id)
       WHERE i.site_id = $1 AND i.external_reference = ANY ($2) GROUP BY 1, 2, 3`,
      [site.siteId, references],
    ),
    ({ reference }) => reference,
  );
  const charges = Map.groupBy(
    platform.charges().filter(({ outcome }) => outcome === 'approved'),
    ({ paymentReference }) => paymentReference,
  );
  const refunds = Map.groupBy(
    refundsAtBank(platform).filter(({ outcome }) => outcome === 'succeeded'),
    ({ paymentReference }) => paymentReference,
  );

  const problems: string[] = [];
  const sums = { tills: nothing(), transformer: { paid: 0 }, ledger: nothing(), bank: nothing() };
  const counts = { payments: 0, refunds: 0 };
  for (const sale of sales) {
    const rows = ledger.get(sale.reference) ?? [];
    const known = local.get(sale.reference)!;
    const atBank = rows.flatMap(({ payment }) => charges.get(payment) ?? []);
    const refundsOfSale = rows.flatMap(({ payment }) => refunds.get(payment) ?? []);
    const tills = { paid: sale.state === 'code' ? sale.amountDue : 0, refunded: sale.refunded };
    const transformer = { paid: Number(known['PaidAmount'] ?? 0) };
    const books = { paid: sumOf(rows, 'captured'), refunded: sumOf(rows, 'refunded') };
    const bank = { paid: sumOf(atBank, 'amount'), refunded: sumOf(refundsOfSale, 'amount') };
    const success = rows.filter(({ state }) => state === 'success').map(({ payment }) => payment);
    const agree =
      new Set([tills.paid, transformer.paid, books.paid, bank.paid]).size === 1 &&
      new Set([tills.refunded, books.refunded, bank.refunded]).size === 1 &&
      success.length === (tills.paid > 0 ? 1 : 0) &&
      (success.length === 0 || known['SvcId'] === success[0]);
    if (!agree) problems.push(JSON.stringify({ sale, known, rows, bank }));
    add(sums.tills, tills);
    sums.transformer.paid += transformer.paid;
    add(sums.ledger, books);
    add(sums.bank, bank);
    counts.payments += success.length;
    counts.refunds += refundsOfSale.length;
  }
  const open = await platform.sql<{ reference: string }>(
    `SELECT external_reference AS reference FROM code_decoder.invoices
     WHERE site_id = $1 AND external_reference = ANY ($2) AND payable_state IN ('open', 'reserved')`,
    [site.siteId, references],
  );
  for (const { reference } of open) problems.push(`${reference} can still be paid`);
  return { problems, sums, ...counts };
}

/** The payment as the till reads it; empty if there is none. Both endpoints must agree. */
async function atTransformer(day: Day, { reference, state }: Sale): Promise<Readonly<Record<string, unknown>>> {
  const isHere = state === 'code';
  return waitUntil(`the till to get the payment of ${reference}`, 20_000, async () => {
    const facade = await day.computer.call('GET', `/GetPayment?MerchantOrderId=${reference}`);
    const invoice = await day.computer.call('GET', `/v1/invoice/${reference}/payment`);
    if (facade.status !== invoice.status) return false;
    if (facade.status === 404) return isHere ? false : {};
    const agree = ['SvcId', 'PaidAmount', 'PaymentDate', 'MerchantOrderId'].every(
      (field) => facade.body[field] === invoice.body[field],
    );
    return agree && (!isHere || facade.body['StatusId'] === '2') && facade.body;
  });
}

function nothing(): { paid: number; refunded: number } {
  return { paid: 0, refunded: 0 };
}

function add(sum: { paid: number; refunded: number }, { paid, refunded }: Amounts): void {
  sum.paid += paid;
  sum.refunded += refunded;
}

function sumOf<Name extends string>(rows: readonly Readonly<Record<Name, unknown>>[], name: Name): number {
  return rows.reduce((sum, row) => sum + Number(row[name]), 0);
}
