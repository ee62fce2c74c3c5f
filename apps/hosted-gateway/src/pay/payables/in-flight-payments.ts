import { Injectable } from '@nestjs/common';

/**
 * The pay requests of this process that are in flight. While a pay request is in flight, the database does not contain
 * its attempt. Without this class, a reload of the page would show the form again instead of processing.
 *
 * Other processes do not know these requests. If another process serves the page, the script of the page continues to
 * show processing.
 */
@Injectable()
export class InFlightPayments {
  /** Attempt numbers, by id of the payable. */
  private readonly attempts = new Map<string, number[]>();

  /**
   * True if an attempt is in flight that the database does not contain yet.
   *
   * @param storedAttempts number of attempts in the database
   */
  has(payableId: string, storedAttempts: number): boolean {
    return this.attempts.get(payableId)?.some((attempt) => attempt > storedAttempts) ?? false;
  }

  /** Runs `pay`, and counts the attempt as in flight until it has ended. */
  async track<T>(payableId: string, attemptNumber: number, pay: () => Promise<T>): Promise<T> {
    const attemptNumbers = this.attempts.get(payableId) ?? [];
    this.attempts.set(payableId, attemptNumbers);
    attemptNumbers.push(attemptNumber);
    try {
      return await pay();
    } finally {
      attemptNumbers.splice(attemptNumbers.indexOf(attemptNumber), 1);
      if (attemptNumbers.length === 0) this.attempts.delete(payableId);
    }
  }
}
