import { Body, Controller, Delete, Get, Header, HttpCode, Inject, Param, Post, UseGuards } from '@nestjs/common';
import { AdminKeyGuard, Author, type ChangeAuthor } from '@svc/auth';
import type { Mode } from '@svc/contracts';
import { CreateApiKeyRequest } from '../api-keys/create-api-key.request.js';
import { uuidId } from '../path-ids.js';
import { CreatePartnerCredential } from './create-partner-credential.js';
import { ListPartnerCredentials } from './list-partner-credentials.js';
import type { PartnerCredentialView } from './partner-credential.js';
import { RevokePartnerCredential } from './revoke-partner-credential.js';

/** An API key in the list: its id is `keyId`. */
type KeyView = { keyId: string } & Omit<PartnerCredentialView, 'credentialId'>;
/** An API token in the list: its id is `tokenId`. */
type TokenView = { tokenId: string } & Omit<PartnerCredentialView, 'credentialId'>;

/** API keys and API tokens of partners (A1, A6, A10). Requires `x-admin-key`. Errors are RFC 9457 (C5). */
@Controller('admin/v1/organisations/:organisationId')
@UseGuards(AdminKeyGuard)
export class PartnerCredentialsController {
  constructor(
    @Inject(CreatePartnerCredential) private readonly create: CreatePartnerCredential,
    @Inject(ListPartnerCredentials) private readonly list: ListPartnerCredentials,
    @Inject(RevokePartnerCredential) private readonly revoke: RevokePartnerCredential,
  ) {}

  /**
   * Creates an API key of a partner (A6).
   *
   * @returns 201 The key, shown only once.
   * @throws resource.not-found
   * @throws resource.conflict 10 keys of the mode are valid.
   */
  @Post('keys')
  @Header('cache-control', 'no-store')
  async createKey(
    @Author() author: ChangeAuthor,
    @Param('organisationId', uuidId) organisationId: string,
    @Body() { mode }: CreateApiKeyRequest,
  ): Promise<{ keyId: string; apiKey: string; kind: 'partner'; mode: Mode }> {
    const { credentialId, secret } = await this.create.execute(author, organisationId, 'api-key', mode);
    return { keyId: credentialId, apiKey: secret, kind: 'partner', mode };
  }

  /**
   * Creates an API token of a partner (A1).
   *
   * @returns 201 The token, shown only once.
   * @throws resource.not-found
   * @throws resource.conflict 10 tokens of the mode are valid.
   */
  @Post('api-tokens')
  @Header('cache-control', 'no-store')
  async createToken(
    @Author() author: ChangeAuthor,
    @Param('organisationId', uuidId) organisationId: string,
    @Body() { mode }: CreateApiKeyRequest,
  ): Promise<{ tokenId: string; apiToken: string; mode: Mode }> {
    const { credentialId, secret } = await this.create.execute(author, organisationId, 'api-token', mode);
    return { tokenId: credentialId, apiToken: secret, mode };
  }

  /**
   * Lists the API keys of a partner. The newest key is first, revoked keys are included, and at most 100 keys are
   * listed.
   *
   * @throws resource.not-found
   */
  @Get('keys')
  async listKeys(@Param('organisationId', uuidId) organisationId: string): Promise<{ keys: KeyView[] }> {
    const credentials = await this.list.execute(organisationId, 'api-key');
    return { keys: credentials.map(({ credentialId, ...rest }) => ({ keyId: credentialId, ...rest })) };
  }

  /**
   * Lists the API tokens of a partner. The newest token is first, revoked tokens are included, and at most 100 tokens
   * are listed.
   *
   * @throws resource.not-found
   */
  @Get('api-tokens')
  async listTokens(@Param('organisationId', uuidId) organisationId: string): Promise<{ apiTokens: TokenView[] }> {
    const credentials = await this.list.execute(organisationId, 'api-token');
    return { apiTokens: credentials.map(({ credentialId, ...rest }) => ({ tokenId: credentialId, ...rest })) };
  }

  /**
   * Revokes an API key of a partner. All services reject the key within 5 s (A6).
   *
   * @returns 204 The key is revoked now, or it was revoked before.
   * @throws resource.not-found
   */
  @Delete('keys/:keyId')
  @HttpCode(204)
  revokeKey(
    @Author() author: ChangeAuthor,
    @Param('organisationId', uuidId) organisationId: string,
    @Param('keyId', uuidId) keyId: string,
  ): Promise<void> {
    return this.revoke.execute(author, organisationId, 'api-key', keyId);
  }

  /**
   * Revokes an API token of a partner. After that, a login with the token is no longer possible.
   *
   * @returns 204 The token is revoked now, or it was revoked before.
   * @throws resource.not-found
   */
  @Delete('api-tokens/:tokenId')
  @HttpCode(204)
  revokeToken(
    @Author() author: ChangeAuthor,
    @Param('organisationId', uuidId) organisationId: string,
    @Param('tokenId', uuidId) tokenId: string,
  ): Promise<void> {
    return this.revoke.execute(author, organisationId, 'api-token', tokenId);
  }
}
