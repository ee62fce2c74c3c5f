import { TlsListenerConfig } from '@svc/service';
import {
  IsInt,
  IsOptional,
  IsString,
  IsUrl,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateIf,
} from 'class-validator';

/** Variables of the emulator of Adyen. It is off unless its port is set; then the other variables are required. */
export class AdyenEmulatorConfig extends TlsListenerConfig {
  /** Port of the emulator, on SVC_LISTEN_ADDRESS; 0 chooses a free port. If not set, the emulator does not run. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(65535)
  SVC_ADYEN_EMULATOR_PORT?: number;

  /** File in which the emulator stores payments, webhooks and reports. */
  @ValidateIf(isOn)
  @IsString()
  @MinLength(1)
  @MaxLength(4096)
  SVC_ADYEN_EMULATOR_STORE: string;

  /** API key that callers send in the header `x-api-key`. */
  @ValidateIf(isOn)
  @IsString()
  @MinLength(8)
  @MaxLength(512)
  SVC_ADYEN_EMULATOR_API_KEY: string;

  /** Key with which webhooks are signed: 64 hexadecimal digits, as in Adyen's customer area. */
  @ValidateIf(isOn)
  @Matches(/^[0-9A-Fa-f]{64}$/, { message: '$property must have 64 hexadecimal digits' })
  SVC_ADYEN_EMULATOR_HMAC_KEY: string;

  /** The merchant accounts, separated by commas. Others are rejected with Adyen's error 901. */
  @ValidateIf(isOn)
  @Matches(/^[\w-]{1,80}(,[\w-]{1,80}){0,99}$/, { message: '$property must be names separated by commas' })
  SVC_ADYEN_EMULATOR_MERCHANT_ACCOUNTS: string;

  /** URL that receives the webhooks. If not set, they wait until a test sets a URL through the control interface. */
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http', 'https'] })
  @MaxLength(2048)
  SVC_ADYEN_EMULATOR_WEBHOOK_URL?: string;

  /** User name of the webhooks' basic authentication. */
  @ValidateIf(isOn)
  @IsString()
  @MinLength(1)
  @MaxLength(200)
  SVC_ADYEN_EMULATOR_WEBHOOK_USER: string;

  /** Password of the webhooks' basic authentication. */
  @ValidateIf(isOn)
  @IsString()
  @MinLength(1)
  @MaxLength(200)
  SVC_ADYEN_EMULATOR_WEBHOOK_PASSWORD: string;

  /**
   * Delays between the attempts to deliver a webhook, in milliseconds, separated by commas. The last delay repeats. The
   * default is faster than Adyen's schedule, which is `9000,9000,9000,120000,300000,600000,900000,1800000,…`.
   */
  @IsOptional()
  @Matches(/^\d{1,9}(,\d{1,9}){0,49}$/, { message: '$property must be milliseconds separated by commas' })
  SVC_ADYEN_EMULATOR_WEBHOOK_RETRY_MS: string = '500,1000,2000,5000,10000';

  /** User name with which reports are downloaded. */
  @ValidateIf(isOn)
  @IsString()
  @MinLength(1)
  @MaxLength(200)
  SVC_ADYEN_EMULATOR_REPORT_USER: string;

  /** Password with which reports are downloaded. */
  @ValidateIf(isOn)
  @IsString()
  @MinLength(1)
  @MaxLength(200)
  SVC_ADYEN_EMULATOR_REPORT_PASSWORD: string;

  /** URL of the emulator for browsers and downloads, without a slash at the end. Default: the URL where it listens. */
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http', 'https'] })
  @MaxLength(2048)
  SVC_ADYEN_EMULATOR_PUBLIC_URL?: string;
}

function isOn(config: AdyenEmulatorConfig): boolean {
  return config.SVC_ADYEN_EMULATOR_PORT !== undefined;
}
