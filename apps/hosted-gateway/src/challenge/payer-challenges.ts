import { Inject, Injectable } from '@nestjs/common';
import { Clock, createCounter, DomainError } from '@svc/kernel';
import { HostedGatewayConfig } from '../config.js';
import { AttackLevels, type SiteKey } from './attack-levels.js';
import { createChallengeText, isSolution, verifyChallengeText } from './challenge.js';
import { computeNumbers, isEnoughWork } from './challenge-difficulty.js';
import { RecentDeclines } from './recent-declines.js';
import { UsedChallengeRepository } from './used-challenge.repository.js';

/** The session or invoice of a page. */
export interface ChallengedPayable extends SiteKey {
  readonly payableId: string;
}

/** The challenge and its solution in a pay request, as the browser sent them. */
export interface ChallengeAnswer {
  /** The `reference` of the pay request. */
  readonly reference: string;
  readonly challenge?: string | undefined;
  readonly solution?: number | undefined;
}

/**
 * Creates and verifies the challenges of payment pages. Pages of sites without an attack have none. The counter
 * `svc.challenges` has the outcomes `created`, `accepted` and `refused`.
 */
@Injectable()
export class PayerChallenges {
  private readonly outcomes = createCounter('svc.challenges');
  /** The first key signs. */
  private readonly keys: readonly Buffer[];

  constructor(
    @Inject(AttackLevels) private readonly attackLevels: AttackLevels,
    @Inject(RecentDeclines) private readonly recentDeclines: RecentDeclines,
    @Inject(UsedChallengeRepository) private readonly used: UsedChallengeRepository,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(HostedGatewayConfig) private readonly config: HostedGatewayConfig,
  ) {
    this.keys = config.SVC_CHALLENGE_KEYS.split(',').map((key) => Buffer.from(key, 'base64url'));
  }

  /** The text of a new challenge. Undefined if the payer may pay without one. */
  async create(payable: ChallengedPayable, ip: string): Promise<string | undefined> {
    const numbers = await this.computeNumbers(payable, ip);
    if (numbers === 0) return undefined;
    this.outcomes.add(1, { outcome: 'created' });
    return createChallengeText({ payableId: payable.payableId, numbers, now: this.clock.now() }, this.keys[0]!);
  }

  /**
   * Verifies the solution of a pay request, and uses the challenge.
   *
   * @throws challenge.required There is no solution, or it is wrong, expired, too easy by now, of another page, or used.
   */
  async verify(payable: ChallengedPayable, answer: ChallengeAnswer, ip: string): Promise<void> {
    const numbers = await this.computeNumbers(payable, ip);
    if (numbers === 0) return;
    const isAccepted = await this.useSolution(payable.payableId, answer, numbers);
    this.outcomes.add(1, { outcome: isAccepted ? 'accepted' : 'refused' });
    if (!isAccepted) throw new DomainError('challenge.required');
  }

  private async useSolution(payableId: string, answer: ChallengeAnswer, required: number): Promise<boolean> {
    const { reference, challenge: text = '', solution } = answer;
    const challenge = verifyChallengeText(text, this.keys);
    if (!challenge || solution === undefined) return false;
    const now = this.clock.now();
    if (challenge.payableId !== payableId || challenge.expiresAtMs <= now.getTime()) return false;
    if (!isEnoughWork(challenge.numbers, required)) return false;
    const { id: challengeId, expiresAtMs } = challenge;
    // The use is stored first, so that a client that guesses a solution has only one guess.
    const isFirstUse = await this.used.use({ challengeId, reference, solution, expiresAtMs }, now);
    return isFirstUse && (await isSolution(challenge, solution));
  }

  private async computeNumbers(payable: ChallengedPayable, ip: string): Promise<number> {
    const level = await this.attackLevels.get(payable);
    return computeNumbers(this.config.SVC_CHALLENGE_NUMBERS, level, this.recentDeclines.count(ip));
  }
}
