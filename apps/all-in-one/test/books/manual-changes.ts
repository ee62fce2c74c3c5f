import type { NamedDifference } from './reconciled-day.js';

/** A change of a table by SQL, outside the services, and the difference that a reconciliation reports for it. */
export interface ManualChange {
  readonly what: string;
  readonly service: string;
  readonly table: string;
  readonly statement: string;
  readonly named: Partial<NamedDifference>;
}

/** A reference that no payment has. */
const NEW = `'ZZZZZZZZZZZZZZZZZZ'`;
/** An id of version 4: as a time it is far in the future. */
const RANDOM_ID = `'fb4f7c41-83d0-4b0e-9d1e-7a8b9c0d1e2f'`;

/** Selects one matching row. */
const one = (table: string, key: string, where = 'true'): string =>
  `${key} = (SELECT ${key} FROM ${table} WHERE ${where} LIMIT 1)`;

/** Inserts a copy of a row with other column values. */
const copyOf = (table: string, where: string, members: string): string =>
  `INSERT INTO ${table} OVERRIDING SYSTEM VALUE
   SELECT (jsonb_populate_record(row, jsonb_build_object(${members}))).* FROM ${table} row WHERE ${where} LIMIT 1 RETURNING 1`;

class Table {
  readonly rows: ManualChange[] = [];

  constructor(
    private readonly service: string,
    private readonly table: string,
    private readonly book: string,
  ) {}

  add(what: string, statement: string, named: Partial<NamedDifference>): this {
    const { service, table, book } = this;
    this.rows.push({ what, service, table, statement, named: { book, ...named } });
    return this;
  }

  alter(what: string, where: string, set: string, field: string | undefined): this {
    const named = field === undefined ? {} : { kind: 'differs', field };
    return this.add(what, `UPDATE ${this.table} SET ${set} WHERE ${where}`, named);
  }

  remove(what: string, where: string): this {
    return this.add(`${what} that was deleted`, `DELETE FROM ${this.table} WHERE ${where}`, { kind: 'missing' });
  }

  insert(what: string, where: string, members: string): this {
    return this.add(`${what} that was put in`, copyOf(this.table, where, members), { kind: 'unexpected' });
  }
}

/** Altered, deleted and inserted rows in each book. */
export function manualChanges(): ManualChange[] {
  return [
    payments(),
    refunds(),
    transfers(),
    notifications(),
    siteNotifications(),
    notices(),
    retrieved(),
    history(),
    kept(),
  ].flatMap(({ rows }) => rows);
}

/** Every other book differs from a changed payment. */
function payments(): Table {
  const paid = one('payments', 'payment_reference', `state = 'success' AND method_type = 'Card' AND partner IS NULL`);
  const payable = copyOf('payables', `state = 'paid'`, `'payable_id', gen_random_uuid()`).replace(/1$/, 'payable_id');
  return new Table('payment-processor', 'payments', 'payments')
    .alter('a payment’s amount', paid, 'amount = amount + 1, processed_amount = processed_amount + 1', undefined)
    .remove('a payment', paid)
    .add(
      'a payment that was put in',
      `WITH y AS (${payable})
       INSERT INTO payments SELECT (jsonb_populate_record(row, jsonb_build_object('payment_id', gen_random_uuid(),
              'payment_reference', ${NEW}, 'payable_id', y.payable_id))).* FROM payments row, y WHERE ${paid} RETURNING 1`,
      { kind: 'unexpected', key: 'ZZZZZZZZZZZZZZZZZZ' },
    );
}

function refunds(): Table {
  const refund = one('refunds', 'refund_id');
  return new Table('payment-processor', 'refunds', 'payments')
    .alter('a refund’s amount', refund, 'amount = amount + 1', undefined)
    .remove('a refund', refund);
}

function transfers(): Table {
  const [capture, refund] = ['capture', 'refund'].map((kind) => one('transfers', 'transfer_id', `kind = '${kind}'`));
  const row = `'transfer_id', gen_random_uuid(), 'position', 1000000`;
  return (
    new Table('payment-processor', 'transfers', 'ledger')
      .alter('a transfer’s amount', capture!, 'amount = amount + 1', 'amount')
      .alter('a transfer’s account', refund!, `credit_account = 'test:merchant:1:payable'`, 'credit')
      .alter('a fee', `kind = 'fee'`, 'amount = amount + 1', 'amount')
      .alter('a transfer’s mode', refund!, `mode = 'live'`, undefined)
      .remove('a transfer', refund!)
      // The last voucher of the payment in the order of the comparison: a copy of another one would differ from its neighbour.
      .insert('a transfer', `kind = 'voucher' AND debit_account = 'test:service:vouchers'`, row)
      .insert('a transfer of no payment', `kind = 'voucher'`, `${row}, 'payment_id', gen_random_uuid()`)
      .insert('a transfer of next year', `kind = 'voucher'`, `${row}, 'created_at', '2027-03-01T00:00:00Z'`)
  );
}

function notifications(): Table {
  const ofSession = one('notifications', 'id', `recipient = 'session'`);
  return new Table('webhook-dispatcher', 'notifications', 'notifications')
    .alter('a notification’s amount', ofSession, `fields = fields || '{"amount": 1}'`, 'amount')
    .alter('a notification’s address', ofSession, `url = 'https://elsewhere.example/hook'`, 'url')
    .remove('a notification', ofSession)
    .insert('a notification', `recipient = 'session'`, `'id', ${RANDOM_ID}, 'payment_reference', ${NEW}`);
}

function siteNotifications(): Table {
  const refund = one('notifications', 'id', `recipient = 'site' AND type = 'refund'`);
  return new Table('webhook-dispatcher', 'notifications', 'webhooks')
    .alter('a site’s notification of a refund', refund, `fields = jsonb_set(fields, '{refund,amount}', '7')`, 'refund')
    .remove('a site’s notification', refund)
    .insert('a site’s notification', `recipient = 'site'`, `'id', ${RANDOM_ID}, 'webhook_id', gen_random_uuid()`);
}

function notices(): Table {
  const notice = one('notices', 'notice_id', `type = 'payment'`);
  return new Table('merchant-retrieval', 'notices', 'stream')
    .alter(
      'a notice’s amount',
      notice,
      `body = replace(body, '"tenderedAmount":', '"tenderedAmount":9')`,
      'tenderedAmount',
    )
    .alter('a notice that is no JSON', notice, `body = 'nothing'`, undefined)
    .alter('a notice’s site', notice, 'site_id = 9', 'rowSiteId')
    .remove('a notice', notice)
    .insert('a notice', 'true', `'notice_id', ${RANDOM_ID}, 'position', 1000000`);
}

function retrieved(): Table {
  const payment = one('payments', 'payment_reference', 'status = 1');
  return new Table('merchant-retrieval', 'payments', 'retrieval')
    .alter('a retrieved payment’s amount', payment, 'tendered_amount = tendered_amount + 1', 'tenderedAmount')
    .alter('a retrieved payment’s merchant', payment, 'merchant_id = 9', undefined)
    .remove('a retrieved payment', payment)
    .insert('a retrieved payment', 'true', `'payment_reference', ${NEW}`);
}

function history(): Table {
  const payment = one('payments', 'payment_reference', `state = 'success'`);
  return new Table('payment-history', 'payments', 'history')
    .alter('the history’s amount', payment, 'processed_amount = processed_amount + 1', 'processedAmount')
    .alter('the history’s customer', payment, `customer_id = 'another'`, 'customerKey')
    .add('the history’s state', `UPDATE payments SET state = 'processing' WHERE ${payment}`, { kind: 'missing' })
    .remove('a payment of the history', payment)
    .insert('a payment of the history', 'true', `'payment_reference', ${NEW}`);
}

function kept(): Table {
  const payment = one('hosted_payments', 'payment_reference');
  return new Table('hosted-gateway', 'hosted_payments', 'sessions')
    .alter('a session’s result', payment, `snapshot = jsonb_set(snapshot, '{processedAmount}', '1')`, 'processedAmount')
    .remove('a session’s result', payment)
    .insert('a session’s result', 'true', `'payment_reference', ${NEW}`);
}
