import type { Mode } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { type EntityManager, IsNull } from 'typeorm';
import type { CredentialKind, PartnerCredential } from './partner-credential.js';
import { PartnerCredentialRow } from './partner-credential.row.js';

/** Maximum number of credentials in a list. Older credentials are omitted. */
const MAX_LISTED = 100;

/** Throws `resource.not-found` if the credential does not exist or belongs to another organisation. */
export async function getPartnerCredential(
  tx: EntityManager,
  organisationId: string,
  kind: CredentialKind,
  credentialId: string,
): Promise<PartnerCredential> {
  const credential = await tx.findOneBy(PartnerCredentialRow, { organisationId, kind, credentialId });
  if (!credential) {
    const name = kind === 'api-key' ? 'key' : 'API token';
    throw new DomainError('resource.not-found', {
      message: `Organisation ${organisationId} has no ${name} ${credentialId}.`,
    });
  }
  return credential;
}

/** Returns at most 100 credentials, the newest first, including revoked credentials. */
export function listPartnerCredentials(
  tx: EntityManager,
  organisationId: string,
  kind: CredentialKind,
): Promise<PartnerCredential[]> {
  return tx.find(PartnerCredentialRow, {
    where: { organisationId, kind },
    order: { ordinal: 'DESC' },
    take: MAX_LISTED,
  });
}

export function countValidPartnerCredentials(
  tx: EntityManager,
  organisationId: string,
  kind: CredentialKind,
  mode: Mode,
): Promise<number> {
  return tx.countBy(PartnerCredentialRow, { organisationId, kind, mode, revokedAt: IsNull() });
}

export async function insertPartnerCredential(tx: EntityManager, credential: PartnerCredential): Promise<void> {
  await tx.insert(PartnerCredentialRow, credential);
}

/** Returns the revoked credential with its next version. */
export async function revokePartnerCredential(
  tx: EntityManager,
  credential: PartnerCredential,
  revokedAt: Date,
): Promise<PartnerCredential> {
  const { organisationId, credentialId } = credential;
  const change = { revokedAt, version: credential.version + 1 };
  await tx.update(PartnerCredentialRow, { organisationId, credentialId }, change);
  return { ...credential, ...change };
}
