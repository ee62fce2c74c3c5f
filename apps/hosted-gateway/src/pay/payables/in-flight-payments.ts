import { Injectable } from '@nestjs/common';

/**
 * Pay requests of this process that are in flight. The database gets their result with the reply or an event,
 * a moment later: a reload in that moment must not show a form. Other processes only receive the event; for them
 * the page's script bridges that moment.
 */
@Injectable()
export class InFlightPayments {
  /** Attempt numbers, by id of the payable. */
  private readonly attempts = new Map<string, number[]>();

  /** @param triesKnown number of attempts in the database: the results of those are read there */
  has(sessionId: string, triesKnown: number): boolean {
    return this.attempts.get(sessionId)?.some((one) => one > triesKnown) ?? false;
  }

  async track<T>(sessionId: string, tryNumber: number, pay: () => Promise<T>): Promise<T> {
    const tries = this.attempts.get(sessionId) ?? [];
    this.attempts.set(sessionId, tries);
    tries.push(tryNumber);
    try {
      return await pay();
    } finally {
      tries.splice(tries.indexOf(tryNumber), 1);
      if (tries.length === 0) this.attempts.delete(sessionId);
    }
  }
}
