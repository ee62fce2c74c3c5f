import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import type { MerchantPayment } from '@svc/sdk';
import { type Reader, Store, type Tx } from '../store/store.js';
import { type LocalPayment, selectDecisivePayment } from './payment.js';

/** A payment with its basket and total. */
export interface BasketPayment extends LocalPayment {
  readonly siteId: number;
  readonly basketId: number | null;
  readonly totalId: number | null;
}

interface PaymentRow extends Omit<BasketPayment, 'payment'> {
  readonly payment: string;
}

const COLUMNS = `payment_id AS paymentId, site_id AS siteId, basket_id AS basketId, total_id AS totalId, payment`;

@Injectable()
export class PaymentRepository {
  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Returns false if the payment is already stored: the stream and polling may report the same payment. */
  insertIfAbsent(
    tx: Tx,
    siteId: number,
    payment: MerchantPayment,
    ids: { basketId: number | null; totalId: number | null },
  ): boolean {
    const { changes } = tx.run(
      `INSERT INTO payments (svc_id, site_id, invoice_reference, basket_id, total_id, payment, seen_at)
       VALUES (:svcId, :siteId, :invoiceReference, :basketId, :totalId, :payment, :now)
       ON CONFLICT (svc_id) DO NOTHING`,
      {
        svcId: payment.paymentReference,
        siteId,
        invoiceReference: payment.invoiceReference,
        basketId: ids.basketId,
        totalId: ids.totalId,
        payment: JSON.stringify(payment),
        now: this.clock.nowISO(),
      },
    );
    return changes > 0;
  }

  findBySvcId(svcId: string): BasketPayment | undefined {
    return parsePayment(this.store.find(`SELECT ${COLUMNS} FROM payments WHERE svc_id = :svcId`, { svcId }));
  }

  /** The success of the basket, or the newest payment if no payment has succeeded (T7). */
  findDecisive(basketId: number, from: Reader = this.store): BasketPayment | undefined {
    const payments = from
      .list<PaymentRow>(`SELECT ${COLUMNS} FROM payments WHERE basket_id = :basketId`, { basketId })
      .map((row) => parsePayment(row)!);
    return selectDecisivePayment(payments) as BasketPayment | undefined;
  }

  /** Links the stored payments of an invoice to its basket and total. Returns them as they were before. */
  linkToBasket(tx: Tx, invoiceReference: string, to: { basketId: number; totalId: number }): BasketPayment[] {
    const payments = tx.list<PaymentRow>(
      `SELECT ${COLUMNS} FROM payments WHERE invoice_reference = :invoiceReference`,
      {
        invoiceReference,
      },
    );
    tx.run(
      `UPDATE payments SET basket_id = :basketId, total_id = :totalId WHERE invoice_reference = :invoiceReference`,
      { invoiceReference, basketId: to.basketId, totalId: to.totalId },
    );
    return payments.map((row) => parsePayment(row)!);
  }

  findPosition(siteId: number): string | undefined {
    return this.store.find<{ id: string }>('SELECT last_event_id AS id FROM stream_positions WHERE site_id = :siteId', {
      siteId,
    })?.id;
  }

  savePosition(tx: Tx, siteId: number, lastEventId: string): void {
    tx.run(
      `INSERT INTO stream_positions (site_id, last_event_id) VALUES (:siteId, :lastEventId)
       ON CONFLICT (site_id) DO UPDATE SET last_event_id = excluded.last_event_id`,
      { siteId, lastEventId },
    );
  }

  deletePosition(tx: Tx, siteId: number): void {
    tx.run('DELETE FROM stream_positions WHERE site_id = :siteId', { siteId });
  }
}

function parsePayment(row: PaymentRow | undefined): BasketPayment | undefined {
  return row && { ...row, payment: JSON.parse(row.payment) as MerchantPayment };
}
