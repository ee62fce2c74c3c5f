import type { AnyPaymentSnapshot, EventEnvelope } from '@svc/contracts';
import type { EventOrigin } from './rabbitmq-names.js';

/** Of which payments a service is sent the events: those of one source, or of one kind of payer; of all, where it is not said. */
export type WantedOrigins = ReadonlyMap<string, Partial<EventOrigin>>;

/** Of a payment: what is paid, and who pays. Undefined for an event of anything else. */
export function originOf(payload: unknown): EventOrigin | undefined {
  const { source, partner, paymentReference } = (payload ?? {}) as Partial<AnyPaymentSnapshot>;
  if (typeof source?.kind !== 'string' || paymentReference === undefined) return undefined;
  return { source: source.kind, payer: partner ? 'partner' : 'page' };
}

/** Whether the service that wants events of `origins` is to be sent this one. */
export function isWanted({ type, payload }: EventEnvelope, origins: WantedOrigins): boolean {
  const wanted = origins.get(type);
  if (!wanted) return true;
  const origin = originOf(payload);
  return (
    origin !== undefined &&
    (wanted.source ?? origin.source) === origin.source &&
    (wanted.payer ?? origin.payer) === origin.payer
  );
}
