import { commandType } from '../events/envelope.js';
import type { Mode } from '../events/credentials.js';
import type { DeliveryPage, DeliveryState, DeliveryWithAttempts } from '../http/hosted-gateway/deliveries.js';

/** The site in one mode that asks: it sees and changes nothing but its own. */
export interface DeliveryOwner {
  merchantId: number;
  siteId: number;
  mode: Mode;
}

export interface ListDeliveries {
  owner: DeliveryOwner;
  state?: DeliveryState;
  /** Only what is older than this delivery (UUID). */
  after?: string;
}

export interface OneDelivery {
  owner: DeliveryOwner;
  /** UUID. */
  id: string;
}

/*
 * hosted-gateway → webhook-dispatcher, while a merchant waits (ADR 61). The dispatcher alone has the attempts, and it alone has
 * the keys that sign: it is not reached from outside.
 */
export const ListDeliveriesV1 = commandType<ListDeliveries, DeliveryPage>('list-deliveries.v1');
/** Refused with `resource.not-found`. */
export const GetDeliveryV1 = commandType<OneDelivery, DeliveryWithAttempts>('get-delivery.v1');
/** Refused with `resource.not-found`, `resource.conflict`, or `request.rate-limited` a moment after it was last sent again. */
export const ResendDeliveryV1 = commandType<OneDelivery, { due: true }>('resend-delivery.v1');
