import { stringify } from 'csv-stringify/sync';
import type { Movement } from './settlement.repository.js';

/** In the order of a line. */
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

/** RFC 4180: a line for each movement, amounts in cents. */
export function csvLines(movements: readonly Movement[]): string {
  return stringify([...movements], {
    columns: [...COLUMNS],
    record_delimiter: 'windows',
    // A merchant's reference may come from its customer; a spreadsheet must not evaluate it as a formula.
    escape_formulas: true,
  });
}
