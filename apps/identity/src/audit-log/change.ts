/** A change for the audit log. `before` and `after` contain enough to understand the change, never a secret. */
export interface Change {
  readonly action:
    | 'merchant.created'
    | 'merchant.renamed'
    | 'merchant.changed'
    | 'organisation.created'
    | 'organisation.renamed'
    | 'partner-key.created'
    | 'partner-key.revoked'
    | 'api-token.created'
    | 'api-token.revoked'
    | 'token-key.created'
    | 'token-key.withdrawn'
    | 'site.created'
    | 'site.changed'
    | 'api-key.created'
    | 'api-key.made-primary'
    | 'api-key.no-longer-primary'
    | 'api-key.revoked'
    | 'webhook-secret.created'
    | 'webhook-secret.revoked';
  /** For a change of a merchant. */
  readonly merchantId?: number;
  readonly siteId?: number | undefined;
  /** UUID. For a change of a partner. */
  readonly organisationId?: string;
  /** keyId, tokenId, secretId or kid. */
  readonly credentialId?: string | undefined;
  readonly before?: object;
  readonly after?: object;
}
