/** A figure counts only when everybody's books agree afterwards: nothing charged twice, nothing lost, everybody told. */
import type { MerchantEndpoint } from './merchant-endpoint.ts';
import type { RunningSystem } from '../platforms/system.ts';

export interface Books {
  readonly charges: number;
  readonly payments: number;
  readonly transfers: number;
  readonly notificationIds: number;
  readonly posts: number;
  /** Undefined when they agree. */
  readonly disagreement: string | undefined;
}

/** @param flows payments that were begun; each ended with a webhook, or the run is void for another reason */
export async function compareBooks(system: RunningSystem, endpoint: MerchantEndpoint, flows: number): Promise<Books> {
  const charged = system.charged();
  const payments = await system.sql<{ payment_reference: string; state: string }>(
    'SELECT payment_reference, state FROM payment_processor.payments',
  );
  const transfers = await system.sql<{ payment_reference: string }>(
    `SELECT payment_reference FROM payment_processor.transfers JOIN payment_processor.payments USING (payment_id) WHERE kind = 'capture'`,
  );
  const ids = [...endpoint.heard.values()].flatMap(({ webhookIds }) => [...webhookIds]);
  const successful = payments.filter(({ state }) => state === 'success').map((row) => row.payment_reference);
  const lists = {
    charges: charged,
    payments: payments.map((row) => row.payment_reference),
    'successful payments': successful,
    transfers: transfers.map((row) => row.payment_reference),
    'payments that the merchant heard of': [...endpoint.heard.keys()],
  };
  const problems = Object.entries(lists).flatMap(([name, references]) => {
    const twice = references.length - new Set(references).size;
    if (twice > 0) return [`${twice} of the ${name} are there twice`];
    if (references.length !== flows) return [`${references.length} ${name} for ${flows} flows`];
    const known = new Set(charged);
    const strange = references.filter((reference) => !known.has(reference)).length;
    return strange > 0 ? [`${strange} ${name} without a charge`] : [];
  });
  if (ids.length !== flows || new Set(ids).size !== flows) problems.push(`${ids.length} notification ids`);
  if (endpoint.forged > 0) problems.push(`${endpoint.forged} webhooks with a wrong signature`);
  return {
    charges: charged.length,
    payments: payments.length,
    transfers: transfers.length,
    notificationIds: new Set(ids).size,
    posts: endpoint.posts,
    disagreement: problems.length > 0 ? problems.join('; ') : undefined,
  };
}
