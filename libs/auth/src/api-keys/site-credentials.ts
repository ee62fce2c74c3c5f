import { Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { Clock, DomainError, isNumericId, TtlCache } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { describeKeyProblem, hasApiKeyFormat, hashApiKey } from './api-key.js';

/** The authenticated caller of the hosted gateway: a site of a merchant. */
export interface AuthenticatedSite {
  readonly merchantId: number;
  readonly siteId: number;
  readonly merchantName: string;
  readonly mode: Mode;
  /**
   * True if the site sent no API key, only the headers merchantId and merchantSiteId (A8). The addresses in its
   * requests are then limited to `allowedHosts`.
   */
  readonly keyless: boolean;
  readonly allowedHosts: readonly string[];
}

/**
 * The values of the request headers, not validated: `merchantId`, `merchantSiteId` and, except for keyless sites,
 * `x-api-key` (A8).
 */
export interface SiteCredentialHeaders {
  readonly merchantId: unknown;
  readonly merchantSiteId: unknown;
  readonly apiKey: unknown;
}

interface SiteRow {
  merchant_name: string;
  require_api_key: boolean;
  allowed_hosts: string[];
  keyless_mode: Mode;
  key_mode: Mode | null;
}

/** Authenticates calls to the hosted gateway with the sites and API keys that the service identity has published. */
@Injectable()
export class SiteCredentials {
  private readonly siteCache: TtlCache<AuthenticatedSite>;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) clock: Clock,
  ) {
    this.siteCache = new TtlCache(clock);
  }

  /**
   * Throws `credentials.invalid` for every problem. Its message describes only the headers that were sent. It does not
   * reveal which merchants and sites exist.
   */
  async authenticate(headers: SiteCredentialHeaders): Promise<AuthenticatedSite> {
    const { merchantId, merchantSiteId, apiKey } = headers;
    const createError = (): DomainError =>
      new DomainError('credentials.invalid', { message: describeProblem(headers) });
    if (!isNumericId(merchantId) || !isNumericId(merchantSiteId)) throw createError();
    // A wrong key is always a 401, even if the site requires no key (A8).
    if (apiKey !== undefined && !hasApiKeyFormat(apiKey)) throw createError();
    const hash = apiKey === undefined ? '' : hashApiKey(apiKey);

    const site = await this.siteCache.find(`${merchantId} ${merchantSiteId} ${hash}`, () =>
      this.findSite(Number(merchantId), Number(merchantSiteId), hash),
    );
    if (!site) throw createError();
    return site;
  }

  private async findSite(merchantId: number, siteId: number, hash: string): Promise<AuthenticatedSite | undefined> {
    const [row] = await this.dataSource.query<SiteRow[]>(
      `SELECT s.merchant_name, s.require_api_key, s.allowed_hosts, s.keyless_mode, k.mode AS key_mode
         FROM known_sites s
         LEFT JOIN known_api_keys k ON k.hash = $3 AND NOT k.revoked AND k.merchant_id = s.merchant_id
                                   AND (k.site_id IS NULL OR k.site_id = s.site_id)
        WHERE s.merchant_id = $1 AND s.site_id = $2`,
      [merchantId, siteId, hash],
    );
    const keyless = hash === '';
    if (!row || (keyless ? row.require_api_key : row.key_mode === null)) return undefined;
    return {
      merchantId,
      siteId,
      merchantName: row.merchant_name,
      mode: row.key_mode ?? row.keyless_mode,
      keyless,
      allowedHosts: row.allowed_hosts,
    };
  }
}

function describeProblem({ merchantId, merchantSiteId, apiKey }: SiteCredentialHeaders): string {
  for (const [header, value] of Object.entries({ merchantId, merchantSiteId })) {
    if (value === undefined || value === '') return `The header ${header} is missing.`;
    if (!isNumericId(value)) return `The header ${header} must be a number, as in 1001.`;
  }
  return apiKey === undefined
    ? 'There is no such site, or it needs its key in the header x-api-key.'
    : describeKeyProblem(apiKey, ['site', 'merchant']);
}
