import { Controller, Delete, Get, Header, HttpCode, Inject, Param, Post, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import type { TokenKeyJwk } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { Author, type ChangeAuthor } from '../audit-log/change-author.js';
import { uuidId } from '../path-ids.js';
import { RotateTokenKeys } from './rotate-token-keys.js';
import { showTokenKeys, type TokenKeyView } from './token-key.js';
import { findTokenKeys } from './token-key.repository.js';

/** The public keys of identity tokens (A2), for whoever verifies them by themselves. */
@Controller('.well-known/jwks.json')
export class JwksController {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * Reads the public keys of identity tokens (RFC 7517). May be kept for five minutes: a key is here ten minutes before its first
   * token.
   *
   * @returns 200 A JWK set.
   */
  @Get()
  @Header('cache-control', 'public, max-age=300')
  async read(): Promise<{ keys: TokenKeyJwk[] }> {
    return { keys: (await findTokenKeys(this.dataSource.manager)).map(({ publicJwk }) => publicJwk) };
  }
}

/** Keys of identity tokens, for administrators; they rotate by themselves. Needs `x-admin-key`. */
@Controller('admin/v1/token-keys')
@UseGuards(AdminKeyGuard)
export class TokenKeysController {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(RotateTokenKeys) private readonly rotateTokenKeys: RotateTokenKeys,
  ) {}

  /** Lists the keys that are published, the newest first. */
  @Get()
  async list(): Promise<{ tokenKeys: TokenKeyView[] }> {
    return { tokenKeys: showTokenKeys(await findTokenKeys(this.dataSource.manager), this.clock.now()) };
  }

  /**
   * Makes the next key, which signs in ten minutes.
   *
   * @throws resource.conflict There is a next one already.
   */
  @Post()
  rotate(@Author() author: ChangeAuthor): Promise<TokenKeyView> {
    return this.rotateTokenKeys.execute(author);
  }

  /**
   * Withdraws a key that leaked: nothing it signed is accepted from then on.
   *
   * @throws resource.not-found
   */
  @Delete(':kid')
  @HttpCode(204)
  withdraw(@Author() author: ChangeAuthor, @Param('kid', uuidId) kid: string): Promise<void> {
    return this.rotateTokenKeys.withdraw(author, kid);
  }
}
