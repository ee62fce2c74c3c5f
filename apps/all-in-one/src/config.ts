import { IsBaseUrl, IsErrorPagesUrl, TlsListenerConfig } from '@svc/service';
import { IsIn, IsInt, IsIP, IsOptional, IsString, Max, MaxLength, Min, MinLength } from 'class-validator';

/**
 * Configuration of the process that runs all services. Each service reads its own configuration from a file in
 * SVC_ENV_DIR.
 */
export class AllInOneConfig extends TlsListenerConfig {
  /** Folder with one `<app>.env` file for each service. */
  @IsString()
  @MinLength(1)
  @MaxLength(4096)
  SVC_ENV_DIR: string;

  /** IP address to listen on. Any address except loopback exposes the platform to the network. */
  @IsOptional()
  @IsIP()
  SVC_LISTEN_ADDRESS: string = '127.0.0.1';

  /** Port of the main API ({base_url}). */
  @IsInt()
  @Min(1)
  @Max(65535)
  SVC_API_PORT: number;

  /** Port of the hosted gateway ({gateway_url}). */
  @IsInt()
  @Min(1)
  @Max(65535)
  SVC_GATEWAY_PORT: number;

  /** Port of the demo shop. */
  @IsInt()
  @Min(1)
  @Max(65535)
  SVC_SHOP_PORT: number;

  /** Port of the administration API. */
  @IsInt()
  @Min(1)
  @Max(65535)
  SVC_ADMIN_PORT: number;

  /** Port of the console. */
  @IsInt()
  @Min(1)
  @Max(65535)
  SVC_CONSOLE_PORT: number;

  /**
   * Public URL of the error pages, `{base_url}/errors`. Without it, responses contain the path `/errors/<code>` (ADR
   * 60).
   */
  @IsErrorPagesUrl()
  SVC_ERROR_PAGES_URL?: string;

  /** Public base URL of the hosted gateway, without a trailing slash, for messages that name the right host. */
  @IsOptional()
  @IsBaseUrl()
  SVC_GATEWAY_URL?: string;

  /** `./svc` sets this variable for every program. This process accepts only `development`: see main.ts. */
  @IsOptional()
  @IsIn(['development'])
  SVC_ENVIRONMENT: string = 'development';

  /** Level of the log lines that this process itself writes. Each service configures its own level. */
  @IsOptional()
  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  SVC_LOG_LEVEL: string = 'info';
}
