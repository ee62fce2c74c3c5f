import { type Options, stringify } from 'csv-stringify/sync';
import type { Movement } from './settlement.repository.js';

/** The columns of a line, in their order. */
const COLUMNS = [
  'createdUTCDate',
  'type',
  'svcId',
  'refundReference',
  'siteId',
  'externalReference',
  'currencyISOCode',
  'amount',
] as const satisfies readonly (keyof Movement)[];

/** The beginning of a formula, also in full-width characters, after characters that a spreadsheet skips. */
const FORMULA = /^[\p{Cc}\p{Z}\p{Default_Ignorable_Code_Point}]*[=+\-@＝＋－＠]/u;

const FORMAT: Options = {
  record_delimiter: 'windows',
  // In some countries spreadsheets split lines at semicolons. A text with a semicolon would not be quoted by default.
  quoted_string: true,
  cast: { string: escapeFormula },
};

export const CSV_HEADER = stringify([[...COLUMNS]], FORMAT);

/** Formats one line for each movement (RFC 4180), with amounts in cents. Every text is quoted, and no number is. */
export function formatCsvLines(movements: readonly Movement[]): string {
  return stringify([...movements], { ...FORMAT, columns: [...COLUMNS] });
}

/**
 * Adds an apostrophe before a text that a spreadsheet would evaluate as a formula. A merchant's reference may come from a
 * customer.
 */
function escapeFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}
