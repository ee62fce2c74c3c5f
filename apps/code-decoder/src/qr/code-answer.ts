import { qrSvg } from '@svc/kernel';
import { acceptedForm } from '@svc/service';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Forms in which a code is given (D6); the first where the caller does not mind. */
const FORMS = ['application/json', 'text/plain', 'image/svg+xml'] as const;
export type CodeForm = (typeof FORMS)[number];

/** By `Accept`; refused before anything is made. */
export function wantedForm(request: FastifyRequest): CodeForm {
  return acceptedForm(request, FORMS);
}

/** What is sent: the object as it is, the code's text, or its QR code. */
export function sendCode<T extends { readonly code: string }>(
  reply: FastifyReply,
  form: CodeForm,
  answer: T,
): T | string {
  reply.header('vary', 'accept');
  if (form === 'application/json') return answer;
  reply.type(`${form}; charset=utf-8`);
  return form === 'text/plain' ? answer.code : qrSvg(answer.code);
}
