import type { Mode } from '../events/credentials.js';

/** `iss` of every identity token. It is the same on every platform: platforms differ by their signing keys (A2). */
export const TOKEN_ISSUER = 'urn:svc:identity';
/** `aud` of every identity token: the main API. */
export const TOKEN_AUDIENCE = 'urn:svc:api';
/** The only algorithm: a token with another algorithm is always refused (A2). */
export const TOKEN_ALGORITHM = 'ES256';
/** Lifetime of a token (A2). */
export const TOKEN_SECONDS = 900;

/** The subject of a token: a partner's server, or one of its customers. */
export type TokenType = 'service' | 'customer';

/** Permissions of a token. */
export type Scope = 'customers:write' | 'payments:read' | 'payments:write' | 'cards:write' | 'codes:read';

/** Permissions of each token type. A customer token cannot register or log in users (A4). */
export const SCOPES_OF: Readonly<Record<TokenType, readonly Scope[]>> = {
  service: ['customers:write', 'payments:read', 'payments:write', 'cards:write', 'codes:read'],
  customer: ['payments:read', 'payments:write', 'cards:write', 'codes:read'],
};

/** Claims of an identity token (A2); `mode` is a private claim (A6: test and live are separate). */
export interface TokenClaims {
  iss: typeof TOKEN_ISSUER;
  aud: typeof TOKEN_AUDIENCE;
  /** Service token: the id of the API token with which the partner logged in. Customer token: the customerReference. */
  sub: string;
  /** organisationId. */
  org: string;
  typ: TokenType;
  mode: Mode;
  /** Scopes, separated by spaces. */
  scope: string;
  /** Seconds since 1970. */
  iat: number;
  exp: number;
  /** UUID of this token. */
  jti: string;
}

/** Response of `POST /v1/auth/service/login` (A1). */
export interface ServiceLoginAnswer {
  /** JWT; send it as `Authorization: Bearer …`. */
  identityToken: string;
  tokenType: 'Bearer';
  /** Seconds. */
  expiresIn: number;
}

/** Response of `POST /v1/auth/customers/login` (A5). */
export interface CustomerLoginAnswer extends ServiceLoginAnswer {
  customer: {
    /** customerReference. */
    id: string;
    /** `""` when unknown (P3). */
    firstName: string;
    lastName: string;
  };
}

/** Response of `POST /v1/auth/users` (A3). */
export interface UserAnswer {
  userId: string;
}

/** Response of `POST /v1/auth/customers/register` (A4). */
export interface CustomerAnswer {
  customerReference: string;
  userId: string;
  organisationId: string;
  /** ISO 8601 UTC with milliseconds (C2). */
  createdUTCDate: string;
}
