import { stringify } from 'csv-stringify/sync';
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

export const CSV_HEADER = `${COLUMNS.join(',')}\r\n`;

/** Formats one line for each movement (RFC 4180), with amounts in cents. */
export function formatCsvLines(movements: readonly Movement[]): string {
  return stringify([...movements], {
    columns: [...COLUMNS],
    record_delimiter: 'windows',
    // A merchant's reference may come from a customer. A spreadsheet must not evaluate it as a formula.
    escape_formulas: true,
  });
}
