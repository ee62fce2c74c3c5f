import { DomainError, invalidField } from '@svc/kernel';

/**
 * Rejects a missing and a repeated `svcId` of a query. A malformed one is rejected later with 404 (C3).
 *
 * @throws DomainError `request.invalid`
 */
export function parseSvcId(svcId: unknown): string {
  if (typeof svcId !== 'string' || svcId === '')
    throw invalidField('svcId', 'svcId must be given once: it is the paymentReference of the payment');
  return svcId;
}

/** The error for an unknown payment. It says what `svcId` is, because many callers send the number of the order. */
export function paymentNotFoundError(): DomainError {
  const message = 'There is no such payment. svcId is its paymentReference, not the number of the order.';
  return new DomainError('resource.not-found', { message });
}
