import type { EventEnvelope, PaymentSnapshot } from '@svc/contracts';
import type { EventOrigin } from './rabbitmq-names.js';

/** By event type: the source, the kind of payer, or both, of the payments that a service wants. All payments where absent. */
export type OriginFilter = ReadonlyMap<string, Partial<EventOrigin>>;

/** The origin of a payment event; undefined for other events. */
export function originOf(payload: unknown): EventOrigin | undefined {
  const { source, partner, paymentReference } = (payload ?? {}) as Partial<PaymentSnapshot>;
  if (typeof source?.kind !== 'string' || paymentReference === undefined) return undefined;
  return { source: source.kind, payer: partner ? 'partner' : 'page' };
}

/** Whether to send this event to a service that wants `origins`. */
export function matchesOrigin({ type, payload }: EventEnvelope, origins: OriginFilter): boolean {
  const wanted = origins.get(type);
  if (!wanted) return true;
  const origin = originOf(payload);
  return (
    origin !== undefined &&
    (wanted.source ?? origin.source) === origin.source &&
    (wanted.payer ?? origin.payer) === origin.payer
  );
}
