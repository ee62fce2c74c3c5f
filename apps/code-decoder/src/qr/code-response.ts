import { qrSvg } from '@svc/kernel';
import { negotiateMediaType } from '@svc/service';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Media types of a code (D6); the first is the default. */
const MEDIA_TYPES = ['application/json', 'text/plain', 'image/svg+xml'] as const;
export type CodeMediaType = (typeof MEDIA_TYPES)[number];

/** Media type from `Accept`. Call it before creating anything, because it throws for an unsupported type. */
export function acceptedMediaType(request: FastifyRequest): CodeMediaType {
  return negotiateMediaType(request, MEDIA_TYPES);
}

/** Sends the JSON object, the text of the code, or its QR code. */
export function sendCode<T extends { readonly code: string }>(
  reply: FastifyReply,
  form: CodeMediaType,
  answer: T,
): T | string {
  reply.header('vary', 'accept');
  if (form === 'application/json') return answer;
  reply.type(`${form}; charset=utf-8`);
  return form === 'text/plain' ? answer.code : qrSvg(answer.code);
}
