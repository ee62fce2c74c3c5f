import type { EventEnvelope, PaymentSnapshot } from '@svc/contracts';
import type { EventOrigin } from './rabbitmq-names.js';

/**
 * A map from an event type to an origin: a source of payments, a kind of payer, or both. The service receives events of
 * that type only for payments of that origin. A type without an entry is not restricted.
 */
export type OriginFilter = ReadonlyMap<string, Partial<EventOrigin>>;

/** The origin of a payment event. Undefined for other events. */
export function originOf(payload: unknown): EventOrigin | undefined {
  const { source, partner, paymentReference } = (payload ?? {}) as Partial<PaymentSnapshot>;
  if (typeof source?.kind !== 'string' || paymentReference === undefined) return undefined;
  return { source: source.kind, payer: partner ? 'partner' : 'page' };
}

/** Whether a service that subscribed with `origins` receives this event. */
export function matchesOrigin({ type, payload }: EventEnvelope, origins: OriginFilter): boolean {
  const filter = origins.get(type);
  if (!filter) return true;
  const origin = originOf(payload);
  return (
    origin !== undefined &&
    (filter.source ?? origin.source) === origin.source &&
    (filter.payer ?? origin.payer) === origin.payer
  );
}
