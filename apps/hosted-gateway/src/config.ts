import { IsAdminKey, IsBaseUrl, IsLiveAcquirer, type LiveAcquirer, ServiceConfig } from '@svc/service';
import { IsInt, IsOptional, Max, Min } from 'class-validator';

export class HostedGatewayConfig extends ServiceConfig {
  /** Address under which payers and merchants reach this service, without a slash at the end. */
  @IsBaseUrl()
  SVC_GATEWAY_URL: string;

  /**
   * Address that our codes begin with (D5), without a slash at the end: `https://pay.svc.example` makes
   * `https://pay.svc.example/c/…`, which payers' phones open. The same as of code-decoder and payment-processor.
   */
  @IsBaseUrl()
  SVC_CODES_URL: string;

  /** Opens the administration API of this service. A secret. */
  @IsAdminKey()
  SVC_ADMIN_KEY: string;

  /** Which acquirer takes live payments, as payment-processor is configured; without one, a live session is refused. */
  @IsLiveAcquirer()
  SVC_ACQUIRER_LIVE: LiveAcquirer = 'off';

  /** Calls a minute from one address for a site that needs no API key (A8). */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100_000)
  SVC_KEYLESS_CALLS_PER_MINUTE: number = 300;

  /** Calls a minute about deliveries of one site in one mode, at each replica; each asks webhook-dispatcher. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100_000)
  SVC_DELIVERIES_CALLS_PER_MINUTE: number = 120;

  /** Presses of Pay a minute from one address; each costs an elliptic-curve operation before it is known to be real. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100_000)
  SVC_PAYMENTS_PER_MINUTE: number = 3_000;
}
