import { DomainError } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';

/**
 * Returns the media type that the caller prefers in `Accept`, or the first of `mediaTypes` if it has no preference.
 * Call it before any side effect, so that a request with an unsupported `Accept` has no side effect.
 *
 * @throws DomainError `request.not-acceptable`
 */
export function negotiateMediaType<const MediaType extends string>(
  request: FastifyRequest,
  mediaTypes: readonly MediaType[],
): MediaType {
  const mediaType = new Negotiator(request).mediaType([...mediaTypes]) as MediaType | undefined;
  if (mediaType === undefined)
    throw new DomainError('request.not-acceptable', { message: `Accept one of ${mediaTypes.join(', ')}.` });
  return mediaType;
}
