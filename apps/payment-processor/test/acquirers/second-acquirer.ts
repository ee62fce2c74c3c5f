import type { Mode } from '@svc/contracts';
import {
  Acquirer,
  type CardCharge,
  type ChallengeState,
  type ChargeOutcome,
  type ChargeQueryResult,
  type MerchantAccount,
  type RefundOutcome,
  type RefundQueryResult,
  type RefundTerms,
  type ReversalOutcome,
  type ReversalTerms,
  type StatementPage,
  type VaultCard,
  type Verification,
  type VerifiedCharge,
} from '../../src/acquirers/acquirer.js';

/** A call of the service to this acquirer. */
interface Call {
  readonly method: keyof Acquirer;
  /** Idempotency key, vault token or challenge. */
  readonly key: string;
  readonly accountReference?: string;
}

/**
 * A second acquirer for tests, in memory. It approves every charge, succeeds every refund and confirms every reversal, or
 * behaves as the test has set. It opens no account by itself.
 */
export class SecondAcquirer extends Acquirer {
  override readonly name = 'second';
  override readonly capturesSeparately = false;
  override readonly needsBrowser = false;
  readonly calls: Call[] = [];
  /** `unreachable`: no call arrives. `stuck`: no call ends until {@link respondToAll}. */
  behaviour: 'responds' | 'unreachable' | 'stuck' = 'responds';
  /** The outcome of the next charge; afterwards charges are approved again. */
  nextOutcome: ChargeOutcome | undefined;
  challengeState: ChallengeState = 'pending';
  isVaultAvailable = true;
  private readonly supportedModes: readonly Mode[];
  private readonly charged = new Set<string>();
  private readonly stuckCalls: (() => void)[] = [];

  constructor(...supportedModes: Mode[]) {
    super();
    this.supportedModes = supportedModes;
  }

  keysOf(method: keyof Acquirer): string[] {
    return this.calls.filter((call) => call.method === method).map(({ key }) => key);
  }

  get stuckCount(): number {
    return this.stuckCalls.length;
  }

  /** Ends all stuck calls without a response. */
  respondToAll(): void {
    for (const end of this.stuckCalls.splice(0)) end();
  }

  override supportsMode(mode: Mode): boolean {
    return this.supportedModes.includes(mode);
  }

  override getDefaultAccount(): undefined {
    return undefined;
  }

  override charge({ idempotencyKey, account }: CardCharge): Promise<ChargeOutcome> {
    return this.decide('charge', idempotencyKey, account);
  }

  override chargeVerified({ idempotencyKey, account }: VerifiedCharge): Promise<ChargeOutcome> {
    return this.decide('chargeVerified', idempotencyKey, account);
  }

  override async storeCard({ cardNumber }: { cardNumber: string }): Promise<VaultCard | 'unknown'> {
    const responds = await this.record({ method: 'storeCard', key: cardNumber });
    return responds ? { vaultToken: `second-${cardNumber.slice(-4)}`, vaultAccount: undefined } : 'unknown';
  }

  override async deleteCard({ vaultToken }: VaultCard): Promise<boolean> {
    return (await this.record({ method: 'deleteCard', key: vaultToken })) && this.isVaultAvailable;
  }

  override async getChallengeState(
    { challengeReference: key }: Verification,
    account: MerchantAccount,
  ): Promise<ChallengeState> {
    const responds = await this.record({ method: 'getChallengeState', key, ...account });
    return responds ? this.challengeState : 'unknown';
  }

  override async getChargeStatus(key: string, account: MerchantAccount): Promise<ChargeQueryResult> {
    if (!(await this.record({ method: 'getChargeStatus', key, ...account }))) return { kind: 'unknown' };
    return this.charged.has(key) ? approval(key) : { kind: 'notFound' };
  }

  override capture(): Promise<never> {
    return Promise.reject(new Error('This acquirer does not capture separately.'));
  }

  override async reverse({ chargeKey: key, account }: ReversalTerms): Promise<ReversalOutcome> {
    if (!(await this.record({ method: 'reverse', key, ...account }))) return { kind: 'unconfirmed' };
    return { kind: this.charged.delete(key) ? 'reversed' : 'neverCharged' };
  }

  override async refund({ idempotencyKey: key, account }: RefundTerms): Promise<RefundOutcome> {
    const responds = await this.record({ method: 'refund', key, ...account });
    return responds ? { kind: 'succeeded', acquirerReference: `refund-${key}` } : { kind: 'unknown' };
  }

  override async getRefundStatus({ idempotencyKey: key, account }: RefundTerms): Promise<RefundQueryResult> {
    const responds = await this.record({ method: 'getRefundStatus', key, ...account });
    return { kind: responds ? 'notFound' : 'unknown' };
  }

  override readStatement(): Promise<StatementPage> {
    return Promise.resolve({ lines: [], next: undefined });
  }

  private async decide(
    method: 'charge' | 'chargeVerified',
    key: string,
    account: MerchantAccount,
  ): Promise<ChargeOutcome> {
    const outcome = this.nextOutcome ?? approval(key);
    this.nextOutcome = undefined;
    if (outcome.kind === 'approved' || outcome.kind === 'unknown') this.charged.add(key);
    if (await this.record({ method, key, ...account })) return outcome;
    return { kind: this.behaviour === 'unreachable' ? 'notAttempted' : 'unknown' };
  }

  /** False when the service gets no response. */
  private async record(call: Call): Promise<boolean> {
    this.calls.push(call);
    if (this.behaviour !== 'stuck') return this.behaviour === 'responds';
    await new Promise<void>((resolve) => this.stuckCalls.push(resolve));
    return false;
  }
}

function approval(key: string): Extract<ChargeOutcome, { kind: 'approved' }> {
  return { kind: 'approved', acquirerReference: `charge-${key}` };
}
