import { Body, Controller, Delete, Get, Header, HttpCode, Inject, Param, Post, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import { Author, type ChangeAuthor } from '../audit-log/change-author.js';
import { numericId, uuidId } from '../path-ids.js';
import type { ApiKeyView } from './api-key.js';
import { CreateApiKey, type CreatedApiKey } from './create-api-key.js';
import { CreateApiKeyRequest } from './create-api-key.request.js';
import { ListApiKeys } from './list-api-keys.js';
import { RevokeApiKey } from './revoke-api-key.js';

/** API keys of merchants and of sites (A6, A10). Needs `x-admin-key`; errors are RFC 9457 (C5). */
@Controller('admin/v1/merchants/:merchantId')
@UseGuards(AdminKeyGuard)
export class ApiKeysController {
  constructor(
    @Inject(CreateApiKey) private readonly createApiKey: CreateApiKey,
    @Inject(ListApiKeys) private readonly listApiKeys: ListApiKeys,
    @Inject(RevokeApiKey) private readonly revokeApiKey: RevokeApiKey,
  ) {}

  /**
   * 201 with the key, shown this once. 400 names `mode`; 404; 409 when 10 keys of the mode are valid; 503 with
   * Retry-After until webhook-dispatcher has told what to seal to.
   */
  @Post('keys')
  @Header('cache-control', 'no-store')
  createForMerchant(
    @Author() author: ChangeAuthor,
    @Param('merchantId', numericId) merchantId: number,
    @Body() { mode }: CreateApiKeyRequest,
  ): Promise<CreatedApiKey> {
    return this.createApiKey.execute(author, { merchantId }, mode);
  }

  /** As for a merchant. */
  @Post('sites/:siteId/keys')
  @Header('cache-control', 'no-store')
  createForSite(
    @Author() author: ChangeAuthor,
    @Param('merchantId', numericId) merchantId: number,
    @Param('siteId', numericId) siteId: number,
    @Body() { mode }: CreateApiKeyRequest,
  ): Promise<CreatedApiKey> {
    return this.createApiKey.execute(author, { merchantId, siteId }, mode);
  }

  /** The merchant's own, not those of its sites; newest first, revoked ones included, at most 100. 404. */
  @Get('keys')
  async listOfMerchant(@Param('merchantId', numericId) merchantId: number): Promise<{ keys: ApiKeyView[] }> {
    return { keys: await this.listApiKeys.execute({ merchantId }) };
  }

  /** Newest first, revoked ones included, at most 100. 404. */
  @Get('sites/:siteId/keys')
  async listOfSite(
    @Param('merchantId', numericId) merchantId: number,
    @Param('siteId', numericId) siteId: number,
  ): Promise<{ keys: ApiKeyView[] }> {
    return { keys: await this.listApiKeys.execute({ merchantId, siteId }) };
  }

  /** 204, also when it is revoked already. 404. */
  @Delete('keys/:keyId')
  @HttpCode(204)
  revokeOfMerchant(
    @Author() author: ChangeAuthor,
    @Param('merchantId', numericId) merchantId: number,
    @Param('keyId', uuidId) keyId: string,
  ): Promise<void> {
    return this.revokeApiKey.execute(author, { merchantId }, keyId);
  }

  /** 204, also when it is revoked already. 404. */
  @Delete('sites/:siteId/keys/:keyId')
  @HttpCode(204)
  revokeOfSite(
    @Author() author: ChangeAuthor,
    @Param('merchantId', numericId) merchantId: number,
    @Param('siteId', numericId) siteId: number,
    @Param('keyId', uuidId) keyId: string,
  ): Promise<void> {
    return this.revokeApiKey.execute(author, { merchantId, siteId }, keyId);
  }
}
