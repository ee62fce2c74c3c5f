/** The actions of administrators and of people of merchants in identity, for the audit log. */
type IdentityAction =
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
  | 'api-key.end-scheduled'
  | 'webhook-secret.created'
  | 'webhook-secret.revoked'
  | 'webhook-secret.end-scheduled'
  | 'invitation.created'
  | 'invitation.withdrawn'
  | 'invitation.accepted'
  | 'operator-invitation.created'
  | 'operator-invitation.withdrawn'
  | 'operator-invitation.accepted'
  | 'operator.role-changed'
  | 'operator.removed'
  | 'operator-key.created'
  | 'operator-key.revoked'
  | 'person.role-changed'
  | 'person.removed'
  | 'person.sign-in-link-created'
  | 'person.sessions-ended'
  | 'person.second-factor-added'
  | 'person.second-factor-removed'
  | 'person.second-factors-reset';

/**
 * A change for the audit log. `before` and `after` contain the changed values, never a secret. The actions of other
 * services are named by these services.
 */
export interface Change<Action extends string = IdentityAction> {
  readonly action: Action;
  /** The merchant that was changed, or whose site or credential was changed. */
  readonly merchantId?: number;
  readonly siteId?: number | undefined;
  /**
   * UUID of the organisation (partner) that was changed, or whose credential was changed.
   * @schema uuid
   */
  readonly organisationId?: string;
  /** keyId, tokenId, secretId, kid or passkeyId of the changed credential. */
  readonly credentialId?: string | undefined;
  readonly before?: object;
  readonly after?: object;
}
