import { IsAdminKey, IsBaseUrl, IsLiveAcquirer, type LiveAcquirer, ServiceConfig } from '@svc/service';
import { IsInt, IsOptional, Max, Min } from 'class-validator';

export class HostedGatewayConfig extends ServiceConfig {
  /** Address under which payers and merchants reach this service, without a slash at the end. */
  @IsBaseUrl()
  SVC_GATEWAY_URL: string;

  /**
   * Base URL of our codes (D5), without a trailing slash: `https://pay.svc.example` gives
   * `https://pay.svc.example/c/…`, which payers' phones open. The same value as in code-decoder and payment-processor.
   */
  @IsBaseUrl()
  SVC_CODES_URL: string;

  /** API key of this service's administration API. A secret. */
  @IsAdminKey()
  SVC_ADMIN_KEY: string;

  /** The acquirer for live payments, the same as in payment-processor. If `off`, live sessions are rejected. */
  @IsLiveAcquirer()
  SVC_ACQUIRER_LIVE: LiveAcquirer = 'off';

  /** Limit of calls per minute from one address for a site that needs no API key (A8). */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100_000)
  SVC_KEYLESS_CALLS_PER_MINUTE: number = 300;

  /** Limit of calls per minute about the deliveries of one site in one mode, at each replica. Each call queries webhook-dispatcher. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100_000)
  SVC_DELIVERIES_CALLS_PER_MINUTE: number = 120;

  /** Limit of pay requests per minute from one address. Each costs an elliptic-curve operation before the card is validated. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100_000)
  SVC_PAYMENTS_PER_MINUTE: number = 3_000;
}
