import { Inject, Injectable } from '@nestjs/common';
import type { EventEnvelope, InvoiceCreated, Mode, PayableSnapshot } from '@svc/contracts';
import { type ColumnMap, insertedColumns, recordColumns, recordValues } from '@svc/persistence';
import { DataSource } from 'typeorm';

/** A payment request (D7) as it was created. It never changes. */
export interface ConsoleRequest {
  /** UUID of the invoice, which is also the payable. */
  readonly invoiceReference: string;
  readonly merchantId: number;
  readonly mode: Mode;
  readonly siteId: number;
  /** The 20 digits of the link. */
  readonly code: string;
  /** Cents. */
  readonly amount: number;
  readonly currency: string;
  readonly description: string;
  /** Empty if there is none. */
  readonly orderReference: string;
  readonly createdUTCDate: string;
  readonly expiresUTCDate: string;
}

export const REQUEST_COLUMNS: ColumnMap<keyof ConsoleRequest> = {
  invoiceReference: ['invoice_reference', 'uuid'],
  merchantId: ['merchant_id', 'bigint'],
  mode: ['mode', 'text'],
  siteId: ['site_id', 'bigint'],
  code: ['code', 'text'],
  amount: ['amount', 'bigint'],
  currency: ['currency', 'text'],
  description: ['description', 'text'],
  orderReference: ['order_reference', 'text'],
  createdUTCDate: ['created_utc_date', 'timestamptz'],
  expiresUTCDate: ['expires_at', 'timestamptz'],
};

const ENDED_PAYABLE: ColumnMap = {
  payableId: ['payable_id', 'uuid'],
  state: ['state', 'text'],
  endedUTCDate: ['ended_utc_date', 'timestamptz'],
};

/** A payable that was closed, or refused after too many payments. */
interface EndedPayable {
  readonly payableId: string;
  readonly state: 'closed' | 'refused';
  readonly endedUTCDate: string;
}

/**
 * Stores payment requests, and the ends of payables without a payment. Both never change, so repeats are harmless. They
 * come from two services in any order, so each has a table.
 */
@Injectable()
export class RequestRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** Invoices of tills are ignored. */
  async insertRequests(events: readonly EventEnvelope<InvoiceCreated>[]): Promise<void> {
    const requests = events.flatMap(({ payload: { payable, lineItems = [], createdUTCDate, requestedBy } }) =>
      requestedBy === undefined
        ? []
        : [
            {
              invoiceReference: payable.payableId,
              merchantId: payable.merchantId,
              mode: payable.mode,
              siteId: payable.siteId,
              code: payable.source.code,
              amount: payable.amount,
              currency: payable.currencyISOCode,
              description: lineItems[0]?.name ?? '',
              orderReference: payable.source.externalReference ?? '',
              createdUTCDate,
              expiresUTCDate: payable.expiresAt,
            } satisfies ConsoleRequest,
          ],
    );
    await this.write(INSERT_REQUESTS, requests);
  }

  async insertEnded(payables: readonly (PayableSnapshot & { readonly at: string })[]): Promise<void> {
    const ended = payables.flatMap(({ payableId, state, at }): EndedPayable[] =>
      state === 'closed' || state === 'refused' ? [{ payableId, state, endedUTCDate: at }] : [],
    );
    await this.write(INSERT_ENDED, ended);
  }

  private async write(statement: string, rows: readonly object[]): Promise<void> {
    if (rows.length > 0) await this.dataSource.query(statement, [JSON.stringify(rows)]);
  }
}

/**
 * $1: the rows as JSON. Writes to the serving generation and to the generation that is being built.
 *
 * @param key the property that identifies a row
 */
function insertIfAbsent(table: string, map: ColumnMap, key: string): string {
  return `
  INSERT INTO ${table} (generation, ${insertedColumns(map)})
  SELECT g.generation, ${recordValues(map, 'r')}
    FROM jsonb_to_recordset($1::jsonb) AS r (${recordColumns(map)})
   CROSS JOIN generations g
   WHERE g.state IN ('serving', 'building') ORDER BY g.generation, r."${key}"
  ON CONFLICT DO NOTHING`;
}

const INSERT_REQUESTS = insertIfAbsent('payment_requests', REQUEST_COLUMNS, 'invoiceReference');
const INSERT_ENDED = insertIfAbsent('ended_payables', ENDED_PAYABLE, 'payableId');
