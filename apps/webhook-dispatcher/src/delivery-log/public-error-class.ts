import type { DeliveryAttempt } from '@svc/contracts';

/** Rejections that depend only on the text of the URL, so its merchant may see them. */
const URL_TEXT_ERRORS: ReadonlySet<string> = new Set(
  ['unreadable', 'protocol', 'credentials', 'port'].map((refusal) => `address-refused:${refusal}`),
);

/**
 * Hides from a merchant whether a name exists in our network: a name that resolves to a private address gets the same class as
 * a name that does not resolve. Administrators and logs see the original class.
 */
export function withPublicErrorClass(attempt: DeliveryAttempt): DeliveryAttempt {
  const { errorClass } = attempt;
  const isAboutAddress =
    errorClass !== null &&
    (errorClass.startsWith('address-refused:') || errorClass.startsWith('name-')) &&
    !URL_TEXT_ERRORS.has(errorClass);
  return isAboutAddress ? { ...attempt, errorClass: 'address-unavailable' } : attempt;
}
