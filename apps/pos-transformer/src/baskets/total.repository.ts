import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import type { CreateInvoiceRequest } from '@svc/sdk';
import { type Reader, Store, type Tx } from '../store/store.js';
import type { BasketContent } from './basket.js';

/**
 * `without-invoice`: nothing is due, or the basket has been paid. `queued`: the call that creates the invoice waits.
 * `open`: the customer can pay the invoice. `replaced`: the platform has replaced the invoice by a newer invoice of the
 * basket. `closed`: the invoice can no longer be paid. `refused`: the platform refused the total.
 */
export type TotalState = 'without-invoice' | 'queued' | 'open' | 'replaced' | 'closed' | 'paid' | 'refused';

/**
 * The amount that a till requested for a whole basket, with the invoice for that amount. A basket has one for each request;
 * the newest is the current one. The total of one line is `lineTotal` of the line.
 */
export interface RequestedTotal {
  readonly totalId: number;
  readonly basketId: number;
  readonly amountCents: number;
  readonly content: BasketContent;
  /** The request that creates the invoice; null if nothing is due. */
  readonly request: CreateInvoiceRequest | null;
  /** The key of the request. Every attempt sends it, so that a repeat returns the same invoice. Null if nothing is due. */
  readonly idempotencyKey: string | null;
  readonly state: TotalState;
  readonly invoiceReference: string | null;
  /** Text of the QR code. */
  readonly code: string | null;
  readonly expiresAt: string | null;
  /** Whether the till has changed the lines since this total. Then no screen shows the total or its code (T3). */
  readonly isWithdrawn: boolean;
}

/** A new total. `request` and `idempotencyKey` are null if nothing is due. */
interface NewTotal {
  readonly basketId: number;
  readonly amountCents: number;
  readonly content: BasketContent;
  readonly request: CreateInvoiceRequest | null;
  readonly idempotencyKey: string | null;
}

interface TotalRow extends Omit<RequestedTotal, 'content' | 'request' | 'isWithdrawn'> {
  readonly content: string;
  readonly request: string | null;
  readonly withdrawn: number;
}

const COLUMNS = `totals.total_id AS totalId, totals.basket_id AS basketId, totals.amount AS amountCents,
  totals.content, totals.request, totals.idempotency_key AS idempotencyKey, totals.withdrawn, totals.state, totals.invoice_reference AS invoiceReference, totals.code,
  totals.expires_at AS expiresAt`;

@Injectable()
export class TotalRepository {
  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  create(tx: Tx, total: NewTotal): number {
    return tx.run(
      `INSERT INTO totals (basket_id, amount, content, request, idempotency_key, state, created_at)
       VALUES (:basketId, :amountCents, :content, :request, :idempotencyKey, :state, :now)`,
      {
        basketId: total.basketId,
        amountCents: total.amountCents,
        content: JSON.stringify(total.content),
        request: total.request && JSON.stringify(total.request),
        idempotencyKey: total.idempotencyKey,
        state: total.request === null ? 'without-invoice' : 'queued',
        now: this.clock.nowISO(),
      },
    ).id;
  }

  get(totalId: number, from: Reader = this.store): RequestedTotal {
    return parseTotal(from.find<TotalRow>(`SELECT ${COLUMNS} FROM totals WHERE total_id = :totalId`, { totalId }))!;
  }

  /** The newest total that was not refused. */
  findCurrent(basketId: number, from: Reader = this.store): RequestedTotal | undefined {
    return parseTotal(
      from.find<TotalRow>(
        `SELECT ${COLUMNS} FROM totals WHERE basket_id = :basketId AND state <> 'refused' ORDER BY total_id DESC LIMIT 1`,
        { basketId },
      ),
    );
  }

  findByInvoice(invoiceReference: string, from: Reader = this.store): RequestedTotal | undefined {
    return parseTotal(
      from.find<TotalRow>(`SELECT ${COLUMNS} FROM totals WHERE invoice_reference = :invoiceReference`, {
        invoiceReference,
      }),
    );
  }

  /**
   * Whether the platform may have a payable invoice of the basket: an invoice is open, or a call that creates an invoice
   * was attempted without a response.
   */
  mayHavePayableInvoice(basketId: number, from: Reader = this.store): boolean {
    const found = from.find(
      `SELECT 1 FROM totals
       WHERE basket_id = :basketId
         AND (state = 'open'
           OR (state = 'queued'
             AND EXISTS (SELECT 1 FROM outgoing_calls AS call
                         WHERE call.total_id = totals.total_id AND call.kind = 'create-invoice' AND call.attempts > 0)))
       LIMIT 1`,
      { basketId },
    );
    return found !== undefined;
  }

  /**
   * References of the site's invoices for which a payment may be missing in this store, the newest first.
   *
   * @param after an open invoice is returned if it expires after `expiry`, a replaced or closed invoice if it ended
   *   after `end` (ISO 8601)
   */
  listPayableInvoices(siteId: number, after: { readonly expiry: string; readonly end: string }): string[] {
    return this.store
      .list<{ invoiceReference: string }>(
        `SELECT totals.invoice_reference AS invoiceReference FROM totals JOIN baskets ON baskets.basket_id = totals.basket_id
         WHERE baskets.site_id = :siteId AND totals.invoice_reference IS NOT NULL
           AND ((totals.state = 'open' AND totals.expires_at > :expiry)
             OR (totals.state IN ('replaced', 'closed') AND totals.ended_at > :end))
         ORDER BY total_id DESC`,
        { siteId, ...after },
      )
      .map(({ invoiceReference }) => invoiceReference);
  }

  /**
   * Totals of open baskets whose invoices have expired, unless they are withdrawn. Only totals whose invoices were
   * created before `createdBefore`, in
   * baskets that changed at `changedAfter` or later, are returned.
   */
  listExpired({ now, ...limits }: { now: string; createdBefore: string; changedAfter: string }): RequestedTotal[] {
    return this.store
      .list<TotalRow>(
        `SELECT ${COLUMNS} FROM totals JOIN baskets ON baskets.basket_id = totals.basket_id
         WHERE totals.state = 'open' AND totals.withdrawn = 0 AND totals.expires_at <= :now AND baskets.state = 'open'
           AND baskets.changed_at >= :changedAfter AND totals.created_at < :createdBefore`,
        { now, ...limits },
      )
      .map((row) => parseTotal(row)!);
  }

  /** Stores the invoice of the total. The age of the total begins again, because it is the age of its invoice now. */
  setInvoice(
    tx: Tx,
    totalId: number,
    invoice: { state: 'open' | 'replaced' | 'closed'; reference: string; code: string; expiresAt: string },
  ): void {
    tx.run(
      `UPDATE totals SET state = :state, invoice_reference = :reference, code = :code, expires_at = :expiresAt,
         created_at = :now, ended_at = :now
       WHERE total_id = :totalId`,
      {
        totalId,
        state: invoice.state,
        reference: invoice.reference,
        code: invoice.code,
        expiresAt: invoice.expiresAt,
        now: this.clock.nowISO(),
      },
    );
  }

  /** Replaces the request whose invoice has expired. The next attempt sends this request with this key. */
  setRequest(tx: Tx, totalId: number, request: CreateInvoiceRequest, idempotencyKey: string): void {
    tx.run('UPDATE totals SET request = :request, idempotency_key = :idempotencyKey WHERE total_id = :totalId', {
      totalId,
      request: JSON.stringify(request),
      idempotencyKey,
    });
  }

  /** Marks that the till has changed the lines since this total. */
  withdraw(tx: Tx, totalId: number): void {
    tx.run('UPDATE totals SET withdrawn = 1 WHERE total_id = :totalId', { totalId });
  }

  setState(tx: Tx, totalId: number, state: TotalState): void {
    tx.run('UPDATE totals SET state = :state, ended_at = :now WHERE total_id = :totalId', {
      totalId,
      state,
      now: this.clock.nowISO(),
    });
  }

  /**
   * Marks earlier totals of the basket as replaced: the platform has replaced their invoices, so they can no longer be
   * paid.
   */
  replaceEarlier(tx: Tx, basketId: number, beforeTotalId: number): void {
    tx.run(
      `UPDATE totals SET state = 'replaced', ended_at = :now
       WHERE basket_id = :basketId AND total_id < :beforeTotalId AND state IN ('open', 'queued')`,
      { basketId, beforeTotalId, now: this.clock.nowISO() },
    );
  }

  /** Closes the totals of a basket up to and including `totalId`: their invoices can no longer be paid. */
  closeUpTo(tx: Tx, basketId: number, totalId: number): void {
    tx.run(
      `UPDATE totals SET state = 'closed', ended_at = :now
       WHERE basket_id = :basketId AND total_id <= :totalId AND state IN ('open', 'queued')`,
      { basketId, totalId, now: this.clock.nowISO() },
    );
  }
}

function parseTotal(row: TotalRow | undefined): RequestedTotal | undefined {
  if (!row) return undefined;
  const { withdrawn, ...total } = row;
  return {
    ...total,
    isWithdrawn: withdrawn === 1,
    content: JSON.parse(row.content) as BasketContent,
    request: row.request === null ? null : (JSON.parse(row.request) as CreateInvoiceRequest),
  };
}
