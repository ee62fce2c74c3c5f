import { IsLabel, IsText, MAX_IDENTIFIER_LENGTH, MAX_URL_LENGTH, type Mode } from '@svc/contracts';
import { PatchBody } from '@svc/service';
import { ArrayMaxSize, IsBoolean, IsIn, IsOptional } from 'class-validator';
import { IfPresent } from '../if-present.js';
import { AreHosts } from './allowed-host.js';

const MAX_ALLOWED_HOSTS = 50;
const MODES: readonly Mode[] = ['test', 'live'];

/** Body of `POST /admin/v1/merchants/{merchantId}/sites` (A8). */
export class CreateSiteRequest {
  /** Name of the site. Payers see the name. 1 to 100 characters (C6). */
  @IsLabel(MAX_IDENTIFIER_LENGTH)
  name: string;

  /** The merchant's own identifier of the site or till, 1 to 100 characters, unique among the sites of the merchant. */
  @IsText(MAX_IDENTIFIER_LENGTH)
  siteReference: string;

  /**
   * If false, requests require only the headers `merchantId` and `merchantSiteId`, and `allowedHosts` must not be
   * empty. A person who knows these two numbers, such as a payer, can then create a session of one cent for any order,
   * pay it, and cause a notification with a valid signature. Use false only for merchants whose servers compare the
   * order and the amount with their own data.
   */
  @IsBoolean()
  requireApiKey: boolean = true;

  /** Hosts (names or IP addresses) that notification, return and cancel URLs may have in requests without a key. */
  @AreHosts()
  @ArrayMaxSize(MAX_ALLOWED_HOSTS)
  allowedHosts: string[] = [];

  /** Mode of requests without a key (A6). */
  @IsIn(MODES, { message: '$property must be test or live' })
  keylessMode: Mode = 'test';

  /**
   * The URL that receives a notification of every final payment and every refund of the site (M6). It must follow the
   * rules for the notificationUrl of a session.
   */
  @IsOptional()
  @IsText(MAX_URL_LENGTH)
  webhookUrl: string | null = null;

  /** If true, `webhookUrl` must be set. */
  @IsBoolean()
  webhookEnabled: boolean = false;

  /**
   * If true, payers always solve a challenge before they pay on the payment page: a calculation of the browser, about a
   * second on a slow phone. Otherwise they do so only while stolen cards are tested at the site.
   */
  @IsBoolean()
  challengePayers: boolean = false;
}

/**
 * Body of `PATCH /admin/v1/merchants/{merchantId}/sites/{siteId}`. Absent fields do not change. Null is allowed only
 * for `webhookUrl`.
 */
@PatchBody()
export class ChangeSiteRequest {
  @IfPresent()
  @IsLabel(MAX_IDENTIFIER_LENGTH)
  name?: string;

  @IfPresent()
  @IsText(MAX_IDENTIFIER_LENGTH)
  siteReference?: string;

  @IfPresent()
  @IsBoolean()
  requireApiKey?: boolean;

  /** Replaces all allowed hosts. */
  @IfPresent()
  @AreHosts()
  @ArrayMaxSize(MAX_ALLOWED_HOSTS)
  allowedHosts?: string[];

  @IfPresent()
  @IsIn(MODES, { message: '$property must be test or live' })
  keylessMode?: Mode;

  /** Null removes the URL. */
  @IsOptional()
  @IsText(MAX_URL_LENGTH)
  webhookUrl?: string | null;

  @IfPresent()
  @IsBoolean()
  webhookEnabled?: boolean;

  @IfPresent()
  @IsBoolean()
  challengePayers?: boolean;
}
