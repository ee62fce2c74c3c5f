import { IsAdminKey, ServiceConfig } from '@svc/service';
import { IsInt, IsOptional, Max, Min } from 'class-validator';

/** Environment variables of merchant-retrieval. */
export class MerchantRetrievalConfig extends ServiceConfig {
  /** Opens the administration API of this service. A secret. */
  @IsAdminKey()
  SVC_ADMIN_KEY: string;

  /** Calls that one key may make for each second, on each replica (M4). */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100_000)
  SVC_RETRIEVAL_CALLS_PER_SECOND: number = 5;

  /** Calls that a key may make at once after a pause (M4). */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100_000)
  SVC_RETRIEVAL_BURST: number = 20;

  /** Streams of payments that one key may have open at once, on each replica (M6). */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100_000)
  SVC_STREAM_READERS_PER_KEY: number = 10;

  /** Streams of payments that one replica holds at once (M6); each costs a connection and at most some 64 KiB. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100_000)
  SVC_STREAM_READERS: number = 1_000;
}
