import { IsBaseUrl, ServiceConfig } from '@svc/service';
import { IsOptional, IsString, IsUrl, MaxLength, MinLength } from 'class-validator';

export class DemoShopConfig extends ServiceConfig {
  /** Address of the platform's hosted gateway, without a slash at the end. */
  @IsBaseUrl()
  SVC_GATEWAY_URL: string;

  /** Address of the gateway's payment pages for customers, if it differs from the address that this shop calls. */
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http', 'https'] })
  SVC_PAYMENT_PAGES_URL?: string;

  /** Address under which customers reach this shop, without a slash at the end. */
  @IsBaseUrl()
  SVC_SHOP_URL: string;

  /** Address to which the platform sends webhooks, if it differs from the address for customers. */
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http', 'https'] })
  SVC_SHOP_NOTIFICATIONS_URL?: string;

  /**
   * File with the merchant's keys (demo.json): the shop is the first site of the first merchant. The file is written after the
   * platform has been seeded, so the shop reads it on first use, and again after each change.
   */
  @IsString()
  @MinLength(1)
  @MaxLength(4096)
  SVC_SHOP_CREDENTIALS_FILE: string;
}
