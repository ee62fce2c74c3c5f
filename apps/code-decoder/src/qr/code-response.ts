import { qrSvg } from '@svc/kernel';
import { negotiateMediaType } from '@svc/service';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Media types in which a code can be requested (D6). The first is the default. */
const MEDIA_TYPES = ['application/json', 'text/plain', 'image/svg+xml'] as const;
type CodeMediaType = (typeof MEDIA_TYPES)[number];

/**
 * The media type that the header `Accept` requests. Call it before creating anything, because it throws for an
 * unsupported type.
 */
export function acceptedMediaType(request: FastifyRequest): CodeMediaType {
  return negotiateMediaType(request, MEDIA_TYPES);
}

/** Sends the body as JSON, or only its code: as text or as a QR code. */
export function sendCode<T extends { readonly code: string }>(
  reply: FastifyReply,
  mediaType: CodeMediaType,
  body: T,
): T | string {
  reply.header('vary', 'accept');
  if (mediaType === 'application/json') return body;
  reply.type(`${mediaType}; charset=utf-8`);
  return mediaType === 'text/plain' ? body.code : qrSvg(body.code);
}
