import { HttpStatus } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import { fill } from '../languages/fill.js';
import { readField } from '../layout/forms.js';

export const MAX_PATH_LENGTH = 2048;

/** A path of the console. Never the address of another host. */
export function readNext(next: unknown): string {
  if (typeof next !== 'string' || !/^\/(?![/\\])[\x21-\x7e]*$/.test(next) || next.length > MAX_PATH_LENGTH) return '/';
  return next;
}

/** The code of an authenticator app, without the spaces that some apps show. */
export function readCode(form: unknown): string {
  return (readField(form, 'code', 20) ?? '').replaceAll(' ', '');
}

/** Errors of the person, also of a challenge that has expired; all other errors are thrown. */
export function describeProblem(error: unknown, wrong: string, limited: string): { httpStatus: number; text: string } {
  if (!(error instanceof DomainError)) throw error;
  if (['authentication.failed', 'request.invalid', 'resource.not-found'].includes(error.code))
    return { httpStatus: HttpStatus.UNAUTHORIZED, text: wrong };
  if (error.code !== 'request.rate-limited') throw error;
  const minutes = Math.max(1, Math.ceil((error.retryAfterSeconds ?? 0) / 60));
  return { httpStatus: HttpStatus.TOO_MANY_REQUESTS, text: fill(limited, { minutes }) };
}
