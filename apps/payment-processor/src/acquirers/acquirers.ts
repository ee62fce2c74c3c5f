import { Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { Clock, TtlCache } from '@svc/kernel';
import { Acquirer, type MerchantAccount } from './acquirer.js';
import { type ConfiguredAccount, MerchantAccountRepository } from './merchant-account.repository.js';

/** Route of a merchant's charges in one mode: the acquirer, and the merchant's account there. */
export interface AcquirerRoute {
  readonly acquirer: Acquirer;
  readonly account: MerchantAccount;
}

/**
 * Chooses the acquirer of a charge by merchant and mode: the account that an administrator has configured, or the default
 * account of an acquirer that opens accounts by itself. A change takes effect within a second. An existing charge keeps
 * its acquirer and account: the attempt records both.
 */
@Injectable()
export class Acquirers {
  private readonly all: readonly Acquirer[];
  private readonly configured: TtlCache<{ readonly account: ConfiguredAccount | undefined }>;

  constructor(
    @Inject(Acquirer) acquirer: Acquirer,
    @Inject(MerchantAccountRepository) private readonly accounts: MerchantAccountRepository,
    @Inject(Clock) clock: Clock,
  ) {
    this.all = [acquirer];
    this.configured = new TtlCache(clock);
  }

  /** Undefined when no acquirer accepts new charges of this merchant and mode. */
  async find(merchantId: number, mode: Mode): Promise<AcquirerRoute | undefined> {
    const known = await this.configured.find(`${merchantId} ${mode}`, async () => ({
      account: await this.accounts.find(merchantId, mode),
    }));
    if (known?.account) {
      const { acquirer: name, accountReference } = known.account;
      const acquirer = this.all.find((each) => each.name === name);
      return acquirer?.serves(mode) ? { acquirer, account: { mode, accountReference } } : undefined;
    }
    for (const acquirer of this.all) {
      const accountReference = acquirer.defaultAccountOf(merchantId);
      if (acquirer.serves(mode) && accountReference !== undefined)
        return { acquirer, account: { mode, accountReference } };
    }
    return undefined;
  }

  /** The acquirer named in a row. Throws for a name that this release does not know. */
  get(name: string): Acquirer {
    const acquirer = this.all.find((each) => each.name === name);
    if (!acquirer) throw new Error(`This release has no acquirer named ${name}.`);
    return acquirer;
  }

  get names(): readonly string[] {
    return this.all.map(({ name }) => name);
  }
}
