import { IsAdminKey, ServiceConfig } from '@svc/service';
import { IsIn, IsInt, IsOptional, Matches, Max, Min } from 'class-validator';

/** Environment variables of webhook-dispatcher. */
export class WebhookDispatcherConfig extends ServiceConfig {
  /**
   * Encrypts the private key of this service. The private key decrypts the signing secrets. This value is a secret: 32
   * bytes as base64url. It must never change, because with another value the service cannot decrypt the stored private
   * key and does not start.
   */
  @Matches(/^[A-Za-z0-9_-]{43}$/, { message: '$property must be 32 bytes as base64url' })
  SVC_SEALING_KEY: string;

  /** Opens the administration API of this service. A secret. */
  @IsAdminKey()
  SVC_ADMIN_KEY: string;

  /**
   * `off`: this process serves requests and consumes events, but another process on the same database sends the
   * notifications.
   */
  @IsOptional()
  @IsIn(['on', 'off'])
  SVC_DELIVERY: 'on' | 'off' = 'on';

  /** Maximum number of notifications that this process sends at the same time, to all merchants together. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1_000)
  SVC_DELIVERY_CONCURRENCY: number = 200;

  /** Maximum number of notifications that this process sends at the same time to all endpoints of one merchant (E6). */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1_000)
  SVC_DELIVERY_CONCURRENCY_PER_MERCHANT: number = 20;

  /**
   * Maximum number of notifications that this process sends at the same time to one endpoint (host and port) of a
   * merchant (E6).
   */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1_000)
  SVC_DELIVERY_CONCURRENCY_PER_ENDPOINT: number = 10;

  /** How often the worker looks for due notifications, in milliseconds. New notifications wake it immediately. */
  @IsOptional()
  @IsInt()
  @Min(10)
  @Max(60_000)
  SVC_DELIVERY_POLL_MS: number = 200;

  /** Timeout for opening a connection, including DNS lookup and TLS, in milliseconds (E1). */
  @IsOptional()
  @IsInt()
  @Min(50)
  @Max(3_000)
  SVC_DELIVERY_CONNECT_TIMEOUT_MS: number = 3_000;

  /** Timeout of a whole attempt, in milliseconds (E1). */
  @IsOptional()
  @IsInt()
  @Min(100)
  @Max(10_000)
  SVC_DELIVERY_TIMEOUT_MS: number = 10_000;

  /**
   * On shutdown, attempts in flight may take this long, in milliseconds. After this time the service aborts them and
   * releases their leases.
   */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(12_000)
  SVC_DELIVERY_DRAIN_MS: number = 5_000;
}
