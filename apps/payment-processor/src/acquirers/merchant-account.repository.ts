import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { MerchantSettingRepository, type MerchantSettingVersion } from '../merchants/merchant-setting.repository.js';

/** The acquirer of a merchant in one mode, and the merchant's account there. */
export interface ConfiguredAccount {
  /** Name of the acquirer. */
  readonly acquirer: string;
  /** 1 to 100 characters. */
  readonly accountReference: string;
}

/** A version of a merchant's account setting, as the administration API shows it. */
export interface MerchantAccountView extends MerchantSettingVersion, ConfiguredAccount {}

/** Accounts of merchants at acquirers. */
@Injectable()
export class MerchantAccountRepository extends MerchantSettingRepository<ConfiguredAccount> {
  constructor(@Inject(DataSource) dataSource: DataSource, @Inject(Clock) clock: Clock) {
    super(dataSource, clock, {
      table: 'merchant_accounts',
      columns: { acquirer: 'acquirer', accountReference: 'account' },
    });
  }
}
