import { IsText, MAX_IDENTIFIER_LENGTH } from '@svc/contracts';
import { IsAdminKey, IsBaseUrl, IsLiveAcquirer, type LiveAcquirer } from '@svc/service';
import { IsIn, IsInt, IsOptional, IsUrl, Matches, Max, MaxLength, Min } from 'class-validator';
import { AdyenConfig } from './acquirers/adyen/adyen-config.js';
import { DEFAULT_LIMITS, MAX_DECLINES } from './velocity/velocity-limits.js';

/** A limit of declines (P11). */
function IsDeclineLimit(): PropertyDecorator {
  const rules = [IsOptional(), IsInt(), Min(1), Max(MAX_DECLINES)];
  return (target, property) => rules.forEach((rule) => rule(target, property));
}

export class PaymentProcessorConfig extends AdyenConfig {
  /** Encryption key for the private keys that decrypt card data; 32 bytes as base64url. A secret. */
  @Matches(/^[A-Za-z0-9_-]{43}$/, { message: '$property must be 32 bytes as base64url' })
  SVC_SEALING_KEY: string;

  /** Key of this service's administration API. A secret. */
  @IsAdminKey()
  SVC_ADMIN_KEY: string;

  /** URL of the simulated acquirer. If not set, there is none, so another acquirer is required. */
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http', 'https'] })
  SVC_ACQUIRER_URL?: string | undefined;

  /**
   * Acquirer of new live charges and cards; with `off`, both are rejected. Captures, refunds and reversals of existing live
   * charges continue with any value.
   */
  @IsLiveAcquirer()
  SVC_ACQUIRER_LIVE: LiveAcquirer = 'off';

  /**
   * Public URL of this service, without a trailing slash. Every bank redirects its payer to a page under this URL. The
   * `verificationUrl` of a partner's payment is under it too, and its host is the origin of the payment at the acquirer.
   */
  @IsBaseUrl()
  SVC_API_URL: string;

  /** URL prefix of this service's codes (D5), without a trailing slash; the same value as in code-decoder. */
  @IsBaseUrl()
  SVC_CODES_URL: string;

  /** Timeout of a charge at the acquirer, in milliseconds. After the timeout the outcome is unknown. */
  @IsOptional()
  @IsInt()
  @Min(100)
  @Max(9_000)
  SVC_ACQUIRER_TIMEOUT_MS: number = 8_000;

  /** Limit of concurrent charges, for each acquirer and mode. Further charges wait until their deadline at most. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1_000)
  SVC_ACQUIRER_CONCURRENCY: number = 100;

  /** Name of the acquirer whose vault stores new cards. By default the first configured acquirer. */
  @IsOptional()
  @IsText(MAX_IDENTIFIER_LENGTH)
  SVC_CARD_VAULT?: string | undefined;

  /**
   * A reconciliation omits payments that became final within this time, in milliseconds, because another service may
   * not have received their events yet.
   */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(3_600_000)
  SVC_RECONCILIATION_GRACE_MS: number = 60_000;

  /**
   * Keys of the hashes of card numbers and addresses (P11): 32 bytes as base64url, or two such keys with a comma between
   * them. New hashes have the first key. Counters of the second key also count, during a rotation. A secret.
   */
  @IsOptional()
  @Matches(/^[A-Za-z0-9_-]{43}(,[A-Za-z0-9_-]{43})?$/, {
    message: '$property must be one or two keys of 32 bytes as base64url',
  })
  SVC_CARD_FINGERPRINT_KEYS?: string | undefined;

  /** Path of a file that contains the value of `SVC_CARD_FINGERPRINT_KEYS`. */
  @IsOptional()
  @MaxLength(4096)
  SVC_CARD_FINGERPRINT_KEYS_FILE?: string | undefined;

  /**
   * Whether the limits against card testing also hold in test mode. An administrator can change this for a merchant. In
   * live mode the limits are on.
   */
  @IsOptional()
  @IsIn(['on', 'off'])
  SVC_VELOCITY_LIMITS_TEST: 'on' | 'off' = 'off';

  /** Declines of a card within 24 hours, over all merchants, from which the card is refused. */
  @IsDeclineLimit()
  SVC_VELOCITY_CARD_DAY: number = DEFAULT_LIMITS.cardDeclinesPerDay;

  /** Declines of a card within 30 days, over all merchants, from which the card is refused. */
  @IsDeclineLimit()
  SVC_VELOCITY_CARD_30_DAYS: number = DEFAULT_LIMITS.cardDeclinesPer30Days;

  /** Declined cards of a number range (BIN) within an hour, at a site or of a partner, from which the range is refused. */
  @IsDeclineLimit()
  SVC_VELOCITY_RANGE_HOUR: number = DEFAULT_LIMITS.rangeDeclinesPerHour;

  /** Declined cards of a payer's address within an hour, from which a site under attack refuses the address. */
  @IsDeclineLimit()
  SVC_VELOCITY_ADDRESS_HOUR: number = DEFAULT_LIMITS.addressDeclinesPerHour;

  /** Declined cards of a partner's organisation within an hour, from which its card payments are refused. */
  @IsDeclineLimit()
  SVC_VELOCITY_ORGANISATION_HOUR: number = DEFAULT_LIMITS.organisationDeclinesPerHour;

  /** Declined cards of a site within ten minutes, from which the site can be under attack. */
  @IsDeclineLimit()
  SVC_VELOCITY_SITE_10_MINUTES: number = DEFAULT_LIMITS.siteDeclinesPer10Minutes;

  /** Declined cards of a site within 24 hours, from which the site can be under attack. */
  @IsDeclineLimit()
  SVC_VELOCITY_SITE_DAY: number = DEFAULT_LIMITS.siteDeclinesPerDay;
}
