import type { Mode } from '@svc/contracts';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** Table `sites`. */
@Entity({ name: 'sites' })
export class SiteRow {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', name: 'site_id', generatedIdentity: 'ALWAYS' })
  siteId: number;

  @Column({ type: 'bigint', name: 'merchant_id' })
  merchantId: number;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text', name: 'site_reference' })
  siteReference: string;

  @Column({ type: 'boolean', name: 'require_api_key' })
  requireApiKey: boolean;

  @Column({ type: 'jsonb', name: 'allowed_hosts' })
  allowedHosts: string[];

  @Column({ type: 'text', name: 'keyless_mode' })
  keylessMode: Mode;

  @Column({ type: 'timestamptz', name: 'created_at' })
  createdAt: Date;

  @Column({ type: 'bigint' })
  version: number;

  @Column({ type: 'text', name: 'webhook_url', nullable: true })
  webhookUrl: string | null;

  @Column({ type: 'boolean', name: 'webhook_enabled' })
  webhookEnabled: boolean;

  @Column({ type: 'boolean', name: 'challenge_payers' })
  challengePayers: boolean;
}
