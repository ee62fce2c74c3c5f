/** How many logins may fail in 15 minutes (A5): of an email, and of an address, which may be a partner's whole server. */

export const FAILURES_OF_EMAIL_MAX = 5;
/** Of an address from which no customer has logged in. */
export const FAILURES_OF_ADDRESS_MAX = 100;
/** A customer may mistype as often as the limit of an email allows: customers who mistype never lock the others out. */
const FAILURES_OF_CUSTOMER_MAX = FAILURES_OF_EMAIL_MAX;
/** No address has more, however many customers: some 11 guesses a second. */
export const FAILURES_OF_ADDRESS_COUNTED_MAX = 10_000;

/**
 * How many customers must have logged in from an address for its next login to be tried after so many failures: none up
 * to the limit, then one for every five. Undefined when no number is enough.
 */
export function customersNeeded(failures: number): number | undefined {
  if (failures < FAILURES_OF_ADDRESS_MAX) return 0;
  if (failures >= FAILURES_OF_ADDRESS_COUNTED_MAX) return undefined;
  return Math.floor((failures - FAILURES_OF_ADDRESS_MAX) / FAILURES_OF_CUSTOMER_MAX) + 1;
}
