// Limits of failed logins in 15 minutes (A5), for an email and for an IP address. An address may be the server of a
// partner.

/** Limit for an email. */
export const MAX_EMAIL_FAILURES = 5;
/** Limit for an address from which no customer has logged in. */
export const MAX_ADDRESS_FAILURES = 100;
/**
 * Number of further failures for each customer of an address. It is the limit of an email, so that a customer cannot
 * lock out others.
 */
const MAX_CUSTOMER_FAILURES = MAX_EMAIL_FAILURES;
/** Limit for an address with any number of customers. It allows about 11 guesses a second. */
export const MAX_COUNTED_ADDRESS_FAILURES = 10_000;

/**
 * The number of customers who must have logged in from an address so that another login is allowed after this number of
 * failures: none below the limit of an address, then one for every five failures. Undefined if no further login is
 * allowed.
 */
export function requiredCustomers(failures: number): number | undefined {
  if (failures < MAX_ADDRESS_FAILURES) return 0;
  if (failures >= MAX_COUNTED_ADDRESS_FAILURES) return undefined;
  return Math.floor((failures - MAX_ADDRESS_FAILURES) / MAX_CUSTOMER_FAILURES) + 1;
}
