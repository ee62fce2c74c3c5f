import { type CanActivate, createParamDecorator, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { DomainError, isNumericId } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { createKeyError, hasApiKeyFormat, hashApiKey } from './api-key.js';

/** The data that a key of a merchant or site may read and change on the path of its request. */
export interface AuthenticatedMerchant {
  /** UUID of the key. */
  readonly keyId: string;
  readonly mode: Mode;
  readonly merchantId: number;
  /**
   * The site in the path, or else the site of the key. Undefined if a merchant's key is used on a path without a site.
   */
  readonly siteId: number | undefined;
  /** Whether the site in the path exists at this merchant. True on a path without a site. */
  readonly siteExists: boolean;
}

interface MerchantRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly params: Readonly<Record<string, string | undefined>>;
  merchant?: AuthenticatedMerchant;
}

interface KeyRow {
  readonly keyId: string;
  readonly mode: Mode;
  readonly merchantId: number;
  /** Null for a merchant's key, which covers all its sites. */
  readonly siteId: number | null;
  readonly siteExists: boolean;
}

/**
 * Admits a merchant on a path that contains `:merchantId`, and optionally `:siteId` (A7). The key is in `x-api-key` or
 * in `Authorization: Bearer`. The guard responds 401 to an unknown key. It responds 403 to a key of another merchant,
 * or of another site than the site in the path. On a path without a site, a site's key gives access to its site only.
 * The guard queries the table for each request, so that a revoked key is rejected as soon as this service has received
 * the event of the revocation.
 *
 * A service that uses this guard imports {@link CredentialsConsumer} and its migrations. A service with its own table
 * `known_sites` (with `merchant_id` and `site_id`) imports {@link ApiKeysConsumer} instead, and creates
 * `known_api_keys`.
 *
 * @throws credentials.invalid
 * @throws credentials.key-missing
 * @throws credentials.key-malformed
 * @throws credentials.merchant-key-needed
 * @throws credentials.forbidden The key is of another merchant, or of another site than the site in the path.
 * @throws request.invalid merchantId or siteId is not a number.
 */
@Injectable()
export class MerchantKeyGuard implements CanActivate {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<MerchantRequest>();
    const { merchantId, siteId } = request.params;
    const isSitePath = 'siteId' in request.params;
    const apiKey = readApiKey(request);
    const key = await this.findKey(apiKey, siteId);
    // The response has no body (C5). The message is only written to the log.
    if (!key) throw createKeyError(apiKey, ['merchant', 'site']);
    const fields = Object.entries(isSitePath ? { merchantId, siteId } : { merchantId })
      .filter(([, id]) => !isNumericId(id))
      .map(([field]) => ({ field, message: `${field} must be a number` }));
    if (fields.length > 0) throw new DomainError('request.invalid', { fields });
    // The same for a merchant or site that does not exist.
    if (key.merchantId !== Number(merchantId)) throw newForeignKeyError('merchantId', merchantId);
    if (isSitePath && key.siteId !== null && key.siteId !== Number(siteId)) throw newForeignKeyError('siteId', siteId);
    request.merchant = {
      keyId: key.keyId,
      mode: key.mode,
      merchantId: key.merchantId,
      siteId: isSitePath ? Number(siteId) : (key.siteId ?? undefined),
      siteExists: !isSitePath || key.siteExists,
    };
    return true;
  }

  private async findKey(apiKey: unknown, siteId: unknown): Promise<KeyRow | undefined> {
    if (!hasApiKeyFormat(apiKey)) return undefined;
    const [row] = await this.dataSource.query<KeyRow[]>(
      `SELECT k.key_id AS "keyId", k.mode, k.merchant_id AS "merchantId", k.site_id AS "siteId", s.site_id IS NOT NULL AS "siteExists"
         FROM known_api_keys k LEFT JOIN known_sites s ON s.merchant_id = k.merchant_id AND s.site_id = $2
        WHERE k.hash = $1 AND NOT k.revoked`,
      [hashApiKey(apiKey), isNumericId(siteId) ? Number(siteId) : null],
    );
    return row;
  }
}

function newForeignKeyError(parameter: 'merchantId' | 'siteId', id: string | undefined): DomainError {
  const owner = parameter === 'merchantId' ? 'merchant' : 'site';
  return new DomainError('credentials.forbidden', {
    message: `The API key is not of ${owner} ${id}. Send the ${parameter} of the key in the path, or a key of that ${owner}.`,
  });
}

function readApiKey({ headers }: MerchantRequest): unknown {
  return headers['x-api-key'] ?? /^Bearer (.+)$/i.exec(headers['authorization'] ?? '')?.[1];
}

export function getAuthenticatedMerchant(context: ExecutionContext): AuthenticatedMerchant {
  const { merchant } = context.switchToHttp().getRequest<MerchantRequest>();
  if (!merchant) throw new Error('MerchantKeyGuard has not run.');
  return merchant;
}

/** Parameter decorator: the {@link AuthenticatedMerchant} that {@link MerchantKeyGuard} admitted. */
export const CallingMerchant = createParamDecorator((_: unknown, context: ExecutionContext) =>
  getAuthenticatedMerchant(context),
);
