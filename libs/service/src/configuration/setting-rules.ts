import { applyDecorators } from '@nestjs/common';
import { IsIn, IsOptional, IsString, IsUrl, Matches, MaxLength, MinLength } from 'class-validator';

// Rules of variables that several services have: one service must not take what another refuses.

/**
 * `SVC_ADMIN_KEY`: opens a service's administration API (header `x-admin-key`, A10). A secret, so there is no default; 32
 * to 512 characters, best 32 random bytes as text, since nothing slows down somebody who guesses.
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
 * `SVC_ERROR_PAGES_URL`: public address of the pages of errors, `{base_url}/errors`; each answer with an error names its own page.
 * Not set, answers name the path alone, which leads to the same pages on the host that was called (ADR 60).
 */
export function IsErrorPagesUrl(): PropertyDecorator {
  return applyDecorators(IsOptional(), IsBaseUrl());
}

/**
 * `SVC_ACQUIRER_LIVE`: which acquirer takes live payments. `off`: none, so that live keys are refused. `simulated`: the
 * simulated one, which takes no money; for development, where a test needs both modes.
 */
export type LiveAcquirer = 'off' | 'simulated';

export function IsLiveAcquirer(): PropertyDecorator {
  return applyDecorators(IsOptional(), IsIn(['off', 'simulated'] satisfies LiveAcquirer[]));
}
