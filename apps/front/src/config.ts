import { IsBaseUrl, IsErrorPagesUrl, TlsListenerConfig } from '@svc/service';
import { IsIn, IsInt, IsIP, IsOptional, IsUrl, Max, Min } from 'class-validator';

const UPSTREAM_URL = { protocols: ['http'], require_tld: false, require_protocol: true };

/**
 * Configuration of the front (the reverse proxy). The variable of an upstream is `SVC_UPSTREAM_` and the app's folder
 * name in capitals.
 */
export class FrontConfig extends TlsListenerConfig {
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

  /** Port of the console. */
  @IsInt()
  @Min(1)
  @Max(65535)
  SVC_CONSOLE_PORT: number;

  /** Address of identity: `http://host:port`. Plain HTTP, because the front and the apps share a machine or a network. */
  @IsUrl(UPSTREAM_URL)
  SVC_UPSTREAM_IDENTITY: string;

  @IsUrl(UPSTREAM_URL)
  SVC_UPSTREAM_PAYMENT_PROCESSOR: string;

  @IsUrl(UPSTREAM_URL)
  SVC_UPSTREAM_HOSTED_GATEWAY: string;

  @IsUrl(UPSTREAM_URL)
  SVC_UPSTREAM_WEBHOOK_DISPATCHER: string;

  @IsUrl(UPSTREAM_URL)
  SVC_UPSTREAM_DEMO_SHOP: string;

  @IsUrl(UPSTREAM_URL)
  SVC_UPSTREAM_CODE_DECODER: string;

  @IsUrl(UPSTREAM_URL)
  SVC_UPSTREAM_PAYMENT_HISTORY: string;

  @IsUrl(UPSTREAM_URL)
  SVC_UPSTREAM_MERCHANT_RETRIEVAL: string;

  @IsUrl(UPSTREAM_URL)
  SVC_UPSTREAM_CONSOLE: string;

  /** Public address of the error pages, `{base_url}/errors`. Without it, responses contain the path `/errors/<code>` (ADR 60). */
  @IsErrorPagesUrl()
  SVC_ERROR_PAGES_URL?: string;

  /** Public base URL of the hosted gateway, without a trailing slash, for messages that name the right host. */
  @IsOptional()
  @IsBaseUrl()
  SVC_GATEWAY_URL?: string;

  @IsOptional()
  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  SVC_LOG_LEVEL: string = 'info';

  @IsOptional()
  @IsIn(['development', 'production'])
  SVC_ENVIRONMENT: string = 'development';
}

/** The origin of each app, by the app's folder name. */
export function readUpstreams(config: FrontConfig): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(config)
      .filter((entry): entry is [string, string] => entry[0].startsWith('SVC_UPSTREAM_'))
      .map(([name, url]) => [
        name.slice('SVC_UPSTREAM_'.length).toLowerCase().replaceAll('_', '-'),
        new URL(url).origin,
      ]),
  );
}
