import { Inject, Injectable } from '@nestjs/common';
import { AuditTrail, type ChangeAuthor } from '@svc/auth';
import type { Mode } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { inTransaction, isUniqueViolation } from '@svc/persistence';
import { DataSource } from 'typeorm';
import {
  type ConfiguredAccount,
  MerchantAccountRepository,
  type MerchantAccountView,
} from './merchant-account.repository.js';

/** Sets the account of a merchant and mode. The account receives the merchant's money, so the audit log shows it. */
@Injectable()
export class SetMerchantAccount {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(MerchantAccountRepository) private readonly accounts: MerchantAccountRepository,
    @Inject(AuditTrail) private readonly audit: AuditTrail,
  ) {}

  /** Throws `resource.conflict` if another administrator set the account at the same time. */
  async execute(
    author: ChangeAuthor,
    merchantId: number,
    mode: Mode,
    account: ConfiguredAccount,
  ): Promise<MerchantAccountView> {
    try {
      return await inTransaction(this.dataSource, async (tx) => {
        const before = await this.accounts.find(merchantId, mode, tx);
        const view = await this.accounts.set(tx, merchantId, mode, account, author.actor);
        await this.audit.append(tx, author, {
          action: 'merchant-account.set',
          merchantId,
          ...(before ? { before: { mode, ...before } } : {}),
          after: { mode, ...account },
        });
        return view;
      });
    } catch (error) {
      if (isUniqueViolation(error, 'merchant_accounts_pkey')) throw new DomainError('resource.conflict');
      throw error;
    }
  }
}
