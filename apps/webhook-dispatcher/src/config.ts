import { IsAdminKey, ServiceConfig } from '@svc/service';
import { IsIn, IsInt, IsOptional, Matches, Max, Min } from 'class-validator';

/** What webhook-dispatcher is told by its environment. */
export class WebhookDispatcherConfig extends ServiceConfig {
  /**
   * Seals the private half of the key pair that signing secrets are sealed to: 32 bytes as base64url; a secret.
   * Another one than at the first start cannot open what is stored, and the start fails.
   */
  @Matches(/^[A-Za-z0-9_-]{43}$/, { message: '$property must be 32 bytes as base64url' })
  SVC_SEALING_KEY: string;

  /** Opens the administration API of this service. A secret. */
  @IsAdminKey()
  SVC_ADMIN_KEY: string;

  /** `off`: this process answers and consumes but sends nothing; another one on the same database does. */
  @IsOptional()
  @IsIn(['on', 'off'])
  SVC_DELIVERY: 'on' | 'off' = 'on';

  /** Notifications that this process sends at once, over all merchants. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1_000)
  SVC_DELIVERY_CONCURRENCY: number = 200;

  /** Of them for one merchant, however many endpoints it has (E6). */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1_000)
  SVC_DELIVERY_CONCURRENCY_PER_MERCHANT: number = 20;

  /** Of them to one endpoint (host and port) of one merchant, so that a slow one leaves room for the others (E6). */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1_000)
  SVC_DELIVERY_CONCURRENCY_PER_ENDPOINT: number = 10;

  /** How often the worker looks for what became due, in milliseconds. New notifications wake it at once. */
  @IsOptional()
  @IsInt()
  @Min(10)
  @Max(60_000)
  SVC_DELIVERY_POLL_MS: number = 200;

  /** Longest a connection may take to be made, name look-up and TLS included, in milliseconds (E1). */
  @IsOptional()
  @IsInt()
  @Min(50)
  @Max(3_000)
  SVC_DELIVERY_CONNECT_TIMEOUT_MS: number = 3_000;

  /** Longest one try may take from begin to end, in milliseconds (E1). */
  @IsOptional()
  @IsInt()
  @Min(100)
  @Max(10_000)
  SVC_DELIVERY_TIMEOUT_MS: number = 10_000;

  /** On shutdown, how long tries under way may still take before they are cut off and given back, in milliseconds. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(12_000)
  SVC_DELIVERY_DRAIN_MS: number = 5_000;
}
