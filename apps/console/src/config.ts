import { MailConfig } from '@svc/mail';
import { IsAdminKey, IsBaseUrl } from '@svc/service';

/** Environment variables of console. */
export class ConsoleConfig extends MailConfig {
  /** Key of this service's administration API. A secret. */
  @IsAdminKey()
  SVC_ADMIN_KEY: string;

  /** Address at which people open the console, without a trailing slash. */
  @IsBaseUrl()
  SVC_CONSOLE_URL: string;

  /**
   * Base URL of the codes (D5), without a trailing slash, for the links of payment requests. Must equal the value of
   * code-decoder.
   */
  @IsBaseUrl()
  SVC_CODES_URL: string;
}
