import { Body, Controller, Delete, Get, Header, HttpCode, Inject, Param, Post, UseGuards } from '@nestjs/common';
import { AdminKeyGuard, Author, type ChangeAuthor } from '@svc/auth';
import { numericId, uuidId } from '../path-ids.js';
import type { ApiKeyView } from './api-key.js';
import { CreateApiKey, type CreatedApiKey } from './create-api-key.js';
import { CreateApiKeyRequest } from './create-api-key.request.js';
import { ListApiKeys } from './list-api-keys.js';
import { RevokeApiKey } from './revoke-api-key.js';

/** API keys of merchants and of sites (A6, A10). Requires `x-admin-key`. Errors are RFC 9457 (C5). */
@Controller('admin/v1/merchants/:merchantId')
@UseGuards(AdminKeyGuard)
export class ApiKeysController {
  constructor(
    @Inject(CreateApiKey) private readonly createApiKey: CreateApiKey,
    @Inject(ListApiKeys) private readonly listApiKeys: ListApiKeys,
    @Inject(RevokeApiKey) private readonly revokeApiKey: RevokeApiKey,
  ) {}

  /**
   * Creates an API key of a merchant, valid for all its sites (A6).
   *
   * @returns 201 The key, shown only once.
   * @throws resource.not-found
   * @throws resource.conflict 10 keys of the mode are valid.
   * @throws service.not-ready webhook-dispatcher has not yet published its encryption key.
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

  /**
   * Creates an API key of a site (A6).
   *
   * @returns 201 The key, shown only once.
   * @throws resource.not-found
   * @throws resource.conflict 10 keys of the mode are valid.
   * @throws service.not-ready webhook-dispatcher has not yet published its encryption key.
   */
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

  /**
   * Lists the keys of a merchant, without the keys of its sites. The newest key is first, revoked keys are included,
   * and at most 100 keys are listed.
   *
   * @throws resource.not-found
   */
  @Get('keys')
  async listOfMerchant(@Param('merchantId', numericId) merchantId: number): Promise<{ keys: ApiKeyView[] }> {
    return { keys: await this.listApiKeys.execute({ merchantId }) };
  }

  /**
   * Lists the keys of a site. The newest key is first, revoked keys are included, and at most 100 keys are listed.
   *
   * @throws resource.not-found
   */
  @Get('sites/:siteId/keys')
  async listOfSite(
    @Param('merchantId', numericId) merchantId: number,
    @Param('siteId', numericId) siteId: number,
  ): Promise<{ keys: ApiKeyView[] }> {
    return { keys: await this.listApiKeys.execute({ merchantId, siteId }) };
  }

  /**
   * Revokes a key of a merchant. All services reject the key within 5 s (A6).
   *
   * @returns 204 The key is revoked now, or it was revoked before.
   * @throws resource.not-found
   */
  @Delete('keys/:keyId')
  @HttpCode(204)
  revokeOfMerchant(
    @Author() author: ChangeAuthor,
    @Param('merchantId', numericId) merchantId: number,
    @Param('keyId', uuidId) keyId: string,
  ): Promise<void> {
    return this.revokeApiKey.execute(author, { merchantId }, keyId);
  }

  /**
   * Revokes a key of a site. All services reject the key within 5 s (A6).
   *
   * @returns 204 The key is revoked now, or it was revoked before.
   * @throws resource.not-found
   */
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
