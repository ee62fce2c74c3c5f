import type { Mode } from '@svc/contracts';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Table `webhook_secrets`. */
@Entity({ name: 'webhook_secrets' })
export class WebhookSecretRow {
  @PrimaryColumn({ type: 'uuid', name: 'secret_id' })
  secretId: string;

  @Column({ type: 'bigint', insert: false, update: false })
  ordinal: number;

  @Column({ type: 'text' })
  mode: Mode;

  @Column({ type: 'bigint', name: 'merchant_id' })
  merchantId: number;

  @Column({ type: 'bigint', name: 'site_id' })
  siteId: number;

  @Column({ type: 'text' })
  sealed: string;

  @Column({ type: 'timestamptz', name: 'created_at' })
  createdAt: Date;

  @Column({ type: 'timestamptz', name: 'ends_at', nullable: true })
  endsAt: Date | null;

  @Column({ type: 'timestamptz', name: 'revoked_at', nullable: true })
  revokedAt: Date | null;

  @Column({ type: 'bigint' })
  version: number;
}
