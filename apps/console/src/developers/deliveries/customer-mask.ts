const MASK = '•••';

/**
 * The body of a webhook without the names of the customer. Only the webhook of a site has them, as `customer`. Undefined if
 * the body has none.
 */
export function maskCustomer(body: string): string | undefined {
  const fields = JSON.parse(body) as { customer?: Readonly<Record<string, unknown>> };
  if (fields.customer === undefined || Object.values(fields.customer).every((value) => value === '')) return undefined;
  const customer = Object.fromEntries(Object.keys(fields.customer).map((name) => [name, MASK]));
  return JSON.stringify({ ...fields, customer });
}
