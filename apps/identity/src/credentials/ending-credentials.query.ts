import type { CredentialKind } from '@svc/contracts';
import type { EntityManager } from 'typeorm';

/** A replaced credential whose time has come. */
export interface EndingCredential {
  readonly kind: CredentialKind;
  readonly credentialId: string;
  readonly merchantId: number;
  /** Null for a key of a merchant. */
  readonly siteId: number | null;
}

/** The credentials that have to end by this time and have not ended, at most `max` of each kind. */
export function findEndingCredentials(db: EntityManager, until: Date, max: number): Promise<EndingCredential[]> {
  const select = (kind: CredentialKind, id: string, table: string): string =>
    `(SELECT '${kind}' AS kind, ${id} AS "credentialId", merchant_id AS "merchantId", site_id AS "siteId"
        FROM ${table} WHERE ends_at <= $1 AND ends_at IS NOT NULL AND revoked_at IS NULL ORDER BY ends_at LIMIT $2)`;
  return db.query(
    `${select('api-key', 'key_id', 'api_keys')} UNION ALL ${select('webhook-secret', 'secret_id', 'webhook_secrets')}`,
    [until, max],
  );
}
