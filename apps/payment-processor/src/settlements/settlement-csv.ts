import type { SettlementMovement } from '@svc/contracts';
import type { LocalCalendar } from '@svc/kernel';
import { type Options, stringify } from 'csv-stringify/sync';

/** A line of the file. */
interface CsvLine extends Omit<SettlementMovement, 'amount'> {
  /** The merchant's day, whose statement contains the movement. */
  readonly day: string;
  /** Date and time on a clock in the merchant's time zone. */
  readonly localDate: string;
  readonly localTime: string;
  /** IANA name. */
  readonly timeZone: string;
  readonly amountCents: number;
  /** Cents, which are written as a decimal number of the currency's main unit: `-44` as `-0.44`. */
  readonly amountDecimal: number;
}

/** The columns of a line, in their order. */
const COLUMNS = [
  ...(['day', 'localDate', 'localTime', 'timeZone', 'createdUTCDate', 'type', 'svcId', 'refundReference'] as const),
  ...(['disputeReference', 'siteId', 'externalReference', 'currencyISOCode', 'amountDecimal', 'amountCents'] as const),
] satisfies readonly (keyof CsvLine)[];

/** The beginning of a formula, also in full-width characters, after characters that a spreadsheet skips. */
const FORMULA = /^[\p{Cc}\p{Z}\p{Default_Ignorable_Code_Point}]*[=+\-@＝＋－＠]/u;

const FORMAT: Options = {
  record_delimiter: 'windows',
  // In some countries spreadsheets split lines at semicolons. A text with a semicolon would not be quoted by default.
  quoted_string: true,
  cast: {
    string: escapeFormula,
    number: (value, { column }) => (column === 'amountDecimal' ? formatDecimal(value) : String(value)),
  },
};

/** @param hasByteOrderMark so that Excel reads the file as UTF-8 when it is opened with a double click */
export function formatCsvHeader({ hasByteOrderMark }: { readonly hasByteOrderMark: boolean }): string {
  return stringify([[...COLUMNS]], { ...FORMAT, bom: hasByteOrderMark });
}

/** Formats one line for each movement (RFC 4180). Every text is quoted, and no number is. */
export function formatCsvLines(movements: readonly SettlementMovement[], calendar: LocalCalendar): string {
  const lines = movements.map(({ amount, ...movement }): CsvLine => {
    const { day, date, time, zone } = calendar.toMerchantTime(new Date(movement.createdUTCDate));
    return {
      ...{ day, localDate: date, localTime: time, timeZone: zone },
      ...movement,
      ...{ amountDecimal: amount, amountCents: amount },
    };
  });
  return stringify(lines, { ...FORMAT, columns: [...COLUMNS] });
}

/** Writes cents with a decimal point and without a symbol, as spreadsheets read a number. */
function formatDecimal(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/**
 * Adds an apostrophe before a text that a spreadsheet would evaluate as a formula. A merchant's reference may come from a
 * customer.
 */
function escapeFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}
