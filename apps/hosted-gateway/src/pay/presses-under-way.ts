import { Injectable } from '@nestjs/common';

/**
 * Sessions for which this process is just passing a press of Pay on. What the database knows of it comes with the
 * answer or an event, a moment later: a reload in that moment must not be shown a form. Other processes learn of it by
 * the event alone; there the page's own script covers the moment.
 */
@Injectable()
export class PressesUnderWay {
  private readonly counts = new Map<string, number>();

  has(sessionId: string): boolean {
    return this.counts.has(sessionId);
  }

  async during<T>(sessionId: string, press: () => Promise<T>): Promise<T> {
    this.counts.set(sessionId, (this.counts.get(sessionId) ?? 0) + 1);
    try {
      return await press();
    } finally {
      const left = (this.counts.get(sessionId) ?? 1) - 1;
      if (left > 0) this.counts.set(sessionId, left);
      else this.counts.delete(sessionId);
    }
  }
}
