/** Compares the baskets of a trading day in tills, transformer, ledger and acquirer, to the cent. */
import { waitUntil } from '@svc/testing';
import { readAcquirerRefunds, waitForRefunds } from '../consistency/refund-records.js';
import type { Sale, TradingDay } from './till-day.js';

/** Cents. */
interface Amounts {
  readonly paid: number;
  readonly refunded: number;
}

export interface DayRecords {
  /** A sentence for each basket whose records differ. */
  readonly problems: readonly string[];
  /**
   * Sums of the day. The transformer keeps no sum of refunds for tills, so its refunds are compared at the acquirer.
   */
  readonly sums: { tills: Amounts; transformer: Pick<Amounts, 'paid'>; ledger: Amounts; acquirer: Amounts };
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

/** Reads the records after the day. */
export async function readDayRecords(day: TradingDay): Promise<DayRecords> {
  const { platform, site, sales } = day;
  const references = sales.map(({ reference }) => reference);
  const tillPayments = new Map<string, Readonly<Record<string, unknown>>>();
  for (const sale of sales) tillPayments.set(sale.reference, await readAtTransformer(day, sale));
  await waitForRefunds(
    platform,
    [...tillPayments.values()].map((payment) => String(payment['SvcId'])),
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
    readAcquirerRefunds(platform).filter(({ outcome }) => outcome === 'succeeded'),
    ({ paymentReference }) => paymentReference,
  );

  const problems: string[] = [];
  const sums = { tills: noAmounts(), transformer: { paid: 0 }, ledger: noAmounts(), acquirer: noAmounts() };
  const counts = { payments: 0, refunds: 0 };
  for (const sale of sales) {
    const rows = ledger.get(sale.reference) ?? [];
    const tillPayment = tillPayments.get(sale.reference)!;
    const chargesOfSale = rows.flatMap(({ payment }) => charges.get(payment) ?? []);
    const refundsOfSale = rows.flatMap(({ payment }) => refunds.get(payment) ?? []);
    const tills = { paid: sale.state === 'code' ? sale.amountDue : 0, refunded: sale.refunded };
    const transformer = { paid: Number(tillPayment['PaidAmount'] ?? 0) };
    const booked = { paid: sumOf(rows, 'captured'), refunded: sumOf(rows, 'refunded') };
    const acquirer = { paid: sumOf(chargesOfSale, 'amount'), refunded: sumOf(refundsOfSale, 'amount') };
    const success = rows.filter(({ state }) => state === 'success').map(({ payment }) => payment);
    const isConsistent =
      new Set([tills.paid, transformer.paid, booked.paid, acquirer.paid]).size === 1 &&
      new Set([tills.refunded, booked.refunded, acquirer.refunded]).size === 1 &&
      success.length === (tills.paid > 0 ? 1 : 0) &&
      (success.length === 0 || tillPayment['SvcId'] === success[0]);
    if (!isConsistent) problems.push(JSON.stringify({ sale, tillPayment, rows, acquirer }));
    add(sums.tills, tills);
    sums.transformer.paid += transformer.paid;
    add(sums.ledger, booked);
    add(sums.acquirer, acquirer);
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

/** Reads the payment as the till does, at two endpoints, which must agree. Empty if there is no payment. */
async function readAtTransformer(
  day: TradingDay,
  { reference, state }: Sale,
): Promise<Readonly<Record<string, unknown>>> {
  const isPaidByCode = state === 'code';
  return waitUntil(`the transformer to return the payment of ${reference}`, 20_000, async () => {
    const facade = await day.computer.call('GET', `/GetPayment?MerchantOrderId=${reference}`);
    const invoice = await day.computer.call('GET', `/v1/invoice/${reference}/payment`);
    if (facade.status !== invoice.status) return false;
    if (facade.status === 404) return isPaidByCode ? false : {};
    const agree = ['SvcId', 'PaidAmount', 'PaymentDate', 'MerchantOrderId'].every(
      (field) => facade.body[field] === invoice.body[field],
    );
    return agree && (!isPaidByCode || facade.body['StatusId'] === '2') && facade.body;
  });
}

function noAmounts(): { paid: number; refunded: number } {
  return { paid: 0, refunded: 0 };
}

function add(sum: { paid: number; refunded: number }, { paid, refunded }: Amounts): void {
  sum.paid += paid;
  sum.refunded += refunded;
}

function sumOf<Name extends string>(rows: readonly Readonly<Record<Name, unknown>>[], name: Name): number {
  return rows.reduce((sum, row) => sum + Number(row[name]), 0);
}
