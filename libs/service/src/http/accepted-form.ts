import { DomainError } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';

/**
 * The form in which the caller wants its answer, by `Accept`; the first of `forms` where it does not mind. Ask before anything is
 * made, so that nothing is made for a caller who cannot read it.
 *
 * @throws DomainError `request.not-acceptable`
 */
export function acceptedForm<const Form extends string>(request: FastifyRequest, forms: readonly Form[]): Form {
  const form = new Negotiator(request).mediaType([...forms]) as Form | undefined;
  if (form === undefined)
    throw new DomainError('request.not-acceptable', { message: `Accept one of ${forms.join(', ')}.` });
  return form;
}
