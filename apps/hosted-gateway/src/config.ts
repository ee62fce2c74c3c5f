import { IsAdminKey, IsBaseUrl, IsLiveAcquirer, type LiveAcquirer, ServiceConfig } from '@svc/service';
import { IsInt, IsOptional, Max, Min } from 'class-validator';

export class HostedGatewayConfig extends ServiceConfig {
  /** Base URL at which payers and merchants reach this service, without a trailing slash. */
  @IsBaseUrl()
  SVC_GATEWAY_URL: string;

  /**
   * Base URL of the codes (D5), without a trailing slash. With `https://pay.svc.example`, payers' phones open
   * `https://pay.svc.example/c/…`. Must equal the value of code-decoder and payment-processor.
   */
  @IsBaseUrl()
  SVC_CODES_URL: string;

  /** API key of this service's administration API. A secret. */
  @IsAdminKey()
  SVC_ADMIN_KEY: string;

  /**
   * The acquirer for live payments. Must equal the value of payment-processor. If `off`, the API rejects live sessions.
   */
  @IsLiveAcquirer()
  SVC_ACQUIRER_LIVE: LiveAcquirer = 'off';

  /** Limit of calls per minute from one IP address to sites that need no API key (A8). */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100_000)
  SVC_KEYLESS_CALLS_PER_MINUTE: number = 300;

  /**
   * Limit of calls per minute to the deliveries API, for one site in one mode, at each replica. Each call sends a
   * command to webhook-dispatcher.
   */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100_000)
  SVC_DELIVERIES_CALLS_PER_MINUTE: number = 120;

  /**
   * Limit of pay requests per minute from one IP address. Each request needs an elliptic-curve operation before the
   * card can be validated.
   */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100_000)
  SVC_PAYMENTS_PER_MINUTE: number = 3_000;
}
