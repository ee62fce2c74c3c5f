import type { CredentialEntry } from '@svc/contracts';

/** Whether no other credential of the kind stays valid when this one ends. A replaced one does not stay valid. */
export function isLastCredential(
  { kind, credentialId }: Pick<CredentialEntry, 'kind' | 'credentialId'>,
  credentials: readonly CredentialEntry[],
): boolean {
  return !credentials.some(
    (other) =>
      other.kind === kind &&
      other.credentialId !== credentialId &&
      other.endsUTCDate === undefined &&
      other.revokedUTCDate === undefined,
  );
}
