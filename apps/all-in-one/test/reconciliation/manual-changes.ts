import type { ReportedDifference } from './reconciled-day.js';

/** A change of a table by SQL, outside the services, and the difference that the reconciliation must report for it. */
export interface ManualChange {
  /** The changed row and the kind of change, such as `a refund that was deleted`. */
  readonly title: string;
  readonly service: string;
  readonly table: string;
  readonly statement: string;
  readonly difference: Partial<ReportedDifference>;
}

/** SQL literal of a payment reference that no payment has. */
const UNUSED_REFERENCE = `'ZZZZZZZZZZZZZZZZZZ'`;
/** SQL literal of a UUID of version 4. Read as a UUID of version 7, it has a time far in the future. */
const RANDOM_ID = `'fb4f7c41-83d0-4b0e-9d1e-7a8b9c0d1e2f'`;

/** SQL condition that is true for only one of the matching rows. */
const whereFirstRow = (table: string, key: string, where = 'true'): string =>
  `${key} = (SELECT ${key} FROM ${table} WHERE ${where} LIMIT 1)`;

/** SQL that inserts a copy of a row with other values in some columns: `'column', value, …`. */
const insertCopy = (table: string, where: string, values: string): string =>
  `INSERT INTO ${table} OVERRIDING SYSTEM VALUE
   SELECT (jsonb_populate_record(row, jsonb_build_object(${values}))).* FROM ${table} row WHERE ${where} LIMIT 1 RETURNING 1`;

/** Collects changes of one table. `book` is the name of the table's data in the report of the reconciliation. */
class TableChanges {
  readonly changes: ManualChange[] = [];

  constructor(
    private readonly service: string,
    private readonly table: string,
    private readonly book: string,
  ) {}

  add(title: string, statement: string, difference: Partial<ReportedDifference>): this {
    const { service, table, book } = this;
    this.changes.push({ title, service, table, statement, difference: { book, ...difference } });
    return this;
  }

  alter(row: string, where: string, set: string, field: string | undefined): this {
    const difference = field === undefined ? {} : { kind: 'differs', field };
    return this.add(`${row} that was changed`, `UPDATE ${this.table} SET ${set} WHERE ${where}`, difference);
  }

  remove(row: string, where: string): this {
    return this.add(`${row} that was deleted`, `DELETE FROM ${this.table} WHERE ${where}`, { kind: 'missing' });
  }

  insert(row: string, where: string, values: string): this {
    return this.add(`${row} that was inserted`, insertCopy(this.table, where, values), { kind: 'unexpected' });
  }
}

/** Changed, deleted and inserted rows in the tables of each book. */
export function manualChanges(): ManualChange[] {
  return [
    paymentChanges(),
    refundChanges(),
    disputeChanges(),
    transferChanges(),
    sessionNotificationChanges(),
    siteNotificationChanges(),
    streamNotificationChanges(),
    retrievalChanges(),
    historyChanges(),
    hostedPaymentChanges(),
  ].flatMap(({ changes }) => changes);
}

/** Without the generated column, for which PostgreSQL refuses a value. */
const PAYMENT_COLUMNS = `payment_id, payable_id, reference, payment_reference, amount, tip_amount, voucher_amount, fee_basis_points,
         fee_fixed_amount, method_type, method_label, merchant_name, site_reference, partner, accepted_at, state, processed_amount,
         refunded_amount, refund_pending_amount, errors, modified_at, version`;

/** Every other book is compared with the payments, so a changed payment differs from every other book. */
function paymentChanges(): TableChanges {
  const paidPayment = whereFirstRow(
    'payments',
    'payment_reference',
    `state = 'success' AND method_type = 'Card' AND partner IS NULL`,
  );
  const payable = insertCopy('payables', `state = 'paid'`, `'payable_id', gen_random_uuid()`).replace(
    /1$/,
    'payable_id',
  );
  return new TableChanges('payment-processor', 'payments', 'payments')
    .alter('a payment’s amount', paidPayment, 'amount = amount + 1, processed_amount = processed_amount + 1', undefined)
    .remove('a payment', paidPayment)
    .add(
      'a payment that was inserted',
      `WITH y AS (${payable})
       INSERT INTO payments (${PAYMENT_COLUMNS}) SELECT ${PAYMENT_COLUMNS} FROM (
         SELECT (jsonb_populate_record(row, jsonb_build_object('payment_id', gen_random_uuid(),
                'payment_reference', ${UNUSED_REFERENCE}, 'payable_id', y.payable_id))).* FROM payments row, y WHERE ${paidPayment}) AS copy RETURNING 1`,
      { kind: 'unexpected', key: 'ZZZZZZZZZZZZZZZZZZ' },
    );
}

function refundChanges(): TableChanges {
  const refund = whereFirstRow('refunds', 'refund_id');
  return new TableChanges('payment-processor', 'refunds', 'payments')
    .alter('a refund’s amount', refund, 'amount = amount + 1', undefined)
    .remove('a refund', refund);
}

function disputeChanges(): TableChanges {
  const report = whereFirstRow('dispute_reports', 'report_id', `booked_at IS NOT NULL`);
  return new TableChanges('payment-processor', 'dispute_reports', 'payments')
    .alter('the amount of a dispute', report, 'amount = amount + 1', undefined)
    .remove('a report of a dispute', report);
}

function transferChanges(): TableChanges {
  const [capture, refund] = ['capture', 'refund'].map((kind) =>
    whereFirstRow('transfers', 'transfer_id', `kind = '${kind}'`),
  );
  const row = `'transfer_id', gen_random_uuid(), 'position', 1000000`;
  return (
    new TableChanges('payment-processor', 'transfers', 'ledger')
      .alter('a transfer’s amount', capture!, 'amount = amount + 1', 'amount')
      .alter('a transfer’s account', refund!, `credit_account = 'test:merchant:1:payable'`, 'credit')
      .alter('a fee', `kind = 'fee'`, 'amount = amount + 1', 'amount')
      .alter('a transfer’s mode', refund!, `mode = 'live'`, undefined)
      .alter('the transfer of a dispute', `kind = 'disputeReversal'`, 'amount = amount + 1', 'amount')
      .remove('a transfer', refund!)
      // This voucher is the last transfer of its payment in the order of the comparison. A copy of an earlier transfer
      // would be compared with the next transfer and reported as different.
      .insert('a transfer', `kind = 'voucher' AND debit_account = 'test:service:vouchers'`, row)
      .insert('a transfer without a payment', `kind = 'voucher'`, `${row}, 'payment_id', gen_random_uuid()`)
      .insert(
        'a transfer with a time in the next year',
        `kind = 'voucher'`,
        `${row}, 'created_at', '2027-03-01T00:00:00Z'`,
      )
  );
}

function sessionNotificationChanges(): TableChanges {
  const sessionNotification = whereFirstRow('notifications', 'id', `recipient = 'session'`);
  return new TableChanges('webhook-dispatcher', 'notifications', 'notifications')
    .alter('a notification’s amount', sessionNotification, `fields = fields::jsonb || '{"amount": 1}'`, 'amount')
    .alter('a notification’s address', sessionNotification, `url = 'https://elsewhere.example/hook'`, 'url')
    .remove('a notification', sessionNotification)
    .insert('a notification', `recipient = 'session'`, `'id', ${RANDOM_ID}, 'payment_reference', ${UNUSED_REFERENCE}`);
}

function siteNotificationChanges(): TableChanges {
  const refund = whereFirstRow('notifications', 'id', `recipient = 'site' AND type = 'refund'`);
  return new TableChanges('webhook-dispatcher', 'notifications', 'webhooks')
    .alter(
      'a site’s notification of a refund',
      refund,
      `fields = jsonb_set(fields::jsonb, '{refund,amount}', '7')`,
      'refund',
    )
    .alter(
      'a site’s notification of a dispute',
      whereFirstRow('notifications', 'id', `type = 'dispute'`),
      `fields = jsonb_set(fields::jsonb, '{dispute,stage}', '"won"')`,
      'dispute',
    )
    .remove('a site’s notification', refund)
    .insert('a site’s notification', `recipient = 'site'`, `'id', ${RANDOM_ID}, 'webhook_id', gen_random_uuid()`);
}

function streamNotificationChanges(): TableChanges {
  const notification = whereFirstRow('notifications', 'notification_id', `type = 'payment'`);
  return new TableChanges('merchant-retrieval', 'notifications', 'stream')
    .alter(
      'a notification’s amount',
      notification,
      `body = replace(body, '"tenderedAmount":', '"tenderedAmount":9')`,
      'tenderedAmount',
    )
    .alter('a notification’s JSON', notification, `body = 'not JSON'`, undefined)
    .alter('a notification’s site', notification, 'site_id = 9', 'rowSiteId')
    .remove('a notification', notification)
    .insert('a notification', 'true', `'notification_id', ${RANDOM_ID}, 'position', 1000000`);
}

function retrievalChanges(): TableChanges {
  const payment = whereFirstRow('payments', 'payment_reference', 'status = 1');
  return new TableChanges('merchant-retrieval', 'payments', 'retrieval')
    .alter(
      'the amount of a payment in merchant-retrieval',
      payment,
      'tendered_amount = tendered_amount + 1',
      'tenderedAmount',
    )
    .alter('the merchant of a payment in merchant-retrieval', payment, 'merchant_id = 9', undefined)
    .remove('a payment in merchant-retrieval', payment)
    .insert('a payment in merchant-retrieval', 'true', `'payment_reference', ${UNUSED_REFERENCE}`);
}

function historyChanges(): TableChanges {
  const payment = whereFirstRow('payments', 'payment_reference', `state = 'success'`);
  return new TableChanges('payment-history', 'payments', 'history')
    .alter(
      'the amount of a payment in the history',
      payment,
      'processed_amount = processed_amount + 1',
      'processedAmount',
    )
    .alter('the customer of a payment in the history', payment, `customer_key = 'another'`, 'customerKey')
    .add(
      'the state of a payment in the history that was changed',
      `UPDATE payments SET state = 'processing' WHERE ${payment}`,
      { kind: 'missing' },
    )
    .remove('a payment in the history', payment)
    .insert('a payment in the history', 'true', `'payment_reference', ${UNUSED_REFERENCE}`);
}

function hostedPaymentChanges(): TableChanges {
  const payment = whereFirstRow('hosted_payments', 'payment_reference');
  return new TableChanges('hosted-gateway', 'hosted_payments', 'sessions')
    .alter(
      'the result of a session',
      payment,
      `snapshot = jsonb_set(snapshot::jsonb, '{processedAmount}', '1')::json`,
      'processedAmount',
    )
    .remove('the result of a session', payment)
    .insert('the result of a session', 'true', `'payment_reference', ${UNUSED_REFERENCE}`);
}
