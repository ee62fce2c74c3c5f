import { IsBaseUrl, ServiceConfig } from '@svc/service';
import { IsOptional, IsString, IsUrl, MaxLength, MinLength } from 'class-validator';

export class DemoShopConfig extends ServiceConfig {
  /** Base URL of the platform's hosted gateway, without a trailing slash. */
  @IsBaseUrl()
  SVC_GATEWAY_URL: string;

  /** Base URL of the payment pages for customers, if it differs from the URL that this shop calls. */
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http', 'https'] })
  SVC_PAYMENT_PAGES_URL?: string;

  /** Base URL at which customers reach this shop, without a trailing slash. */
  @IsBaseUrl()
  SVC_SHOP_URL: string;

  /** Base URL to which the platform sends webhooks, if it differs from the URL for customers. */
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http', 'https'] })
  SVC_SHOP_NOTIFICATIONS_URL?: string;

  /**
   * File with the merchant's keys (demo.json). The shop uses the keys of the first site of the first merchant. The file
   * is created only after the platform was seeded with demo data, so the shop reads it on first use, and again after
   * each change.
   */
  @IsString()
  @MinLength(1)
  @MaxLength(4096)
  SVC_SHOP_CREDENTIALS_FILE: string;
}
