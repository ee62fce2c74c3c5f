import { applyDecorators } from '@nestjs/common';
import { IsIn, IsOptional, IsString, IsUrl, Matches, MaxLength, MinLength } from 'class-validator';

// Rules of variables that several services share: all services must accept the same values.

/**
 * `SVC_ADMIN_KEY`: the key of a service's administration API (header `x-admin-key`, A10). A secret, so there is no default; 32 to
 * 512 characters, best 32 random bytes as text, since no rate limit slows down an attacker.
 */
export function IsAdminKey(): PropertyDecorator {
  return applyDecorators(IsString(), MinLength(32), MaxLength(512));
}

/** An address that paths are appended to: http or https, at most 200 characters, without a slash at the end. */
export function IsBaseUrl(): PropertyDecorator {
  return applyDecorators(
    IsUrl({ require_tld: false, protocols: ['http', 'https'] }),
    Matches(/[^/]$/, { message: '$property must not end with a slash' }),
    MaxLength(200),
  );
}

/**
 * `SVC_ERROR_PAGES_URL`: public address of the error pages, `{base_url}/errors`; each error response links its own page. If not
 * set, the link is a path, which leads to the same pages on the called host (ADR 60).
 */
export function IsErrorPagesUrl(): PropertyDecorator {
  return applyDecorators(IsOptional(), IsBaseUrl());
}

/**
 * `SVC_ACQUIRER_LIVE`: the acquirer of live payments. `off`: none, so that live keys are rejected. `simulated`: the simulated one,
 * which moves no money; for development, where a test needs both modes.
 */
export type LiveAcquirer = 'off' | 'simulated';

export function IsLiveAcquirer(): PropertyDecorator {
  return applyDecorators(IsOptional(), IsIn(['off', 'simulated'] satisfies LiveAcquirer[]));
}
