import type { Mode } from '@svc/contracts';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { CredentialKind } from './partner-credential.js';

/** Table `partner_credentials`. */
@Entity({ name: 'partner_credentials' })
export class PartnerCredentialRow {
  @PrimaryColumn({ type: 'uuid', name: 'credential_id' })
  credentialId: string;

  @Column({ type: 'bigint', insert: false, update: false })
  ordinal: number;

  @Column({ type: 'text' })
  kind: CredentialKind;

  @Column({ type: 'text' })
  mode: Mode;

  @Column({ type: 'uuid', name: 'organisation_id' })
  organisationId: string;

  @Column({ type: 'text' })
  hash: string;

  @Column({ type: 'text' })
  prefix: string;

  @Column({ type: 'timestamptz', name: 'created_at' })
  createdAt: Date;

  @Column({ type: 'timestamptz', name: 'revoked_at', nullable: true })
  revokedAt: Date | null;

  @Column({ type: 'bigint' })
  version: number;
}
