/** An attacker who tests cards, as fast as the platform responds. */
import type { CardData } from '@svc/sdk/card';
import type { AttemptOutcome, Checkout } from './checkouts/checkout.ts';

/** Attempts at the same time. */
const WORKERS = 24;

export interface PlannedAttempt {
  readonly card: CardData;
  /** The attacker's address, or the partner. */
  readonly origin: string;
  readonly checkOut: () => Promise<Checkout>;
}

export class Thief {
  attempts = 0;
  readonly outcomes: Record<AttemptOutcome, number> = {
    approved: 0,
    declined: 0,
    refused: 0,
    challenged: 0,
    verification: 0,
  };
  /** The bank's declines by origin, and its requests to verify the payer by origin and by card number. */
  private readonly declines = new Tally();
  private readonly verificationsByOrigin = new Tally();
  private readonly verificationsByCard = new Tally();

  /** Makes these attempts. `beforeAttempt` is called for each of them. */
  async run(planned: readonly PlannedAttempt[], beforeAttempt: () => void): Promise<void> {
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < planned.length) {
        const attempt = planned[next++]!;
        beforeAttempt();
        await this.make(attempt);
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
  }

  /** The bank's declines of the origin with the most of them. */
  get maxDeclinesOfOrigin(): number {
    return this.declines.max;
  }

  /** Requests of the bank to verify the payer, of the origin and of the card with the most of them. The attacker never does. */
  get maxVerifications(): { readonly ofOrigin: number; readonly ofCard: number } {
    return { ofOrigin: this.verificationsByOrigin.max, ofCard: this.verificationsByCard.max };
  }

  /** Attempts that the bank has approved or declined, as far as the attacker can see. */
  get authorisations(): number {
    return this.outcomes.approved + this.outcomes.declined;
  }

  private async make({ card, origin, checkOut }: PlannedAttempt): Promise<void> {
    const outcome = await (await checkOut()).attempt(card);
    this.attempts++;
    this.outcomes[outcome]++;
    if (outcome === 'declined') this.declines.add(origin);
    if (outcome === 'verification') {
      this.verificationsByOrigin.add(origin);
      this.verificationsByCard.add(card.cardNumber);
    }
  }
}

class Tally {
  private readonly counts = new Map<string, number>();

  add(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  get max(): number {
    return Math.max(0, ...this.counts.values());
  }
}
