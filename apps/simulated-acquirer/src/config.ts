import { IsLiveAcquirer, type LiveAcquirer } from '@svc/service';
import { IsIn, IsInt, IsIP, IsOptional, IsString, IsUrl, Max, MaxLength, Min, MinLength } from 'class-validator';
import { AdyenEmulatorConfig } from './adyen/config.js';
import { DEFAULT_API_KEY } from './code-provider/simulated-code-provider.js';

export class SimulatedAcquirerConfig extends AdyenEmulatorConfig {
  /** File in which the bank stores charges, refunds and cards. */
  @IsString()
  @MinLength(1)
  @MaxLength(4096)
  SVC_ACQUIRER_STORE: string;

  /** Whether the bank also accepts charges and cards of live mode. Only for development, if a test needs both modes. */
  @IsLiveAcquirer()
  SVC_ACQUIRER_LIVE: LiveAcquirer = 'off';

  /** The bank charges immediately, and responds after this delay in milliseconds. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(60_000)
  SVC_ACQUIRER_LATENCY_MS: number = 0;

  /** URL of the bank for the payer's browser, without a slash at the end. Default: the URL where the bank listens. */
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http', 'https'] })
  SVC_ACQUIRER_PUBLIC_URL?: string;

  /**
   * Address to listen on. Every client that reaches it can create charges: bind to a non-loopback address only behind a
   * firewall.
   */
  @IsOptional()
  @IsIP()
  SVC_LISTEN_ADDRESS: string = '127.0.0.1';

  /** Port to listen on; 0 chooses a free port. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(65535)
  SVC_PORT: number = 0;

  /**
   * Not used: the bank writes no log, its store shows what happened. Accepted because every program gets this variable.
   */
  @IsOptional()
  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  SVC_LOG_LEVEL: string = 'info';

  /** `production` refuses live charges, regardless of SVC_ACQUIRER_LIVE. */
  @IsOptional()
  @IsIn(['development', 'production'])
  SVC_ENVIRONMENT: string = 'development';

  /** File that moves the clock while `./svc up` creates demo data of the last days. Refused in production. */
  @IsOptional()
  @IsString()
  @MinLength(1)
  @MaxLength(4096)
  SVC_DEMO_CLOCK_FILE?: string;

  /** Key that callers of the simulated code provider send. */
  @IsOptional()
  @IsString()
  @MinLength(1)
  @MaxLength(500)
  SVC_CODE_PROVIDER_KEY: string = DEFAULT_API_KEY;
}
