import { Injectable } from '@nestjs/common';

/**
 * Pay requests of this process that are in flight. The database does not contain their attempts yet, so a reload of the
 * page would show a form again. Because of these entries it shows processing. Other processes do not have these
 * entries: if one of them serves the page, the script of the page shows processing.
 */
@Injectable()
export class InFlightPayments {
  /** Attempt numbers, by id of the payable. */
  private readonly attempts = new Map<string, number[]>();

  /**
   * True if an attempt is in flight that the database does not contain yet.
   *
   * @param triesKnown number of attempts in the database
   */
  has(payableId: string, triesKnown: number): boolean {
    return this.attempts.get(payableId)?.some((attempt) => attempt > triesKnown) ?? false;
  }

  async track<T>(payableId: string, attemptNumber: number, pay: () => Promise<T>): Promise<T> {
    const tries = this.attempts.get(payableId) ?? [];
    this.attempts.set(payableId, tries);
    tries.push(attemptNumber);
    try {
      return await pay();
    } finally {
      tries.splice(tries.indexOf(attemptNumber), 1);
      if (tries.length === 0) this.attempts.delete(payableId);
    }
  }
}
