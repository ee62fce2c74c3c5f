import { Injectable } from '@nestjs/common';

/**
 * Presses of Pay that this process is just passing on. What the database knows of one comes with the answer or an event,
 * a moment later: a reload in that moment must not be shown a form. Other processes learn of it by the event alone; there
 * the page's own script covers the moment.
 */
@Injectable()
export class PressesUnderWay {
  /** Numbers of the tries, by session. */
  private readonly tries = new Map<string, number[]>();

  /** @param triesKnown tries of the session that the database knows of: what became of those is read there */
  has(sessionId: string, triesKnown: number): boolean {
    return this.tries.get(sessionId)?.some((one) => one > triesKnown) ?? false;
  }

  async during<T>(sessionId: string, tryNumber: number, press: () => Promise<T>): Promise<T> {
    const tries = this.tries.get(sessionId) ?? [];
    this.tries.set(sessionId, tries);
    tries.push(tryNumber);
    try {
      return await press();
    } finally {
      tries.splice(tries.indexOf(tryNumber), 1);
      if (tries.length === 0) this.tries.delete(sessionId);
    }
  }
}
