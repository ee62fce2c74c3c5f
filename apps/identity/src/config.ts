import { MailConfig } from '@svc/mail';
import { IsAdminKey, IsBaseUrl } from '@svc/service';
import { Matches } from 'class-validator';

/** Environment variables of identity, in addition to the environment variables of every service. */
export class IdentityConfig extends MailConfig {
  /** The administration key: it gives access to the administration API of this service. A secret. */
  @IsAdminKey()
  SVC_ADMIN_KEY: string;

  /** The key that encrypts the stored private keys of identity tokens: 32 bytes as base64url. A secret. */
  @Matches(/^[A-Za-z0-9_-]{43}$/, { message: '$property must be 32 bytes as base64url' })
  SVC_SEALING_KEY: string;

  /** Public address of the console, for links in mails. Its host name is the one for which passkeys are created. */
  @IsBaseUrl()
  SVC_CONSOLE_URL: string;
}
