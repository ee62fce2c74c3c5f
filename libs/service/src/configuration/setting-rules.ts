import { applyDecorators } from '@nestjs/common';
import { IsIn, IsOptional, IsString, IsUrl, Matches, MaxLength, MinLength } from 'class-validator';

// Validation rules of variables that several services have, so that all services accept the same values.

/**
 * `SVC_ADMIN_KEY`: the key of a service's administration API (header `x-admin-key`, A10). A secret, so there is no
 * default. It has 32 to 512 characters. It should be 32 random bytes as text, because no rate limit slows down an
 * attacker.
 */
export function IsAdminKey(): PropertyDecorator {
  return applyDecorators(IsString(), MinLength(32), MaxLength(512));
}

/** A base URL, to which paths are appended: http or https, at most 200 characters, without a slash at the end. */
export function IsBaseUrl(): PropertyDecorator {
  return applyDecorators(
    IsUrl({ require_tld: false, protocols: ['http', 'https'] }),
    Matches(/[^/]$/, { message: '$property must not end with a slash' }),
    MaxLength(200),
  );
}

/**
 * `SVC_ERROR_PAGES_URL`: public address of the error pages, `{base_url}/errors`. Each error response contains a link to
 * the page of its error. If the variable is not set, the link is only a path, so the page is on the host of the request
 * (ADR 60).
 */
export function IsErrorPagesUrl(): PropertyDecorator {
  return applyDecorators(IsOptional(), IsBaseUrl());
}

/**
 * `SVC_ACQUIRER_LIVE`: the acquirer of live payments. `off`: there is no acquirer, so live keys are rejected.
 * `simulated`: the simulated acquirer, which moves no money. It is for development and tests that need both modes.
 */
export type LiveAcquirer = 'off' | 'simulated' | 'adyen';

export function IsLiveAcquirer(): PropertyDecorator {
  return applyDecorators(IsOptional(), IsIn(['off', 'simulated', 'adyen'] satisfies LiveAcquirer[]));
}
