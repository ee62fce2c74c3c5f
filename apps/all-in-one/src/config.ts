import { IsInt, IsOptional, IsString, Max, Min, MinLength } from 'class-validator';

/** What the process that runs all services is told; each service has a file of its own in SVC_ENV_DIR. */
export class AllInOneConfig {
  /** Folder with one `<app>.env` for each service. */
  @IsString()
  @MinLength(1)
  SVC_ENV_DIR: string;

  /** Address to listen on; another than loopback shows the platform to the network. */
  @IsOptional()
  @IsString()
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

  @IsOptional()
  @IsString()
  SVC_ENVIRONMENT: string = 'development';

  @IsOptional()
  @IsString()
  SVC_LOG_LEVEL: string = 'info';
}
