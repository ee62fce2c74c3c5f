import { isText, MAX_IDENTIFIER_LENGTH } from '@svc/contracts';
import { isUuid } from '@svc/kernel';
import { type SettlementLine, type SettlementLineKind, SettlementReportError } from '../../settlement-line.js';

/** Columns of the settlement details report that are read (Adyen's documentation, page "Settlement details report"). */
const COLUMNS = [
  'Merchant Account',
  'Psp Reference',
  'Merchant Reference',
  'Type',
  'Modification Reference',
  'Gross Currency',
  'Gross Debit (GC)',
  'Gross Credit (GC)',
  'Net Currency',
  'Net Debit (NC)',
  'Net Credit (NC)',
  'Commission (NC)',
  'Markup (NC)',
  'Scheme Fees (NC)',
  'Interchange (NC)',
  'Modification Merchant Reference',
  'Batch Number',
] as const;

/** A record of the report by the names of its columns. */
export type ReportRecord = Readonly<Record<(typeof COLUMNS)[number], string>>;

/** The types of Adyen's documentation. Every other type is `unknown`. */
const KINDS: Readonly<Record<string, SettlementLineKind>> = {
  Settled: 'capture',
  SettledReversed: 'captureReversal',
  Refunded: 'refund',
  RefundedReversed: 'refundReturn',
  Chargeback: 'dispute',
  SecondChargeback: 'dispute',
  ChargebackReversed: 'disputeReversal',
  Fee: 'fee',
  InvoiceDeduction: 'fee',
  MerchantPayout: 'payout',
  Balancetransfer: 'balance',
  DepositCorrection: 'balance',
};

/** The webhook that reports the movement of a dispute. With the dispute's reference it is the reference of our report. */
const DISPUTE_EVENTS: Readonly<Record<string, string>> = {
  Chargeback: 'CHARGEBACK',
  SecondChargeback: 'SECOND_CHARGEBACK',
  ChargebackReversed: 'CHARGEBACK_REVERSED',
};

const MAX_TYPE_LENGTH = 100;
/** At most 99 999 999 999.99. */
const AMOUNT = /^(-?)(\d{1,11})(?:\.(\d{1,2}))?$/;
const CURRENCY = /^[A-Z]{3}$/;
const BATCH = /^\d{1,12}$/;
const BATCH_IN_NAME = /^settlement_detail_report_batch_(\d{1,12})(?!\d)/;

/** Throws if a column is missing that this service reads. */
export function checkColumns(header: readonly string[]): string[] {
  const missing = COLUMNS.filter((column) => !header.includes(column));
  if (missing.length > 0) throw new SettlementReportError(`The report has no column ${missing.join(', ')}.`);
  return [...header];
}

/**
 * Reads a record. Only a record without an account or a batch throws: anything else that is not usable is a problem of the
 * line.
 *
 * @param reportName name of the report's file, which contains the number of the batch by default
 */
export function parseSettlementLine(record: ReportRecord, lineNumber: number, reportName: string): SettlementLine {
  const problems: string[] = [];
  const read = new FieldReader(record, problems);
  const type = isText(record.Type, MAX_TYPE_LENGTH) ? record.Type : '';
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type]! : 'unknown';
  const [netCurrency, grossCurrency] = [read.currency('Net Currency'), read.currency('Gross Currency')];
  const netAmount = read.difference('Net Credit (NC)', 'Net Debit (NC)');
  const grossAmount =
    grossCurrency === undefined ? undefined : read.difference('Gross Credit (GC)', 'Gross Debit (GC)');
  if (netCurrency === undefined && netAmount !== 0) problems.push('It has no net currency');
  if (grossCurrency !== undefined && grossCurrency !== netCurrency)
    problems.push('It was converted into another currency');
  const feeParts = {
    commission: read.cents('Commission (NC)'),
    markup: read.cents('Markup (NC)'),
    schemeFees: read.cents('Scheme Fees (NC)'),
    interchange: read.cents('Interchange (NC)'),
  };
  const isMovement = MOVEMENTS.has(kind);
  if (isMovement && grossCurrency === undefined) problems.push('It has no gross amount');
  const feeAmount = feeOf({ kind, isMovement, isConverted: grossCurrency !== netCurrency, grossAmount, netAmount });
  const { commission = 0, markup = 0, schemeFees = 0, interchange = 0 } = feeParts;
  if (isMovement && feeAmount !== undefined && feeAmount !== commission + markup + schemeFees + interchange)
    problems.push('Its fees are not the difference between its gross and its net amount');
  const [charge, modification] = [read.reference('Psp Reference'), read.reference('Modification Reference')];
  const disputeEvent = Object.hasOwn(DISPUTE_EVENTS, type) ? DISPUTE_EVENTS[type]! : undefined;
  const refundId = record['Modification Merchant Reference'];
  const isCapture = kind === 'capture' || kind === 'captureReversal';
  return {
    ...keyOf(record, reportName),
    lineNumber,
    kind,
    type,
    paymentReference: read.reference('Merchant Reference'),
    chargeReference: charge,
    refundId: (kind === 'refund' || kind === 'refundReturn') && isUuid(refundId) ? refundId : undefined,
    disputeReportReference: disputeEvent && modification && `${modification}-${disputeEvent}`,
    acquirerReference: isCapture ? charge : modification,
    currencyISOCode: netCurrency,
    grossAmount,
    netAmount,
    feeAmount,
    feeParts,
    problem: problems.length === 0 ? undefined : `${problems.join('. ')}.`.slice(0, MAX_PROBLEM_LENGTH),
  };
}

const MOVEMENTS: ReadonlySet<SettlementLineKind> = new Set([
  'capture',
  'captureReversal',
  'refund',
  'refundReturn',
  'dispute',
  'disputeReversal',
]);
const MAX_PROBLEM_LENGTH = 200;

/**
 * The fee of a line in cents. The net amounts are paid out, so they decide the fee of a movement, and the columns of fees
 * only explain it.
 */
function feeOf({
  kind,
  isMovement,
  isConverted,
  grossAmount,
  netAmount,
}: {
  kind: SettlementLineKind;
  isMovement: boolean;
  isConverted: boolean;
  grossAmount: number | undefined;
  netAmount: number | undefined;
}): number | undefined {
  if (netAmount === undefined) return undefined;
  if (kind === 'fee') return withoutNegativeZero(-netAmount);
  return isMovement && !isConverted && grossAmount !== undefined ? grossAmount - netAmount : undefined;
}

/** In a report of several accounts, each line names its account. */
function keyOf(record: ReportRecord, reportName: string): Pick<SettlementLine, 'accountReference' | 'batch'> {
  const accountReference = record['Merchant Account'];
  if (!isText(accountReference, MAX_IDENTIFIER_LENGTH)) throw new SettlementReportError('A line has no account.');
  const batch = record['Batch Number'] || BATCH_IN_NAME.exec(reportName)?.[1];
  if (batch === undefined || !BATCH.test(batch)) throw new SettlementReportError('A line has no batch.');
  return { accountReference, batch: Number(batch) };
}

/** Cents of an amount such as `7.5`; 0 if the text is empty, undefined if it is not an amount. */
export function parseCents(text: string): number | undefined {
  if (text === '') return 0;
  const [, sign, whole, fraction = ''] = AMOUNT.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const cents = Number(whole) * 100 + Number(fraction.padEnd(2, '0'));
  return withoutNegativeZero(sign === '-' ? -cents : cents);
}

/** JSON and PostgreSQL have no negative zero. */
function withoutNegativeZero(value: number): number {
  return value === 0 ? 0 : value;
}

/** Reads the fields of a record. A field that is not usable is undefined and a problem. */
class FieldReader {
  constructor(
    private readonly record: ReportRecord,
    private readonly problems: string[],
  ) {}

  cents(column: keyof ReportRecord): number | undefined {
    const cents = parseCents(this.record[column]);
    if (cents === undefined) this.problems.push(`${column} is not an amount`);
    return cents;
  }

  difference(credit: keyof ReportRecord, debit: keyof ReportRecord): number | undefined {
    const [credited, debited] = [this.cents(credit), this.cents(debit)];
    return credited === undefined || debited === undefined ? undefined : credited - debited;
  }

  /** A currency with two decimals, because all amounts are stored in cents. */
  currency(column: keyof ReportRecord): string | undefined {
    const code = this.record[column];
    if (code === '') return undefined;
    if (CURRENCY.test(code) && decimalsOf(code) === 2) return code;
    this.problems.push(`${column} has no cents`);
    return undefined;
  }

  reference(column: keyof ReportRecord): string | undefined {
    const text = this.record[column];
    if (text === '') return undefined;
    if (isText(text, MAX_IDENTIFIER_LENGTH)) return text;
    this.problems.push(`${column} is not a reference`);
    return undefined;
  }
}

function decimalsOf(currency: string): number | undefined {
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits;
}
