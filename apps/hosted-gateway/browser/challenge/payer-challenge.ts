import { type ChallengeTask, parseChallengeText } from '../../src/challenge/challenge-work.js';

/** The solution as a pay request contains it. Empty if the payment needs none. */
export interface ChallengeSolution {
  challenge?: string;
  solution?: number;
}

interface ChallengeDependencies {
  /** Requests a challenge. `challenge` is absent if the payment needs none. Undefined if the call failed. */
  readonly request: () => Promise<{ challenge?: string } | undefined>;
  readonly solve: (task: ChallengeTask, onProgress: (share: number) => void) => Promise<number>;
  readonly now: () => Date;
  /** Called with true when the payer begins to wait, and with false at the end. */
  readonly showWaiting: (isWaiting: boolean) => void;
  readonly showProgress: (share: number) => void;
}

/** A challenge that is being solved, or is solved. */
interface CurrentChallenge {
  readonly expiresAtMs: number;
  readonly solution: Promise<ChallengeSolution>;
  isSolved: boolean;
}

/** A solution must still be valid when it arrives at the server. */
const MIN_VALID_MS = 15_000;

/**
 * The challenge for the next payment. The page of a site under attack contains the first one. The page requests later
 * ones: after a payment has used the solution, when the solution has expired, and when the server requires one because
 * the attack began after the page was loaded.
 */
export class PayerChallenge {
  private current: CurrentChallenge | undefined;
  private needsAnother = false;
  private renewal: Promise<boolean> | undefined;

  /** @param first the challenge in the page */
  constructor(
    first: string | undefined,
    private readonly dependencies: ChallengeDependencies,
  ) {
    this.current = first === undefined ? undefined : this.start(first);
  }

  /** Waits until the challenge in the page is solved. */
  async finishFirst(): Promise<void> {
    await this.current?.solution;
  }

  /**
   * The solution for the next payment. Shows the progress while the payer must wait. Undefined if the server could not
   * be reached.
   */
  async getSolution(): Promise<ChallengeSolution | undefined> {
    if (!this.current && !this.needsAnother) return {};
    if (this.current?.isSolved === true && !this.isOutdated()) return this.current.solution;
    const { showWaiting } = this.dependencies;
    showWaiting(true);
    const isCurrent = this.isOutdated() ? await this.renew() : true;
    const solution = isCurrent ? await (this.current?.solution ?? {}) : undefined;
    showWaiting(false);
    return solution;
  }

  /** Must be called when the server requires another solution. */
  requireAnother(): void {
    this.needsAnother = true;
  }

  /** Must be called when a payment has used the solution. */
  markUsed(): void {
    if (this.current) this.needsAnother = true;
  }

  /** Solves the next challenge while the payer fills in the form, if the last one was used. */
  prepareNext(): void {
    if (this.needsAnother) void this.renew();
  }

  private isOutdated(): boolean {
    const now = this.dependencies.now().getTime();
    return this.needsAnother || (this.current?.expiresAtMs ?? now) < now + MIN_VALID_MS;
  }

  /** Returns false if the server could not be reached. Concurrent calls share one request. */
  private renew(): Promise<boolean> {
    this.renewal ??= this.requestNext().finally(() => (this.renewal = undefined));
    return this.renewal;
  }

  private async requestNext(): Promise<boolean> {
    const response = await this.dependencies.request();
    if (!response) return false;
    this.needsAnother = false;
    this.current = response.challenge === undefined ? undefined : this.start(response.challenge);
    return true;
  }

  private start(challenge: string): CurrentChallenge {
    const task = parseChallengeText(challenge);
    const current: CurrentChallenge = {
      expiresAtMs: task?.expiresAtMs ?? 0,
      solution: this.solve(challenge, task).finally(() => (current.isSolved = true)),
      isSolved: false,
    };
    return current;
  }

  /** Empty if there is no solution. The server then refuses the payment, and the page requests another challenge. */
  private async solve(challenge: string, task: ChallengeTask | undefined): Promise<ChallengeSolution> {
    try {
      return task ? { challenge, solution: await this.dependencies.solve(task, this.dependencies.showProgress) } : {};
    } catch {
      return {};
    }
  }
}
