import { IsAdminKey, IsBaseUrl, ServiceConfig } from '@svc/service';
import { IsIn, IsInt, IsOptional, Matches, Max, Min } from 'class-validator';
import { IsProviderList } from './providers/provider-settings.js';

/** What code-decoder is told by its environment. */
export class CodeDecoderConfig extends ServiceConfig {
  /**
   * Address that our codes begin with (D5), without a slash at the end: `https://pay.svc.example` makes
   * `https://pay.svc.example/c/…`. Codes that were printed keep the address they were made with, so it does not change.
   */
  @IsBaseUrl()
  SVC_CODES_URL: string;

  /** Opens the administration API of this service. A secret. */
  @IsAdminKey()
  SVC_ADMIN_KEY: string;

  /** How long an invoice can be paid, in seconds, from when it was made (D6). */
  @IsOptional()
  @IsInt()
  @Min(60)
  @Max(2_592_000)
  SVC_INVOICE_LIFETIME_SECONDS: number = 3_600;

  /** Fragments of the service's own short links (D2), separated by commas; digits stand right before them in a code. */
  @IsOptional()
  @Matches(/^[^\s,]{2,100}(,[^\s,]{2,100}){0,19}$/, {
    message: '$property must be 1 to 20 fragments separated by commas',
  })
  SVC_CODE_SHORT_FRAGMENTS?: string;

  /**
   * Third-party providers of codes (D4), as a JSON list; its members are those of ProviderSettings
   * (providers/provider-settings.ts). A secret: it holds their credentials.
   */
  @IsOptional()
  @IsProviderList()
  SVC_CODE_PROVIDERS: string = '[]';

  /** `on`: a provider that pretends, with codes of its own, is asked too, for test keys. In development only. */
  @IsOptional()
  @IsIn(['on', 'off'])
  SVC_SIMULATED_PROVIDER: 'on' | 'off' = 'off';
}
