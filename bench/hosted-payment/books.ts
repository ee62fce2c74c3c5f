/** A figure counts only when all books agree afterwards: no charge twice, no payment lost, a webhook for each payment. */
import type { RunningSystem } from '../platforms/system.ts';
import type { MerchantEndpoint } from './merchant-endpoint.ts';

export interface Books {
  readonly charges: number;
  readonly payments: number;
  readonly transfers: number;
  readonly notificationIds: number;
  readonly posts: number;
  /** Undefined when they agree. */
  readonly disagreement: string | undefined;
}

/** @param flows number of payments that the load began; each ended with a webhook, otherwise the run has failed already */
export async function compareBooks(system: RunningSystem, endpoint: MerchantEndpoint, flows: number): Promise<Books> {
  const charges = system.readCharges();
  const payments = await system.sql<{ payment_reference: string; state: string }>(
    'SELECT payment_reference, state FROM payment_processor.payments',
  );
  const transfers = await system.sql<{ payment_reference: string }>(
    `SELECT payment_reference FROM payment_processor.transfers JOIN payment_processor.payments USING (payment_id) WHERE kind = 'capture'`,
  );
  const ids = [...endpoint.notified.values()].flatMap(({ webhookIds }) => [...webhookIds]);
  const successful = payments.filter(({ state }) => state === 'success').map((row) => row.payment_reference);
  const lists = {
    charges: charges,
    payments: payments.map((row) => row.payment_reference),
    'successful payments': successful,
    transfers: transfers.map((row) => row.payment_reference),
    'payments with a webhook': [...endpoint.notified.keys()],
  };
  const problems = Object.entries(lists).flatMap(([name, references]) => {
    const twice = references.length - new Set(references).size;
    if (twice > 0) return [`${twice} of the ${name} are duplicates`];
    if (references.length !== flows) return [`${references.length} ${name} for ${flows} flows`];
    const known = new Set(charges);
    const strange = references.filter((reference) => !known.has(reference)).length;
    return strange > 0 ? [`${strange} ${name} without a charge`] : [];
  });
  if (ids.length !== flows || new Set(ids).size !== flows) problems.push(`${ids.length} notification ids`);
  if (endpoint.invalidSignatures > 0) problems.push(`${endpoint.invalidSignatures} webhooks with a wrong signature`);
  return {
    charges: charges.length,
    payments: payments.length,
    transfers: transfers.length,
    notificationIds: new Set(ids).size,
    posts: endpoint.requestCount,
    disagreement: problems.length > 0 ? problems.join('; ') : undefined,
  };
}
