import type { Mode } from '@svc/contracts';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Table `api_keys`. */
@Entity({ name: 'api_keys' })
export class ApiKeyRow {
  @PrimaryColumn({ type: 'uuid', name: 'key_id' })
  keyId: string;

  @Column({ type: 'bigint', insert: false, update: false })
  ordinal: number;

  @Column({ type: 'text' })
  kind: 'merchant' | 'site';

  @Column({ type: 'text' })
  mode: Mode;

  @Column({ type: 'bigint', name: 'merchant_id' })
  merchantId: number;

  @Column({ type: 'bigint', name: 'site_id', nullable: true })
  siteId: number | null;

  @Column({ type: 'text' })
  hash: string;

  @Column({ type: 'text' })
  prefix: string;

  @Column({ type: 'text' })
  sealed: string;

  @Column({ type: 'boolean', name: 'is_primary' })
  isPrimary: boolean;

  @Column({ type: 'timestamptz', name: 'created_at' })
  createdAt: Date;

  @Column({ type: 'timestamptz', name: 'ends_at', nullable: true })
  endsAt: Date | null;

  @Column({ type: 'timestamptz', name: 'revoked_at', nullable: true })
  revokedAt: Date | null;

  @Column({ type: 'bigint' })
  version: number;
}
