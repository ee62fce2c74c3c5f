import { type CanActivate, createParamDecorator, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { hashApiKey, isApiKeyShaped } from '@svc/auth';
import type { Mode } from '@svc/contracts';
import { DomainError, invalidField, isNumericId } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';
import { DataSource } from 'typeorm';
import type { InvoiceOwner } from './invoice.repository.js';

interface SiteRequest extends FastifyRequest {
  params: Record<string, string | undefined>;
  site?: InvoiceOwner;
}

interface KeyRow {
  readonly mode: Mode;
  readonly merchantId: number;
  /** Null for a merchant's key, which speaks for all its sites. */
  readonly siteId: number | null;
  readonly siteExists: boolean;
}

/**
 * Lets a merchant in on a path of one of its sites (A7): `x-api-key`, or the same key as `Authorization: Bearer`. An
 * unknown key is 401; one of another merchant, or of another site, 403. Asks the table each time, so a key that was
 * revoked is refused as soon as this service has heard of it.
 */
@Injectable()
export class MerchantKeyGuard implements CanActivate {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<SiteRequest>();
    const { merchantId, siteId } = request.params;
    const key = await this.find(apiKeyOf(request), siteId);
    if (!key) throw new DomainError('credentials.invalid');
    for (const [name, id] of Object.entries({ merchantId, siteId }))
      if (!isNumericId(id)) throw invalidField(name, `${name} must be a number`);
    if (key.merchantId !== Number(merchantId) || (key.siteId !== null && key.siteId !== Number(siteId)))
      throw new DomainError('credentials.forbidden');
    if (!key.siteExists) throw new DomainError('resource.not-found', { message: 'There is no such site.' });
    request.site = { merchantId: key.merchantId, siteId: Number(siteId), mode: key.mode };
    return true;
  }

  private async find(apiKey: unknown, siteId: unknown): Promise<KeyRow | undefined> {
    if (!isApiKeyShaped(apiKey)) return undefined;
    const [row] = await this.dataSource.query<KeyRow[]>(
      `SELECT k.mode, k.merchant_id AS "merchantId", k.site_id AS "siteId", s.site_id IS NOT NULL AS "siteExists"
         FROM known_api_keys k LEFT JOIN known_sites s ON s.merchant_id = k.merchant_id AND s.site_id = $2
        WHERE k.hash = $1 AND NOT k.revoked`,
      [hashApiKey(apiKey), isNumericId(siteId) ? Number(siteId) : null],
    );
    return row;
  }
}

function apiKeyOf({ headers }: FastifyRequest): unknown {
  return headers['x-api-key'] ?? /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1];
}

/** The site of the path, as {@link MerchantKeyGuard} let it in. */
export const CallingSite = createParamDecorator((_: unknown, context: ExecutionContext): InvoiceOwner => {
  const { site } = context.switchToHttp().getRequest<SiteRequest>();
  if (!site) throw new Error('MerchantKeyGuard has not run.');
  return site;
});
