import type { HostedApiVersion, Mode } from '@svc/contracts';
import type { DataSource } from 'typeorm';

export interface SigningKeysOwner {
  readonly merchantId: number;
  readonly siteId: number;
  readonly mode: Mode;
  /**
   * The API version of the session decides which API key signs. Null for the webhook of a site (M6), because it needs
   * no API key.
   */
  readonly apiVersion: HostedApiVersion | null;
}

/** An API key signs the body (E3), a webhook secret signs the headers (E4). */
export type SigningPurpose = 'api-key' | 'webhook-secret';

/** `sealed` is a compact JWE (RFC 7516) for the sealing key of this service. */
export interface EncryptedSecret {
  readonly secretId: string;
  readonly purpose: SigningPurpose;
  readonly sealed: string;
}

/** Finds the secrets of this owner that are not revoked, primary secrets first. */
export function findSigningSecrets(
  db: Pick<DataSource, 'query'>,
  { merchantId, siteId, mode, apiVersion }: SigningKeysOwner,
): Promise<EncryptedSecret[]> {
  return db.query<EncryptedSecret[]>(
    `SELECT secret_id AS "secretId", purpose, sealed FROM signing_secrets
        WHERE merchant_id = $1 AND mode = $2 AND NOT revoked
          AND ((purpose = 'webhook-secret' AND site_id = $3)
            OR (purpose = 'api-key' AND is_primary AND site_id IS NOT DISTINCT FROM $4))
        ORDER BY is_primary DESC, version DESC, secret_id`,
    // A notification of API version v3.1 is signed with the API key of the site. A notification of v3 is signed with
    // the API key of the merchant (H5, E3).
    [merchantId, mode, siteId, apiVersion === 'v3.1' ? siteId : null],
  );
}
