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
}
