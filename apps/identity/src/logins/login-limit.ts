// Limits of failed logins in 15 minutes (A5), for an email and for an IP address. Many customers may use one address,
// because the address may belong to the server of a partner.

/** Limit for an email. */
export const MAX_EMAIL_FAILURES = 5;
/** Limit for an address from which no customer has logged in. */
const MAX_ADDRESS_FAILURES = 100;
/**
 * Number by which each customer of an address increases the limit of the address. It equals the limit of an email, so
 * that the failures of one customer cannot lock out other customers.
 */
const MAX_CUSTOMER_FAILURES = MAX_EMAIL_FAILURES;
/** Limit for an address even if it has many customers. The limit allows about 11 guesses a second. */
export const MAX_COUNTED_ADDRESS_FAILURES = 10_000;

/**
 * Returns how many customers must have logged in from an address so that another login is allowed after this number of
 * failures. Below 100 failures the result is 0. At 100 failures it is 1, and it increases by 1 with every five further
 * failures. Returns undefined if no further login is allowed.
 */
export function requiredCustomers(failures: number): number | undefined {
  if (failures < MAX_ADDRESS_FAILURES) return 0;
  if (failures >= MAX_COUNTED_ADDRESS_FAILURES) return undefined;
  return Math.floor((failures - MAX_ADDRESS_FAILURES) / MAX_CUSTOMER_FAILURES) + 1;
}
