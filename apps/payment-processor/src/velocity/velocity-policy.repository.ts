import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { MerchantSettingRepository, type MerchantSettingVersion } from '../merchants/merchant-setting.repository.js';
import type { VelocityLimits } from './velocity-limits.js';

/** The setting of an administrator for a merchant and mode. Limits that are absent have their default. */
export interface ConfiguredPolicy {
  readonly enabled: boolean;
  readonly limits: Partial<VelocityLimits>;
}

/** A version of a merchant's setting, as the administration API shows it. */
export interface VelocityPolicyView extends MerchantSettingVersion, ConfiguredPolicy {}

/** Limits of merchants against card testing. */
@Injectable()
export class VelocityPolicyRepository extends MerchantSettingRepository<ConfiguredPolicy> {
  constructor(@Inject(DataSource) dataSource: DataSource, @Inject(Clock) clock: Clock) {
    super(dataSource, clock, { table: 'velocity_policies', columns: { enabled: 'enabled', limits: 'limits' } });
  }
}
