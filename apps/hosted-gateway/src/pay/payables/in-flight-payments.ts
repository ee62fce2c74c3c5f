import { Injectable } from '@nestjs/common';

/**
 * The pay requests of this process that are in flight. While a pay request is in flight, the database does not contain
 * its payment. Without this class, a reload of the page would show the form again instead of processing.
 *
 * Other processes do not know these requests. If another process serves the page, the script of the page continues to
 * show processing.
 */
@Injectable()
export class InFlightPayments {
  /** Numbers of the payments, by id of the payable. */
  private readonly numbers = new Map<string, number[]>();

  /**
   * True if a payment is in flight that the database does not contain yet.
   *
   * @param storedPayments number of payments in the database
   */
  has(payableId: string, storedPayments: number): boolean {
    return this.numbers.get(payableId)?.some((paymentNumber) => paymentNumber > storedPayments) ?? false;
  }

  /** Counts the payment as in flight until the end of the scope of the `using` declaration. */
  add(payableId: string, paymentNumber: number): Disposable {
    const numbers = this.numbers.get(payableId) ?? [];
    this.numbers.set(payableId, numbers);
    numbers.push(paymentNumber);
    return {
      [Symbol.dispose]: () => {
        numbers.splice(numbers.indexOf(paymentNumber), 1);
        if (numbers.length === 0) this.numbers.delete(payableId);
      },
    };
  }
}
