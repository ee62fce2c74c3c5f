import type { Mode } from '../events/credentials.js';

/** `iss` of every identity token. A name, not an address: what tells platforms apart is their keys (A2). */
export const TOKEN_ISSUER = 'urn:svc:identity';
/** `aud` of every identity token: the main API. */
export const TOKEN_AUDIENCE = 'urn:svc:api';
/** The only algorithm: a token that names another one is refused whatever it says (A2). */
export const TOKEN_ALGORITHM = 'ES256';
/** How long a token is accepted after it was issued (A2). */
export const TOKEN_SECONDS = 900;

/** Whom a token speaks for: a partner's server, or one of its customers. */
export type TokenType = 'service' | 'customer';

/** What a token may be used for. */
export type Scope = 'customers:write' | 'payments:read' | 'payments:write' | 'cards:write' | 'codes:read';

/** What the tokens of each type may be used for. A customer registers nobody and logs nobody in (A4). */
export const SCOPES_OF: Readonly<Record<TokenType, readonly Scope[]>> = {
  service: ['customers:write', 'payments:read', 'payments:write', 'cards:write', 'codes:read'],
  customer: ['payments:read', 'payments:write', 'cards:write', 'codes:read'],
};

/** Claims of an identity token (A2); `mode` is ours (A6: test and live never see each other). */
export interface TokenClaims {
  iss: typeof TOKEN_ISSUER;
  aud: typeof TOKEN_AUDIENCE;
  /** Of a service token the id of the API token it was got with; of a customer token the customerReference. */
  sub: string;
  /** organisationId. */
  org: string;
  typ: TokenType;
  mode: Mode;
  /** Scopes, separated by blanks. */
  scope: string;
  /** Seconds since 1970. */
  iat: number;
  exp: number;
  /** UUID of this token. */
  jti: string;
}

/** Answer of `POST /v1/auth/service/login` (A1). */
export interface ServiceLoginAnswer {
  /** JWT; send it as `Authorization: Bearer …`. */
  identityToken: string;
  tokenType: 'Bearer';
  /** Seconds. */
  expiresIn: number;
}

/** Answer of `POST /v1/auth/customers/login` (A5). */
export interface CustomerLoginAnswer extends ServiceLoginAnswer {
  customer: {
    /** customerReference. */
    id: string;
    /** `""` when unknown (P3). */
    firstName: string;
    lastName: string;
  };
}

/** Answer of `POST /v1/auth/users` (A3). */
export interface UserAnswer {
  userId: string;
}

/** Answer of `POST /v1/auth/customers/register` (A4). */
export interface CustomerAnswer {
  customerReference: string;
  userId: string;
  organisationId: string;
  /** ISO 8601 UTC with milliseconds (C2). */
  createdUTCDate: string;
}
