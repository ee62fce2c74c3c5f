import { IsErrorPagesUrl, TlsListenerConfig } from '@svc/service';
import { IsIn, IsInt, IsIP, IsOptional, IsString, Max, MaxLength, Min, MinLength } from 'class-validator';

/** Configuration of the process that runs all services. Each service has a file of its own in SVC_ENV_DIR. */
export class AllInOneConfig extends TlsListenerConfig {
  /** Folder with one `<app>.env` for each service. */
  @IsString()
  @MinLength(1)
  @MaxLength(4096)
  SVC_ENV_DIR: string;

  /** Address to listen on. Any address but loopback exposes the platform to the network. */
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

  /** Public address of the error pages, `{base_url}/errors`. Without it, responses contain the path `/errors/<code>` (ADR 60). */
  @IsErrorPagesUrl()
  SVC_ERROR_PAGES_URL?: string;

  /** Accepted because every program gets this variable; the services read their own. Always development: see main.ts. */
  @IsOptional()
  @IsIn(['development'])
  SVC_ENVIRONMENT: string = 'development';

  /** For this process's own log lines; each service has its own level. */
  @IsOptional()
  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  SVC_LOG_LEVEL: string = 'info';
}
