import { Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { Clock, TtlCache } from '@svc/kernel';
import { ConfigError } from '@svc/service';
import { PaymentProcessorConfig } from '../config.js';
import type { Acquirer, MerchantAccount } from './acquirer.js';
import { type ConfiguredAccount, MerchantAccountRepository } from './merchant-account.repository.js';

/** Injection token of the configured acquirers, a list of {@link Acquirer}. */
export const ACQUIRERS = Symbol('ACQUIRERS');

/**
 * The acquirer and the merchant's account there. The attempt stores both, and every later call about the attempt uses
 * them.
 */
export interface ChargeRoute {
  /** Name of the acquirer. */
  readonly acquirer: string;
  readonly account: MerchantAccount;
}

/**
 * Chooses the acquirer of a charge by merchant and mode: the account that an administrator has configured, or the
 * default account of an acquirer that opens accounts automatically. A change of the configuration applies within a
 * second. An existing charge keeps its acquirer and account, because the attempt stores both.
 */
@Injectable()
export class Acquirers {
  /** The acquirer whose vault stores new cards. A stored card keeps the acquirer that is in its row. */
  readonly vault: Acquirer;
  private readonly liveAcquirer: string;
  private readonly configuredAccounts: TtlCache<{ readonly account: ConfiguredAccount | undefined }>;

  constructor(
    @Inject(ACQUIRERS) private readonly acquirers: Acquirer[],
    @Inject(MerchantAccountRepository) private readonly accounts: MerchantAccountRepository,
    @Inject(PaymentProcessorConfig)
    { SVC_CARD_VAULT, SVC_ACQUIRER_LIVE }: Pick<PaymentProcessorConfig, 'SVC_CARD_VAULT' | 'SVC_ACQUIRER_LIVE'>,
    @Inject(Clock) clock: Clock,
  ) {
    this.liveAcquirer = SVC_ACQUIRER_LIVE;
    if (acquirers.length === 0)
      throw new ConfigError('There is no acquirer: set the settings of Adyen (SVC_ADYEN_…) or SVC_ACQUIRER_URL.');
    const vault = SVC_CARD_VAULT === undefined ? acquirers[0] : this.findByName(SVC_CARD_VAULT);
    if (!vault) throw new Error(`SVC_CARD_VAULT must be a configured acquirer: ${this.names.join(', ')}`);
    this.vault = vault;
    this.configuredAccounts = new TtlCache(clock);
  }

  /** Undefined when no acquirer accepts new charges of this merchant and mode. */
  async find(merchantId: number, mode: Mode): Promise<ChargeRoute | undefined> {
    const cached = await this.configuredAccounts.find(`${merchantId} ${mode}`, async () => ({
      account: await this.accounts.find(merchantId, mode),
    }));
    if (cached?.account) {
      const { acquirer: name, accountReference } = cached.account;
      const acquirer = this.findByName(name);
      return acquirer && this.acceptsNew(acquirer, mode)
        ? { acquirer: name, account: { mode, accountReference } }
        : undefined;
    }
    for (const acquirer of this.acquirers) {
      const accountReference = acquirer.getDefaultAccount(merchantId);
      if (this.acceptsNew(acquirer, mode) && accountReference !== undefined)
        return { acquirer: acquirer.name, account: { mode, accountReference } };
    }
    return undefined;
  }

  /**
   * True when this acquirer accepts new charges and cards in this mode. In live mode only the acquirer of the setting
   * SVC_ACQUIRER_LIVE does, also if others have live settings, so that an operator can stop live charges. Captures,
   * refunds and reversals of existing charges, and the deletion of cards, work regardless.
   */
  acceptsNew(acquirer: Acquirer, mode: Mode): boolean {
    return acquirer.supportsMode(mode) && (mode === 'test' || acquirer.name === this.liveAcquirer);
  }

  /** The acquirer with the name that an attempt, refund or card stores. Throws when no such acquirer is configured. */
  get(name: string): Acquirer {
    const acquirer = this.findByName(name);
    if (!acquirer) throw new Error(`No acquirer named ${name} is configured.`);
    return acquirer;
  }

  /** Names of all configured acquirers. */
  get names(): readonly string[] {
    return this.acquirers.map(({ name }) => name);
  }

  /** Names of the acquirers with settings for this mode. */
  namesFor(mode: Mode): readonly string[] {
    return this.acquirers.filter((acquirer) => acquirer.supportsMode(mode)).map(({ name }) => name);
  }

  /** Names of the acquirers that capture separately, and report outcomes by themselves. */
  get separatelyCapturing(): readonly string[] {
    return this.acquirers.filter(({ capturesSeparately }) => capturesSeparately).map(({ name }) => name);
  }

  /** Names of the acquirers that announce settlement reports, instead of answering with the statement of a day. */
  get namesWithSettlementReports(): readonly string[] {
    return this.acquirers.filter((acquirer) => acquirer.readSettlementReport !== undefined).map(({ name }) => name);
  }

  private findByName(name: string): Acquirer | undefined {
    return this.acquirers.find((acquirer) => acquirer.name === name);
  }
}
