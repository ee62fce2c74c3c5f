import { MailConfig } from '@svc/mail';
import { IsAdminKey, IsBaseUrl, IsLiveAcquirer, type LiveAcquirer } from '@svc/service';
import { IsInt, IsOptional, Matches, Max, Min } from 'class-validator';

export class HostedGatewayConfig extends MailConfig {
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
   * Keys of the challenges of payment pages: 32 bytes as base64url, or two such keys with a comma between them. New
   * challenges are signed with the first key, and challenges of both keys are accepted, during a rotation. The same for
   * all replicas. A secret.
   */
  @Matches(/^[A-Za-z0-9_-]{43}(,[A-Za-z0-9_-]{43})?$/, {
    message: '$property must be one or two keys of 32 bytes as base64url',
  })
  SVC_CHALLENGE_KEYS: string;

  /**
   * Numbers of a challenge at level 1, of which the browser tries half on average: with the default about a second on a
   * slow phone, and 0.2 s on a computer. The level of the attack and the declines from the payer's address raise them to
   * at most 4 times as many.
   */
  @IsOptional()
  @IsInt()
  @Min(10)
  @Max(100_000)
  SVC_CHALLENGE_NUMBERS: number = 2_000;

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
