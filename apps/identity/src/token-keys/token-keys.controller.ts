import { Controller, Delete, Get, Header, HttpCode, Inject, Param, Post, UseGuards } from '@nestjs/common';
import { AdminKeyGuard, Author, type ChangeAuthor } from '@svc/auth';
import type { TokenKeyJwk } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { uuidId } from '../path-ids.js';
import { RotateTokenKeys } from './rotate-token-keys.js';
import { type TokenKeyView, toTokenKeyViews } from './token-key.js';
import { findTokenKeys } from './token-key.repository.js';

/** The public keys of identity tokens (A2). Partners can verify identity tokens with them. */
@Controller('.well-known/jwks.json')
export class JwksController {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * Returns the public keys of identity tokens (RFC 7517). Cache the response for at most five minutes, because a key
   * is published ten minutes before its first token.
   *
   * @returns 200 A JWK set.
   */
  @Get()
  @Header('cache-control', 'public, max-age=300')
  async read(): Promise<{ keys: TokenKeyJwk[] }> {
    return { keys: (await findTokenKeys(this.dataSource.manager)).map(({ publicJwk }) => publicJwk) };
  }
}

/** The keys of identity tokens, for administrators. The keys rotate automatically. Requires `x-admin-key`. */
@Controller('admin/v1/token-keys')
@UseGuards(AdminKeyGuard)
export class TokenKeysController {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(RotateTokenKeys) private readonly rotateTokenKeys: RotateTokenKeys,
  ) {}

  /** Lists the published keys, the newest first. */
  @Get()
  async list(): Promise<{ tokenKeys: TokenKeyView[] }> {
    return { tokenKeys: toTokenKeyViews(await findTokenKeys(this.dataSource.manager), this.clock.now()) };
  }

  /**
   * Creates the next key, which signs in ten minutes.
   *
   * @throws resource.conflict A next key already exists.
   */
  @Post()
  rotate(@Author() author: ChangeAuthor): Promise<TokenKeyView> {
    return this.rotateTokenKeys.execute(author);
  }

  /**
   * Withdraws a leaked key, so that its tokens are no longer accepted.
   *
   * @throws resource.not-found
   */
  @Delete(':kid')
  @HttpCode(204)
  withdraw(@Author() author: ChangeAuthor, @Param('kid', uuidId) kid: string): Promise<void> {
    return this.rotateTokenKeys.withdraw(author, kid);
  }
}
