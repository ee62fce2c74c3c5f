import type { DeliveryAttempt } from '@svc/contracts';

/**
 * Reasons that depend only on the text of the URL: they reveal nothing about our network, so its merchant may see them.
 */
const URL_TEXT_ERRORS: ReadonlySet<string> = new Set(
  ['unreadable', 'protocol', 'credentials', 'port'].map((refusal) => `address-refused:${refusal}`),
);

/**
 * Hides from a merchant whether a host name exists in our network: a name that resolves to a private address has the
 * same class as a name that does not resolve. Administrators and logs see the original class.
 */
export function withPublicErrorClass(attempt: DeliveryAttempt): DeliveryAttempt {
  const { errorClass } = attempt;
  const shouldHide =
    errorClass !== null &&
    (errorClass.startsWith('address-refused:') || errorClass.startsWith('name-')) &&
    !URL_TEXT_ERRORS.has(errorClass);
  return shouldHide ? { ...attempt, errorClass: 'address-unavailable' } : attempt;
}
