import { IsAdminKey, ServiceConfig } from '@svc/service';
import { IsInt, IsOptional, Max, Min } from 'class-validator';

/** Environment variables of merchant-retrieval. */
export class MerchantRetrievalConfig extends ServiceConfig {
  /** Opens the administration API of this service. A secret. */
  @IsAdminKey()
  SVC_ADMIN_KEY: string;

  /** Number of calls per second that one key may make on each replica (M4). */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100_000)
  SVC_RETRIEVAL_CALLS_PER_SECOND: number = 5;

  /** Number of calls that a key may make in a burst after a pause (M4). */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100_000)
  SVC_RETRIEVAL_BURST: number = 20;

  /** Maximum number of open payment streams of one key on each replica (M6). */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100_000)
  SVC_STREAM_READERS_PER_KEY: number = 10;

  /**
   * Maximum number of open payment streams on each replica (M6). Each stream uses a connection and at most about 64 KiB
   * of memory.
   */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100_000)
  SVC_STREAM_READERS: number = 1_000;
}
