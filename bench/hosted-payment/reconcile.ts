/**
 * Compares the records of the acquirer, the platform and the merchant after a run. Measured values are only valid if
 * the records agree: one charge, one payment, one ledger transfer and one webhook id for each payment that the load
 * generator started.
 */
import type { RunningSystem } from '../platforms/system.ts';
import type { MerchantEndpoint } from './merchant-endpoint.ts';

export interface ReconciledCounts {
  readonly charges: number;
  readonly payments: number;
  readonly transfers: number;
  readonly notificationIds: number;
  readonly webhookRequests: number;
  /** Description of the differences. Undefined if there are none. */
  readonly difference: string | undefined;
}

/**
 * @param startedPayments number of payments that the load generator started. Each of them had a webhook; otherwise the
 *   run has already failed.
 */
export async function reconcile(
  system: RunningSystem,
  endpoint: MerchantEndpoint,
  startedPayments: number,
): Promise<ReconciledCounts> {
  const charges = system.readCharges();
  const payments = await system.sql<{ payment_reference: string; state: string }>(
    'SELECT payment_reference, state FROM payment_processor.payments',
  );
  const transfers = await system.sql<{ payment_reference: string }>(
    `SELECT payment_reference FROM payment_processor.transfers JOIN payment_processor.payments USING (payment_id) WHERE kind = 'capture'`,
  );
  const ids = [...endpoint.notifiedPayments.values()].flatMap(({ webhookIds }) => [...webhookIds]);
  const successful = payments.filter(({ state }) => state === 'success').map((row) => row.payment_reference);
  const referenceLists = {
    charges,
    payments: payments.map((row) => row.payment_reference),
    'successful payments': successful,
    transfers: transfers.map((row) => row.payment_reference),
    'payments with a webhook': [...endpoint.notifiedPayments.keys()],
  };
  const problems = Object.entries(referenceLists).flatMap(([name, references]) => {
    const duplicates = references.length - new Set(references).size;
    if (duplicates > 0) return [`${duplicates} of the ${name} are duplicates`];
    if (references.length !== startedPayments)
      return [`${references.length} ${name} for ${startedPayments} started payments`];
    const chargedReferences = new Set(charges);
    const withoutCharge = references.filter((reference) => !chargedReferences.has(reference)).length;
    return withoutCharge > 0 ? [`${withoutCharge} ${name} without a charge`] : [];
  });
  if (ids.length !== startedPayments || new Set(ids).size !== startedPayments)
    problems.push(`${ids.length} webhook ids for ${startedPayments} started payments`);
  if (endpoint.invalidSignatures > 0) problems.push(`${endpoint.invalidSignatures} webhooks with a wrong signature`);
  return {
    charges: charges.length,
    payments: payments.length,
    transfers: transfers.length,
    notificationIds: new Set(ids).size,
    webhookRequests: endpoint.requestCount,
    difference: problems.length > 0 ? problems.join('; ') : undefined,
  };
}
