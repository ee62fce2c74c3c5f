import { IsErrorPagesUrl, TlsListenerConfig } from '@svc/service';
import { IsIn, IsInt, IsIP, IsOptional, IsString, Max, MaxLength, Min, MinLength } from 'class-validator';

/** What the process that runs all services is told; each service has a file of its own in SVC_ENV_DIR. */
export class AllInOneConfig extends TlsListenerConfig {
  /** Folder with one `<app>.env` for each service. */
  @IsString()
  @MinLength(1)
  @MaxLength(4096)
  SVC_ENV_DIR: string;

  /** Address to listen on; another than loopback shows the platform to the network. */
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

  /** Public address of the pages of errors, `{base_url}/errors`. Not set: answers name the path `/errors/<code>` (ADR 60). */
  @IsErrorPagesUrl()
  SVC_ERROR_PAGES_URL?: string;

  /** Given to every program alike; the services read their own. Always development: see main.ts. */
  @IsOptional()
  @IsIn(['development'])
  SVC_ENVIRONMENT: string = 'development';

  /** Of this process's own lines; each service has its own. */
  @IsOptional()
  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  SVC_LOG_LEVEL: string = 'info';
}
