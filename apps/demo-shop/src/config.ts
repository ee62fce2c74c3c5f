import { IsBaseUrl, ServiceConfig } from '@svc/service';
import { IsOptional, IsString, IsUrl, MaxLength, MinLength } from 'class-validator';

export class DemoShopConfig extends ServiceConfig {
  /** Address of the platform's hosted gateway, without a slash at the end. */
  @IsBaseUrl()
  SVC_GATEWAY_URL: string;

  /** Where the gateway's payment pages are, when customers reach them under another address than this shop calls. */
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http', 'https'] })
  SVC_PAYMENT_PAGES_URL?: string;

  /** Address under which customers reach this shop, without a slash at the end. */
  @IsBaseUrl()
  SVC_SHOP_URL: string;

  /** Where the platform sends its notifications, when that is another address than the customers'. */
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http', 'https'] })
  SVC_SHOP_NOTIFICATIONS_URL?: string;

  /**
   * File with the merchant's keys (demo.json): the shop is the first merchant's first site. It is written after the
   * platform has been seeded, so it is read when it is first needed, and again when it has changed.
   */
  @IsString()
  @MinLength(1)
  @MaxLength(4096)
  SVC_SHOP_CREDENTIALS_FILE: string;
}
