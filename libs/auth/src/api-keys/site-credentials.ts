import { Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { Clock, DomainError, isNumericId, TtlCache } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { createKeyError, hasApiKeyFormat, hashApiKey } from './api-key.js';

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
  /** The header `Authorization`, in which clients of other APIs send the key. It is never read as a key. */
  readonly authorization?: unknown;
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
   * Throws a 401 for every problem. Its message describes the headers that were sent. Only the holder of a valid key
   * learns more: whether the merchant and the site in the headers are those of the key. No message reveals which other
   * merchants and sites exist.
   */
  async authenticate(headers: SiteCredentialHeaders): Promise<AuthenticatedSite> {
    const { merchantId, merchantSiteId, apiKey } = headers;
    if (!isNumericId(merchantId) || !isNumericId(merchantSiteId)) throw createHeaderError(headers);
    // A wrong key is always a 401, even if the site requires no key (A8).
    if (apiKey !== undefined && !hasApiKeyFormat(apiKey)) throw createHeaderError(headers);
    const hash = apiKey === undefined ? '' : hashApiKey(apiKey);

    const site = await this.siteCache.find(`${merchantId} ${merchantSiteId} ${hash}`, () =>
      this.findSite(Number(merchantId), Number(merchantSiteId), hash),
    );
    if (site) return site;
    const owner = apiKey === undefined ? undefined : await this.findKeyOwner(hash);
    throw owner ? createForeignKeyError(owner, Number(merchantId), Number(merchantSiteId)) : createHeaderError(headers);
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
  private async findKeyOwner(hash: string): Promise<KeyOwner | undefined> {
    const [row] = await this.dataSource.query<KeyOwner[]>(
      `SELECT merchant_id AS "merchantId", site_id AS "siteId" FROM known_api_keys WHERE hash = $1 AND NOT revoked`,
      [hash],
    );
    return row;
  }
}

interface KeyOwner {
  readonly merchantId: number;
  /** Null for a merchant's key, which covers all its sites. */
  readonly siteId: number | null;
}

/** The error for a valid key with the ids of another merchant or site, the same whether these exist or not. */
function createForeignKeyError(key: KeyOwner, merchantId: number, siteId: number): DomainError {
  const newError = (message: string): DomainError => new DomainError('credentials.invalid', { message });
  if (key.merchantId !== merchantId)
    return newError(
      `This key is not of merchant ${merchantId}: send the merchantId of the key, or a key of that merchant.`,
    );
  if (key.siteId === null || key.siteId === siteId)
    return newError(`The merchant of this key has no site ${siteId}: send one of its sites in merchantSiteId.`);
  return newError(`This key is not of site ${siteId}: send the merchantSiteId of the key, or a key of that site.`);
}

/** The error for the text of the headers. */
function createHeaderError({ merchantId, merchantSiteId, apiKey, authorization }: SiteCredentialHeaders): DomainError {
  const newError = (message: string): DomainError => new DomainError('credentials.invalid', { message });
  for (const [header, value] of Object.entries({ merchantId, merchantSiteId })) {
    if (value === undefined || value === '') return newError(`The header ${header} is missing.`);
    if (!isNumericId(value)) return newError(`The header ${header} must be a number, as in 1001.`);
  }
  if (apiKey !== undefined) return createKeyError(apiKey, ['site', 'merchant']);
  const message =
    authorization === undefined
      ? 'There is no such site, or it needs its key in the header x-api-key.'
      : 'The hosted gateway does not read the header Authorization: send the key of the site or its merchant in x-api-key.';
  return new DomainError('credentials.key-missing', { message });
}
