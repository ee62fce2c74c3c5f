import type { KeyObject } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { decryptPrivateKey } from '@svc/auth';
import {
  type Mode,
  SCOPES_OF,
  type ServiceLoginAnswer,
  TOKEN_ALGORITHM,
  TOKEN_AUDIENCE,
  TOKEN_ISSUER,
  TOKEN_SECONDS,
  type TokenClaims,
  type TokenType,
} from '@svc/contracts';
import { Clock, DomainError, newUuid, TtlCache } from '@svc/kernel';
import { SignJWT } from 'jose';
import { DataSource } from 'typeorm';
import { IdentityConfig } from '../config.js';
import { signingKeyAt } from './token-key.js';
import { findTokenKeys, type SealedTokenKey } from './token-key.repository.js';

/** The data of a new token. */
interface TokenSubject {
  readonly tokenType: TokenType;
  /** The id of the API token for a partner's server, or the customerReference for a customer. */
  readonly subject: string;
  readonly organisationId: string;
  readonly mode: Mode;
}

/** Signs identity tokens with the current key (A2). */
@Injectable()
export class SignToken {
  /** Keys are cached for only a second, so that a withdrawn key stops signing. */
  private readonly keyCache: TtlCache<readonly SealedTokenKey[]>;
  /** The private key that signed the last token. It is cached, so that it is not decrypted for each token. */
  private currentKey: { kid: string; privateKey: KeyObject } | undefined;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(IdentityConfig) private readonly config: IdentityConfig,
  ) {
    this.keyCache = new TtlCache(clock, 1);
  }

  async execute({ tokenType, subject, organisationId, mode }: TokenSubject): Promise<ServiceLoginAnswer> {
    const { kid, privateKey } = await this.getSigningKey();
    const iat = Math.floor(this.clock.now().getTime() / 1000);
    const claims: TokenClaims = {
      iss: TOKEN_ISSUER,
      aud: TOKEN_AUDIENCE,
      sub: subject,
      org: organisationId,
      typ: tokenType,
      mode,
      scope: SCOPES_OF[tokenType].join(' '),
      iat,
      exp: iat + TOKEN_SECONDS,
      jti: newUuid(this.clock),
    };
    const identityToken = await new SignJWT({ ...claims })
      .setProtectedHeader({ alg: TOKEN_ALGORITHM, kid, typ: 'JWT' })
      .sign(privateKey);
    return { identityToken, tokenType: 'Bearer', expiresIn: TOKEN_SECONDS };
  }

  private async getSigningKey(): Promise<{ kid: string; privateKey: KeyObject }> {
    const keys = await this.keyCache.find('token-keys', () => findTokenKeys(this.dataSource.manager));
    const key = signingKeyAt(keys ?? [], this.clock.now());
    if (!key) throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
    if (this.currentKey?.kid !== key.kid) {
      const privateKey = decryptPrivateKey(key.kid, key.sealedPrivateKey, this.config.SVC_SEALING_KEY);
      this.currentKey = { kid: key.kid, privateKey };
    }
    return this.currentKey;
  }
}
