import type { DeliveryAttempt } from '@svc/contracts';

/** Refusals that follow from the text of a URL, so that its merchant may know them. */
const OF_THE_TEXT: ReadonlySet<string> = new Set(
  ['unreadable', 'protocol', 'credentials', 'port'].map((refusal) => `address-refused:${refusal}`),
);

/**
 * A merchant learns that the host has no usable address, and never whether the name exists in our network: a name that resolves to a
 * private address has the same class as one that does not resolve. Administrators and logs see which it was.
 */
export function withPublicClass(attempt: DeliveryAttempt): DeliveryAttempt {
  const { errorClass } = attempt;
  const isAboutAddress =
    errorClass !== null &&
    (errorClass.startsWith('address-refused:') || errorClass.startsWith('name-')) &&
    !OF_THE_TEXT.has(errorClass);
  return isAboutAddress ? { ...attempt, errorClass: 'address-unavailable' } : attempt;
}
