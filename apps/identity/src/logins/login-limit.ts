/** Maximum failed logins in 15 minutes (A5), for an email and for an address, which may be the server of a partner. */

export const MAX_EMAIL_FAILURES = 5;
/** For an address from which no customer has logged in. */
export const MAX_ADDRESS_FAILURES = 100;
/** The same as the limit of an email, so that customers who mistype never lock out others. */
const MAX_CUSTOMER_FAILURES = MAX_EMAIL_FAILURES;
/** The maximum for any address, for any number of customers: about 11 guesses a second. */
export const MAX_COUNTED_ADDRESS_FAILURES = 10_000;

/**
 * Number of customers who must have logged in from an address to allow another login after so many failures: none up to the
 * limit, then one for every five. Undefined when no further login is allowed.
 */
export function requiredCustomers(failures: number): number | undefined {
  if (failures < MAX_ADDRESS_FAILURES) return 0;
  if (failures >= MAX_COUNTED_ADDRESS_FAILURES) return undefined;
  return Math.floor((failures - MAX_ADDRESS_FAILURES) / MAX_CUSTOMER_FAILURES) + 1;
}
