import { IsAdminKey, IsBaseUrl, IsLiveAcquirer, type LiveAcquirer, ServiceConfig } from '@svc/service';
import { IsInt, IsOptional, IsUrl, Matches, Max, Min } from 'class-validator';

export class PaymentProcessorConfig extends ServiceConfig {
  /** 32 bytes as base64url; seals the private keys that open card data. A secret. */
  @Matches(/^[A-Za-z0-9_-]{43}$/, { message: '$property must be 32 bytes as base64url' })
  SVC_SEALING_KEY: string;

  /** Opens the administration API of this service. A secret. */
  @IsAdminKey()
  SVC_ADMIN_KEY: string;

  /** Address of the simulated acquirer, the only one there is so far. */
  @IsUrl({ require_tld: false, protocols: ['http', 'https'] })
  SVC_ACQUIRER_URL: string;

  /** Which acquirer takes live payments; without one, cards and charges of live keys are refused. */
  @IsLiveAcquirer()
  SVC_ACQUIRER_LIVE: LiveAcquirer = 'off';

  /** Address of the main API, without a slash at the end: where a bank leads a payer back to unless a partner names a page. */
  @IsBaseUrl()
  SVC_API_URL: string;

  /** Address that our codes begin with (D5), without a slash at the end; the same as code-decoder's. */
  @IsBaseUrl()
  SVC_CODES_URL: string;

  /** Longest wait for an answer of the acquirer, in milliseconds; after it the outcome is unknown. */
  @IsOptional()
  @IsInt()
  @Min(100)
  @Max(9_000)
  SVC_ACQUIRER_TIMEOUT_MS: number = 8_000;

  /** Most calls to the acquirer at once; what comes beyond waits, within its deadline. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1_000)
  SVC_ACQUIRER_CONCURRENCY: number = 100;

  /**
   * A reconciliation leaves out what became final less than this ago, in milliseconds: its event may be on its way to another
   * service.
   */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(3_600_000)
  SVC_RECONCILIATION_GRACE_MS: number = 60_000;
}
