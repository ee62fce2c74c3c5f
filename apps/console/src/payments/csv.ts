import { type Options, stringify } from 'csv-stringify/sync';
import { BYTE_ORDER_MARK, formatDecimal, type MerchantClock } from '../languages/format.js';
import { siteName } from '../viewer/sites.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import type { ListChoice } from './list-filters.js';
import type { ListedPayment } from './list-payments.query.js';

/** Other people's pages wait while the lines of one read are written. */
const PAGE_SIZE = 250;
/** Longest file: a spreadsheet opens about a million rows. */
const MAX_ROWS = 100_000;

/** Spreadsheets would execute a text that begins with one of these characters, so such a text is quoted by an apostrophe. */
const CSV: Options = { escape_formulas: true, record_delimiter: '\r\n' };

const COLUMNS = [
  'time',
  'utcTime',
  'paymentReference',
  'order',
  'site',
  'till',
  'state',
  'method',
  'card',
  'currency',
  'amountCents',
  'amount',
  'tipCents',
  'chargedCents',
  'refundedCents',
  'customer',
];

/** The lines of the file. Amounts are numbers with a decimal point, and in cents. Times are those of the merchant. */
export async function* writeCsv(
  viewer: MerchantViewer,
  read: (after: ListChoice['after'], limit: number) => Promise<ListedPayment[]>,
): AsyncGenerator<string> {
  const { clock } = viewer;
  yield BYTE_ORDER_MARK + stringify([COLUMNS], CSV);
  let after: ListChoice['after'];
  for (let rows = 0; rows < MAX_ROWS;) {
    const payments = await read(after, PAGE_SIZE);
    if (payments.length > 0)
      yield stringify(
        payments.map((payment) => toRow(viewer, clock, payment)),
        CSV,
      );
    const last = payments.at(-1);
    if (payments.length < PAGE_SIZE || !last) return;
    after = { paymentUTCDate: new Date(last.paymentUTCDate), paymentReference: last.paymentReference };
    rows += payments.length;
  }
}

function toRow(viewer: MerchantViewer, clock: MerchantClock, payment: ListedPayment): (string | number)[] {
  return [
    clock.format(payment.paymentUTCDate),
    payment.paymentUTCDate,
    payment.paymentReference,
    payment.orderReference,
    siteName(viewer, payment.siteId),
    payment.siteReference,
    payment.state,
    payment.method,
    payment.methodLabel,
    payment.currency,
    payment.amount,
    formatDecimal(payment.amount),
    payment.tipAmount,
    payment.processedAmount,
    payment.refundedAmount,
    viewer.can('customers.read', payment.siteId) ? payment.customerName : '',
  ];
}
