import { IsText, MAX_IDENTIFIER_LENGTH, MAX_URL_LENGTH, type Mode } from '@svc/contracts';
import { ArrayMaxSize, IsBoolean, IsIn, IsOptional } from 'class-validator';
import { IfPresent } from '../if-present.js';
import { AreHosts } from './allowed-host.js';

const ALLOWED_HOSTS_MAX = 50;
const MODES: readonly Mode[] = ['test', 'live'];

/** Body of `POST /admin/v1/merchants/{merchantId}/sites` (A8). */
export class CreateSiteRequest {
  /** What payers see, 1 to 100 characters (C6). */
  @IsText(MAX_IDENTIFIER_LENGTH)
  name: string;

  /** The merchant's own identifier of the till or site, 1 to 100 characters, unique at the merchant. */
  @IsText(MAX_IDENTIFIER_LENGTH)
  siteReference: string;

  /**
   * False: the two documented headers are enough; then `allowedHosts` must not be empty. Whoever knows these two
   * numbers, payers included, can then make a session of one cent for any order, pay it, and have the merchant told
   * of it with a valid signature: only for merchants whose receiver compares order and amount with its own record.
   */
  @IsBoolean()
  requireApiKey: boolean = true;

  /** Hosts that notification, return and cancel addresses may have when no key was sent: names or IP addresses. */
  @AreHosts()
  @ArrayMaxSize(ALLOWED_HOSTS_MAX)
  allowedHosts: string[] = [];

  /** Mode of what is made without a key (A6). */
  @IsIn(MODES, { message: '$property must be test or live' })
  keylessMode: Mode = 'test';

  /** Receives a notification of every final payment and every refund of the site (M6); the rules of a notificationUrl. */
  @IsOptional()
  @IsText(MAX_URL_LENGTH)
  webhookUrl: string | null = null;

  /** True needs a `webhookUrl`. */
  @IsBoolean()
  webhookEnabled: boolean = false;
}

/** Body of `PATCH /admin/v1/merchants/{merchantId}/sites/{siteId}`: what is left out stays; null is not "left out". */
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
  @ArrayMaxSize(ALLOWED_HOSTS_MAX)
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
