import type { DeliveryAttempt } from '@svc/contracts';

/**
 * Errors that depend only on the text of the URL. They reveal nothing about our network, so the merchant may see them.
 */
const URL_TEXT_ERRORS: ReadonlySet<string> = new Set(
  ['unreadable', 'protocol', 'credentials', 'port'].map((reason) => `address-refused:${reason}`),
);

/**
 * Hides from a merchant whether a host name exists in our network. A name that resolves to a private address gets the
 * same error class as a name that does not resolve. Administrators and logs see the original class.
 */
export function withPublicErrorClass<Attempt extends Pick<DeliveryAttempt, 'errorClass'>>(attempt: Attempt): Attempt {
  const { errorClass } = attempt;
  const shouldHide =
    errorClass !== null &&
    (errorClass.startsWith('address-refused:') || errorClass.startsWith('name-')) &&
    !URL_TEXT_ERRORS.has(errorClass);
  return shouldHide ? { ...attempt, errorClass: 'address-unavailable' } : attempt;
}
