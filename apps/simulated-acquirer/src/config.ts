import { IsLiveAcquirer, type LiveAcquirer, TlsListenerConfig } from '@svc/service';
import { IsIn, IsInt, IsIP, IsOptional, IsString, IsUrl, Max, MaxLength, Min, MinLength } from 'class-validator';

export class SimulatedAcquirerConfig extends TlsListenerConfig {
  /** File in which the bank keeps what it charged. */
  @IsString()
  @MinLength(1)
  @MaxLength(4096)
  SVC_ACQUIRER_STORE: string;

  /** Whether the bank takes charges and cards of live mode, too: for development, where a test needs both modes. */
  @IsLiveAcquirer()
  SVC_ACQUIRER_LIVE: LiveAcquirer = 'off';

  /** The bank charges at once and answers this much later, in milliseconds. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(60_000)
  SVC_ACQUIRER_LATENCY_MS: number = 0;

  /** Under which a payer's browser reaches the bank's page, without a slash at the end; where it listens unless told. */
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http', 'https'] })
  SVC_ACQUIRER_PUBLIC_URL?: string;

  /** Address to listen on; anybody who reaches it can make it charge, so another than loopback only behind a wall. */
  @IsOptional()
  @IsIP()
  SVC_LISTEN_ADDRESS: string = '127.0.0.1';

  /** 0 chooses a free one. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(65535)
  SVC_PORT: number = 0;

  /** Given to every program alike; the bank writes no log, its store is what it has to say. */
  @IsOptional()
  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  SVC_LOG_LEVEL: string = 'info';

  /** `production` takes no live charges, whatever SVC_ACQUIRER_LIVE says. */
  @IsOptional()
  @IsIn(['development', 'production'])
  SVC_ENVIRONMENT: string = 'development';
}
