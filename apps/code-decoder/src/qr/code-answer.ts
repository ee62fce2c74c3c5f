import { DomainError, qrSvg } from '@svc/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';

/** Forms in which a code is given (D6); the first where the caller does not mind. */
const FORMS = ['application/json', 'text/plain', 'image/svg+xml'] as const;
export type CodeForm = (typeof FORMS)[number];

/** By `Accept`. Throws `request.not-acceptable`: asked before anything is made, so that nothing is made for nobody. */
export function wantedForm(request: FastifyRequest): CodeForm {
  const form = new Negotiator(request).mediaType([...FORMS]) as CodeForm | undefined;
  if (form === undefined)
    throw new DomainError('request.not-acceptable', { message: `Accept one of ${FORMS.join(', ')}.` });
  return form;
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
