import type { MerchantFeatures, MerchantFees, MerchantGrant, TimeZonePeriod } from '@svc/contracts';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** Table `merchants`. */
@Entity({ name: 'merchants' })
export class MerchantRow {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', name: 'merchant_id', generatedIdentity: 'ALWAYS' })
  merchantId: number;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'timestamptz', name: 'created_at' })
  createdAt: Date;

  @Column({ type: 'jsonb' })
  features: MerchantFeatures;

  @Column({ type: 'bigint', name: 'minimum_amount' })
  minimumAmount: number;

  @Column({ type: 'bigint', name: 'maximum_amount', nullable: true })
  maximumAmount: number | null;

  @Column({ type: 'jsonb' })
  grants: MerchantGrant[];

  @Column({ type: 'jsonb' })
  fees: MerchantFees;

  @Column({ type: 'jsonb', name: 'time_zones' })
  timeZones: TimeZonePeriod[];

  @Column({ type: 'bigint' })
  version: number;
}
