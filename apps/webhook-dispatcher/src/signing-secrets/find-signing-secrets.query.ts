import type { HostedApiVersion, Mode } from '@svc/contracts';
import type { DataSource } from 'typeorm';

export interface SigningKeysOwner {
  readonly merchantId: number;
  readonly siteId: number;
  readonly mode: Mode;
  /** Of the session; null for the webhook of a site (M6), which is signed with webhook secrets only. */
  readonly apiVersion: HostedApiVersion | null;
}

/** The two kinds of keys: of E3 and of E4. */
export type SigningPurpose = 'api-key' | 'webhook-secret';

export interface EncryptedSecret {
  readonly secretId: string;
  readonly purpose: SigningPurpose;
  readonly sealed: string;
}

/** The secrets of this owner that are not revoked, primary ones first. */
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
    // H5, E3: v3.1 is signed with the site's key, v3 with the merchant's.
    [merchantId, mode, siteId, apiVersion === 'v3.1' ? siteId : null],
  );
}
