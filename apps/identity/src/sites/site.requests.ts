import { IsText, MAX_IDENTIFIER_LENGTH, MAX_URL_LENGTH, type Mode } from '@svc/contracts';
import { ArrayMaxSize, IsBoolean, IsIn, IsOptional } from 'class-validator';
import { IfPresent } from '../if-present.js';
import { AreHosts } from './allowed-host.js';

const MAX_ALLOWED_HOSTS = 50;
const MODES: readonly Mode[] = ['test', 'live'];

/** Body of `POST /admin/v1/merchants/{merchantId}/sites` (A8). */
export class CreateSiteRequest {
  /** Shown to payers, 1 to 100 characters (C6). */
  @IsText(MAX_IDENTIFIER_LENGTH)
  name: string;

  /** The merchant's identifier of the till or site, 1 to 100 characters, unique for the merchant. */
  @IsText(MAX_IDENTIFIER_LENGTH)
  siteReference: string;

  /**
   * False: requests need only the two documented headers, and `allowedHosts` must not be empty. Anyone who knows these two
   * numbers, payers too, can then create a session of one cent for any order, pay it, and cause a notification with a valid
   * signature. Use it only for merchants whose receiver compares order and amount with its own data.
   */
  @IsBoolean()
  requireApiKey: boolean = true;

  /** Allowed hosts of notification, return and cancel URLs in requests without a key: names or IP addresses. */
  @AreHosts()
  @ArrayMaxSize(MAX_ALLOWED_HOSTS)
  allowedHosts: string[] = [];

  /** Mode of requests without a key (A6). */
  @IsIn(MODES, { message: '$property must be test or live' })
  keylessMode: Mode = 'test';

  /** Receives a notification of every final payment and every refund of the site (M6). The rules of a notificationUrl apply. */
  @IsOptional()
  @IsText(MAX_URL_LENGTH)
  webhookUrl: string | null = null;

  /** True requires a `webhookUrl`. */
  @IsBoolean()
  webhookEnabled: boolean = false;
}

/** Body of `PATCH /admin/v1/merchants/{merchantId}/sites/{siteId}`: absent fields do not change; null is allowed only for `webhookUrl`. */
export class ChangeSiteRequest {
  @IfPresent()
  @IsText(MAX_IDENTIFIER_LENGTH)
  name?: string;

  @IfPresent()
  @IsText(MAX_IDENTIFIER_LENGTH)
  siteReference?: string;

  @IfPresent()
  @IsBoolean()
  requireApiKey?: boolean;

  /** Replaces the whole list. */
  @IfPresent()
  @AreHosts()
  @ArrayMaxSize(MAX_ALLOWED_HOSTS)
  allowedHosts?: string[];

  @IfPresent()
  @IsIn(MODES, { message: '$property must be test or live' })
  keylessMode?: Mode;

  /** Null removes it. */
  @IsOptional()
  @IsText(MAX_URL_LENGTH)
  webhookUrl?: string | null;

  @IfPresent()
  @IsBoolean()
  webhookEnabled?: boolean;
}
