import { DomainError } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';

/**
 * The response format that the caller accepts, by `Accept`; the first of `forms` without a preference. Call it before any side
 * effect, so that a caller who cannot read the response causes none.
 *
 * @throws DomainError `request.not-acceptable`
 */
export function negotiateMediaType<const Form extends string>(request: FastifyRequest, forms: readonly Form[]): Form {
  const form = new Negotiator(request).mediaType([...forms]) as Form | undefined;
  if (form === undefined)
    throw new DomainError('request.not-acceptable', { message: `Accept one of ${forms.join(', ')}.` });
  return form;
}
