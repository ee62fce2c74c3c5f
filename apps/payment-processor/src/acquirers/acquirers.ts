import { Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { Clock, TtlCache } from '@svc/kernel';
import { Acquirer, type MerchantAccount } from './acquirer.js';
import { type ConfiguredAccount, MerchantAccountRepository } from './merchant-account.repository.js';

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
  private readonly acquirers: readonly Acquirer[];
  private readonly configuredAccounts: TtlCache<{ readonly account: ConfiguredAccount | undefined }>;

  constructor(
    @Inject(Acquirer) acquirer: Acquirer,
    @Inject(MerchantAccountRepository) private readonly accounts: MerchantAccountRepository,
    @Inject(Clock) clock: Clock,
  ) {
    this.acquirers = [acquirer];
    this.configuredAccounts = new TtlCache(clock);
  }

  /** Undefined when no acquirer accepts new charges of this merchant and mode. */
  async find(merchantId: number, mode: Mode): Promise<ChargeRoute | undefined> {
    const cached = await this.configuredAccounts.find(`${merchantId} ${mode}`, async () => ({
      account: await this.accounts.find(merchantId, mode),
    }));
    if (cached?.account) {
      const { acquirer: name, accountReference } = cached.account;
      const acquirer = this.acquirers.find((candidate) => candidate.name === name);
      return acquirer?.supportsMode(mode) ? { acquirer: name, account: { mode, accountReference } } : undefined;
    }
    for (const acquirer of this.acquirers) {
      const accountReference = acquirer.getDefaultAccount(merchantId);
      if (acquirer.supportsMode(mode) && accountReference !== undefined)
        return { acquirer: acquirer.name, account: { mode, accountReference } };
    }
    return undefined;
  }

  /** The acquirer with the name that an attempt or refund stores. Throws when this release has no such acquirer. */
  get(name: string): Acquirer {
    const acquirer = this.acquirers.find((candidate) => candidate.name === name);
    if (!acquirer) throw new Error(`This release has no acquirer named ${name}.`);
    return acquirer;
  }

  get names(): readonly string[] {
    return this.acquirers.map(({ name }) => name);
  }
}
