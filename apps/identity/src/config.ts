import { MailConfig } from '@svc/mail';
import { IsAdminKey, IsBaseUrl } from '@svc/service';
import { IsISO8601, IsOptional, Matches } from 'class-validator';

/** Environment variables of identity, in addition to the environment variables of every service. */
export class IdentityConfig extends MailConfig {
  /**
   * The shared administration key: it gives access to the administration API until the first key of a person with the role
   * operator is created. A secret.
   */
  @IsAdminKey()
  SVC_ADMIN_KEY: string;

  /**
   * ISO 8601 UTC, such as `2026-03-01T12:00:00Z`. From 24 hours before this time until then, this service accepts the shared
   * administration key again. Only for the case that all operators or their keys are lost
   * ([recovery](../docs/operations.md#all-operators-are-lost)).
   */
  @IsOptional()
  @Matches(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/, { message: '$property must be a time as 2026-03-01T12:00:00Z' })
  @IsISO8601({ strict: true })
  SVC_ADMIN_KEY_RECOVERY_UNTIL?: string;

  /** The key that encrypts the stored private keys of identity tokens: 32 bytes as base64url. A secret. */
  @Matches(/^[A-Za-z0-9_-]{43}$/, { message: '$property must be 32 bytes as base64url' })
  SVC_SEALING_KEY: string;

  /** Public address of the console, for links in mails. Its host name is the one for which passkeys are created. */
  @IsBaseUrl()
  SVC_CONSOLE_URL: string;
}
