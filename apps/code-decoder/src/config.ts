import { IsAdminKey, IsBaseUrl, ServiceConfig } from '@svc/service';
import { IsInt, IsOptional, Matches, Max, Min } from 'class-validator';
import { IsProviderList } from './providers/provider-settings.js';

export class CodeDecoderConfig extends ServiceConfig {
  /**
   * Base URL of the codes that this service issues (D5), without a trailing slash. With `https://pay.svc.example` a
   * code is `https://pay.svc.example/c/…`. Do not change it, because printed codes contain the old address.
   */
  @IsBaseUrl()
  SVC_CODES_URL: string;

  /** API key of this service's administration API. A secret. */
  @IsAdminKey()
  SVC_ADMIN_KEY: string;

  /** Time from the creation of an invoice until it expires, in seconds (D6). */
  @IsOptional()
  @IsInt()
  @Min(60)
  @Max(2_592_000)
  SVC_INVOICE_LIFETIME_SECONDS: number = 3_600;

  /** Fragments of the service's own short links (D2), separated by commas. In a code, digits precede the fragment. */
  @IsOptional()
  @Matches(/^[^\s,]{2,100}(,[^\s,]{2,100}){0,19}$/, {
    message: '$property must be 1 to 20 fragments separated by commas',
  })
  SVC_CODE_SHORT_FRAGMENTS?: string;

  /**
   * Third-party providers of codes (D4): a JSON list of ProviderSettings (providers/provider-settings.ts). The list is
   * secret, because it contains credentials.
   */
  @IsOptional()
  @IsProviderList()
  SVC_CODE_PROVIDERS: string = '[]';
}
