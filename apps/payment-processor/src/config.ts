import { IsAdminKey, IsBaseUrl, IsLiveAcquirer, type LiveAcquirer, ServiceConfig } from '@svc/service';
import { IsInt, IsOptional, IsUrl, Matches, Max, Min } from 'class-validator';

export class PaymentProcessorConfig extends ServiceConfig {
  /** Encryption key for the private keys that decrypt card data; 32 bytes as base64url. A secret. */
  @Matches(/^[A-Za-z0-9_-]{43}$/, { message: '$property must be 32 bytes as base64url' })
  SVC_SEALING_KEY: string;

  /** Key of this service's administration API. A secret. */
  @IsAdminKey()
  SVC_ADMIN_KEY: string;

  /** URL of the simulated acquirer, the only acquirer so far. */
  @IsUrl({ require_tld: false, protocols: ['http', 'https'] })
  SVC_ACQUIRER_URL: string;

  /** Acquirer of live payments. With `off`, cards and charges with a live key are rejected. */
  @IsLiveAcquirer()
  SVC_ACQUIRER_LIVE: LiveAcquirer = 'off';

  /**
   * URL of the main API, without a trailing slash. A bank redirects the payer to this URL if the partner has not set a
   * return page.
   */
  @IsBaseUrl()
  SVC_API_URL: string;

  /** URL prefix of this service's codes (D5), without a trailing slash; the same value as in code-decoder. */
  @IsBaseUrl()
  SVC_CODES_URL: string;

  /** Timeout of a charge at the acquirer, in milliseconds. After the timeout the outcome is unknown. */
  @IsOptional()
  @IsInt()
  @Min(100)
  @Max(9_000)
  SVC_ACQUIRER_TIMEOUT_MS: number = 8_000;

  /** Limit of concurrent calls to the acquirer. Further calls wait until their deadline at most. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1_000)
  SVC_ACQUIRER_CONCURRENCY: number = 100;

  /**
   * A reconciliation omits payments that became final within this time, in milliseconds, because another service may
   * not have received their events yet.
   */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(3_600_000)
  SVC_RECONCILIATION_GRACE_MS: number = 60_000;
}
