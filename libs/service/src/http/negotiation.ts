/** Content negotiation by the headers `Accept`, `Accept-Encoding` and `Accept-Language` (RFC 9110). */
import { DomainError } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';

/**
 * A parameter of a media range, except its weight `q`. The platform offers each media type in one form only, so a
 * client that names a charset or a profile gets that form.
 */
const PARAMETERS = /;(?![\t ]*q=)[\t ]*[^;,="]*(?:="(?:[^"\\]|\\.)*"|=[^;,"]*)?/gi;
/** The media type of errors. Clients name it beside the media type of the resource, or alone. */
const PROBLEM = 'application/problem+json';

/**
 * Returns the media type that the caller prefers in `Accept`, or the first of `mediaTypes` if it has no preference.
 * Call it before any side effect, so that a request with an unsupported `Accept` has no side effect.
 *
 * @throws DomainError `request.not-acceptable`
 */
export function negotiateMediaType<const MediaType extends string>(
  request: FastifyRequest,
  mediaTypes: readonly [MediaType, ...MediaType[]],
): MediaType {
  const { accept } = request.headers;
  const mediaType = findMediaType(accept, mediaTypes);
  if (mediaType !== undefined) return mediaType;
  if (findMediaType(accept, [PROBLEM]) !== undefined) return mediaTypes[0];
  throw new DomainError('request.not-acceptable', { message: `Accept one of ${mediaTypes.join(', ')}.` });
}

/** Whether a client prefers this media type to JSON. False for a client that accepts everything. */
export function prefersToJson(mediaType: string, accept: string | undefined): boolean {
  return findMediaType(accept, ['application/json', mediaType]) === mediaType;
}

function findMediaType<MediaType extends string>(
  accept: string | undefined,
  mediaTypes: readonly MediaType[],
): MediaType | undefined {
  const ranges = (accept ?? '').replaceAll(PARAMETERS, '');
  // A header without a media range means the same as no header.
  const headers = /[^\s,]/.test(ranges) ? { accept: ranges } : {};
  return new Negotiator({ headers }).mediaType([...mediaTypes]) as MediaType | undefined;
}

/** Whether a client accepts gzip. A client without `Accept-Encoding` gets no compressed response. */
export function acceptsGzip(acceptEncoding = ''): boolean {
  const headers = { 'accept-encoding': acceptEncoding };
  return new Negotiator({ headers }).encodings(['gzip', 'x-gzip']).length > 0;
}

/** The language ranges of `Accept-Language`, most preferred first. */
export function readLanguageRanges(acceptLanguage: string): string[] {
  return new Negotiator({ headers: { 'accept-language': acceptLanguage } }).languages();
}
