import { Injectable } from '@nestjs/common';
import type { PaymentCopy } from './payment-copy.js';

/** A pay request of this process, until the end of the scope of its `using` declaration. */
export interface InFlightPayment extends Disposable {
  /**
   * Returns the report that {@link InFlightPayments.keepReport} has kept, if any. The service stores all reports about
   * the payment from now on.
   */
  takeReport(): PaymentCopy | undefined;
}

interface Entry {
  readonly paymentNumber: number;
  keepsReports: boolean;
  report?: PaymentCopy;
}

/**
 * The pay requests of this process that are in flight, added by `PayOnPage`. It has two uses:
 * - While a pay request is in flight, the database does not contain its payment. Without this class, a reload of the
 *   page (`ShowPage`) would show the form again instead of processing.
 * - The event that the payment is in progress usually arrives before the result. `SessionsConsumer` leaves it to the
 *   pay request, so that most payments are stored once (ADR 75).
 *
 * Other processes do not know these requests. If another process serves the page, the script of the page continues to
 * show processing.
 */
@Injectable()
export class InFlightPayments {
  /** By id of the payable. */
  private readonly entries = new Map<string, Entry[]>();

  /**
   * True if a payment is in flight that the database does not contain yet.
   *
   * @param storedPayments number of payments in the database
   */
  has(payableId: string, storedPayments: number): boolean {
    return this.entries.get(payableId)?.some(({ paymentNumber }) => paymentNumber > storedPayments) ?? false;
  }

  /** Counts the payment as in flight until the end of the scope of the `using` declaration. */
  add(payableId: string, paymentNumber: number): InFlightPayment {
    const entries = this.entries.get(payableId) ?? [];
    this.entries.set(payableId, entries);
    const entry: Entry = { paymentNumber, keepsReports: true };
    entries.push(entry);
    return {
      takeReport: () => {
        entry.keepsReports = false;
        return entry.report;
      },
      [Symbol.dispose]: () => {
        entries.splice(entries.indexOf(entry), 1);
        if (entries.length === 0) this.entries.delete(payableId);
      },
    };
  }

  /**
   * Keeps the report that a payment is in progress for the pay requests of this process with the same number, and
   * returns true: they store it if their result is not newer. False if there is no such request: then the caller stores
   * the report.
   */
  keepReport(payment: PaymentCopy): boolean {
    const { payableId, paymentCount } = payment.payable;
    const waiting = (this.entries.get(payableId) ?? []).filter(
      ({ paymentNumber, keepsReports }) => paymentNumber === paymentCount && keepsReports,
    );
    for (const entry of waiting) entry.report = payment;
    return waiting.length > 0;
  }
}
