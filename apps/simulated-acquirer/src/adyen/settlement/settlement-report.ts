import { stringify } from 'csv-stringify/sync';
import { localTime } from '../interface/local-time.js';
import type { BatchRecord, MovementRecord, MovementType } from '../state/records.js';

/** Documentation: "Settlement details report", standard columns in their order. */
export const REPORT_COLUMNS = [
  'Company Account',
  'Merchant Account',
  'Psp Reference',
  'Merchant Reference',
  'Payment Method',
  'Creation Date',
  'TimeZone',
  'Type',
  'Modification Reference',
  'Gross Currency',
  'Gross Debit (GC)',
  'Gross Credit (GC)',
  'Exchange Rate',
  'Net Currency',
  'Net Debit (NC)',
  'Net Credit (NC)',
  'Commission (NC)',
  'Markup (NC)',
  'Scheme Fees (NC)',
  'Interchange (NC)',
  'Payment Method Variant',
  'Modification Merchant Reference',
  'Batch Number',
  'Reserved4',
  'Reserved5',
  'Reserved6',
  'Reserved7',
  'Reserved8',
  'Reserved9',
  'Reserved10',
] as const;

type Row = Partial<Record<(typeof REPORT_COLUMNS)[number], string>>;

/** Name of the company account, to which all merchant accounts of the emulator belong. */
const COMPANY_ACCOUNT = 'SvcEmulatorCompany';
/** Cents for each chargeback. */
const CHARGEBACK_FEE = 750;
/** Cents for each payment, on the line of type Fee. */
const TRANSACTION_FEE = 10;
const CREDITS: ReadonlySet<MovementType> = new Set(['Settled', 'RefundedReversed', 'ChargebackReversed']);

/** Documentation: "Settlement details report", name of the file. */
export function reportFileName({ number }: BatchRecord): string {
  return `settlement_detail_report_batch_${number}.csv`;
}

/** Documentation: "Settlement details report", URL of a report. */
export function reportPath({ merchantAccount }: BatchRecord, fileName: string): string {
  return `/reports/download/MerchantAccount/${merchantAccount}/${fileName}`;
}

/**
 * The report of a batch as CSV (documentation: "Settlement details report", structure). Its lines are the movements, the
 * transaction fees, and the payout, which makes the sum of the net columns zero.
 */
export function settlementReport(batch: BatchRecord, movements: readonly MovementRecord[]): string {
  const currencies = [...new Set(movements.map(({ amount }) => amount.currency))];
  const rows = [
    ...movements.map(movementRow),
    ...currencies.flatMap((currency) =>
      closingRows(
        batch,
        currency,
        movements.filter(({ amount }) => amount.currency === currency),
      ),
    ),
  ];
  const common = {
    'Company Account': COMPANY_ACCOUNT,
    'Merchant Account': batch.merchantAccount,
    'Batch Number': String(batch.number),
  };
  return stringify(
    rows.map((row) => REPORT_COLUMNS.map((column) => ({ ...common, ...row })[column] ?? '')),
    { header: true, columns: [...REPORT_COLUMNS] },
  );
}

/** Fees of a movement in cents: the parts of an Interchange++ price for a payment, the commission of a chargeback. */
function feesOf({ type, amount: { value } }: MovementRecord): {
  commission: number;
  markup: number;
  scheme: number;
  interchange: number;
} {
  const none = { commission: 0, markup: 0, scheme: 0, interchange: 0 };
  if (type === 'Chargeback' || type === 'SecondChargeback') return { ...none, commission: CHARGEBACK_FEE };
  if (type !== 'Settled') return none;
  return { ...none, markup: share(value, 30), scheme: share(value, 10), interchange: share(value, 50) };
}

/** @param basisPoints hundredths of a percent */
function share(value: number, basisPoints: number): number {
  return Math.round((value * basisPoints) / 10_000);
}

/** Cents that the movement adds to the payout; negative if it reduces it. */
function netOf(movement: MovementRecord): number {
  const { commission, markup, scheme, interchange } = feesOf(movement);
  const gross = CREDITS.has(movement.type) ? movement.amount.value : -movement.amount.value;
  return gross - commission - markup - scheme - interchange;
}

function movementRow(movement: MovementRecord): Row {
  const { amount, paymentMethod } = movement;
  const { commission, markup, scheme, interchange } = feesOf(movement);
  const isCredit = CREDITS.has(movement.type);
  const { text, zone } = localTime(new Date(movement.at));
  return {
    'Psp Reference': movement.paymentPspReference,
    'Merchant Reference': movement.merchantReference,
    'Payment Method': paymentMethod,
    'Creation Date': text,
    TimeZone: zone,
    Type: movement.type,
    'Modification Reference': movement.modificationPspReference,
    'Gross Currency': amount.currency,
    [isCredit ? 'Gross Credit (GC)' : 'Gross Debit (GC)']: money(amount.value),
    'Exchange Rate': '1',
    ...netColumns(amount.currency, netOf(movement)),
    'Commission (NC)': fee(commission),
    'Markup (NC)': fee(markup),
    'Scheme Fees (NC)': fee(scheme),
    'Interchange (NC)': fee(interchange),
    'Payment Method Variant': paymentMethod,
    'Modification Merchant Reference': movement.modificationMerchantReference,
  };
}

function closingRows(batch: BatchRecord, currency: string, movements: readonly MovementRecord[]): Row[] {
  const { text, zone } = localTime(new Date(batch.at));
  const fees = movements.filter(({ type }) => type === 'Settled').length * TRANSACTION_FEE;
  const payout = movements.reduce((sum, movement) => sum + netOf(movement), 0) - fees;
  const common: Row = { 'Creation Date': text, TimeZone: zone };
  return [
    ...(fees > 0
      ? [
          {
            ...common,
            Type: 'Fee',
            'Modification Reference': `Transaction Fees ${text.slice(0, 7)}`,
            ...netColumns(currency, -fees),
          },
        ]
      : []),
    {
      ...common,
      // A negative balance is carried to the next batch.
      Type: payout >= 0 ? 'MerchantPayout' : 'Balancetransfer',
      'Modification Reference': `batch ${batch.number}, ${batch.merchantAccount}`,
      ...netColumns(currency, -payout),
    },
  ];
}

/** @param value cents; negative is a debit */
function netColumns(currency: string, value: number): Row {
  return { 'Net Currency': currency, [value < 0 ? 'Net Debit (NC)' : 'Net Credit (NC)']: money(Math.abs(value)) };
}

function fee(value: number): string {
  return value === 0 ? '' : money(value);
}

/** @param value cents */
function money(value: number): string {
  const cents = String(value).padStart(3, '0');
  return `${cents.slice(0, -2)}.${cents.slice(-2)}`;
}
