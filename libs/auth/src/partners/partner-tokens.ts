import { Inject, Injectable } from '@nestjs/common';
import { type Scope, TOKEN_ALGORITHM, TOKEN_AUDIENCE, TOKEN_ISSUER, type TokenClaims } from '@svc/contracts';
import { Clock, DomainError, isUuid } from '@svc/kernel';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import passport from 'passport';
import passportJwt from 'passport-jwt';
import { PartnerCredentials } from './partner-credentials.js';

/** A longer token is rejected without parsing. Tokens of identity have about 700 characters. */
const MAX_TOKEN_LENGTH = 4_096;

/** The fields of a request that passport-jwt reads. */
interface TokenRequest {
  readonly headers: Readonly<Record<string, unknown>>;
}

/**
 * Verifies the identity token of a request with this service's own copy of the public keys, without a call to identity
 * (A2).
 *
 * This class has its own Passport instance, because the whole process shares the default instance. If all services ran
 * in one process and used the default instance, the strategy that was registered last would verify the tokens of all
 * services with the tables of one service.
 */
@Injectable()
export class PartnerTokens {
  private readonly passport = new passport.Authenticator();

  constructor(
    @Inject(PartnerCredentials) private readonly credentials: PartnerCredentials,
    @Inject(Clock) private readonly clock: Clock,
  ) {
    this.passport.use(
      new passportJwt.Strategy(
        {
          jwtFromRequest: passportJwt.ExtractJwt.fromAuthHeaderAsBearerToken(),
          secretOrKeyProvider: (_request, token: string, done) => {
            this.findKey(token).then(
              // A KeyObject is parsed only once. The library accepts it, but its types do not declare it.
              (key) => (key ? done(null, key as unknown as Buffer) : done(new Error('unknown key'))),
              (error: unknown) => done(error as Error),
            );
          },
          algorithms: [TOKEN_ALGORITHM],
          issuer: TOKEN_ISSUER,
          audience: TOKEN_AUDIENCE,
          // The library would use the system time. The expiry is checked below, with the injected clock.
          ignoreExpiration: true,
        },
        (claims: unknown, done: (error: unknown, claims?: TokenClaims | false) => void) =>
          done(null, hasAllClaims(claims) && claims.exp * 1000 > this.clock.now().getTime() ? claims : false),
      ),
    );
  }

  /** Throws the error of {@link createTokenError} if the token is missing or has any problem. */
  verify(request: TokenRequest): Promise<TokenClaims> {
    return new Promise((resolve, reject) => {
      const authenticate = this.passport.authenticate(
        'jwt',
        { session: false },
        (error: Error | null, claims: TokenClaims | false, rejection: unknown) => {
          if (claims) resolve(claims);
          // A failed query is reported as a database error: it does not mean that the token is invalid.
          else
            reject(
              error ??
                findDatabaseError(rejection) ??
                createTokenError(request.headers['authorization'], this.clock.now(), rejection),
            );
        },
      ) as (request: TokenRequest, response: undefined, next: (error?: unknown) => void) => void;
      authenticate(request, undefined, reject);
    });
  }

  private async findKey(token: string) {
    if (token.length > MAX_TOKEN_LENGTH) return undefined;
    return this.credentials.findTokenKey(readKid(token)).catch((cause: unknown) => {
      throw new KeyQueryError(cause);
    });
  }
}

/**
 * The error for a rejected token. Its code describes only the text that was sent, also the expiry, which any holder of
 * the token can read. It does not reveal whether identity issued the token.
 */
function createTokenError(authorization: unknown, now: Date, cause: unknown): DomainError {
  const token = /^bearer +(\S.*)$/i.exec(typeof authorization === 'string' ? authorization : '')?.[1];
  if (token === undefined) return new DomainError('credentials.token-missing', { cause });
  const expiry = readExpiry(token);
  if (expiry === undefined) return new DomainError('credentials.token-malformed', { cause });
  return new DomainError(expiry * 1000 <= now.getTime() ? 'credentials.token-expired' : 'credentials.invalid', {
    cause,
  });
}

/** The claim `exp` of a token that is not verified, in seconds since 1970. Undefined if the text is not a token. */
function readExpiry(token: string): number | undefined {
  if (token.length > MAX_TOKEN_LENGTH) return undefined;
  try {
    decodeProtectedHeader(token);
    const { exp } = decodeJwt(token);
    return typeof exp === 'number' ? exp : undefined;
  } catch {
    return undefined;
  }
}

class KeyQueryError extends Error {
  constructor(cause: unknown) {
    super('The key of a token could not be looked up.', { cause });
  }
}

/** The database error that prevented the verification, if that is the reason of the rejection. */
function findDatabaseError(rejection: unknown): Error | undefined {
  return rejection instanceof KeyQueryError ? (rejection.cause as Error) : undefined;
}

/**
 * The key id (kid) in the header of the token, which is not verified yet. It only selects one of the keys that identity
 * published.
 */
function readKid(token: string): unknown {
  try {
    return decodeProtectedHeader(token).kid;
  } catch {
    return undefined;
  }
}

/**
 * Whether the token has every claim of an identity token (A2). The signature alone only proves that identity signed it.
 */
function hasAllClaims(claims: unknown): claims is TokenClaims {
  const { sub, org, typ, mode, scope, exp, jti } = claims as Partial<Record<keyof TokenClaims, unknown>>;
  return (
    isUuid(sub) &&
    isUuid(org) &&
    isUuid(jti) &&
    (typ === 'service' || typ === 'customer') &&
    (mode === 'test' || mode === 'live') &&
    typeof scope === 'string' &&
    Number.isSafeInteger(exp)
  );
}

export function hasScope({ scope }: Pick<TokenClaims, 'scope'>, requiredScope: Scope): boolean {
  return scope.split(' ').includes(requiredScope);
}
