import type { Mode } from '../events/credentials.js';
import { commandType } from '../events/envelope.js';
import type { DeliveryPage, DeliveryState, DeliveryWithAttempts } from '../http/hosted-gateway/deliveries.js';

/** The requesting site and mode: it can read and change only its own deliveries. */
export interface DeliveryOwner {
  merchantId: number;
  siteId: number;
  mode: Mode;
}

export interface ListDeliveries {
  owner: DeliveryOwner;
  state?: DeliveryState;
  /** Only deliveries older than the delivery with this id (UUID) are returned. */
  after?: string;
}

export interface DeliveryRequest {
  owner: DeliveryOwner;
  /**
   * UUID.
   * @schema uuid
   */
  id: string;
}

export interface ResendDelivery extends DeliveryRequest {
  /**
   * UUID. The repeat of a request has the same id and has no further effect.
   * @schema uuid
   */
  requestId?: string;
}

/*
 * The commands below go from hosted-gateway to webhook-dispatcher, while a merchant waits for the response (ADR 61).
 * Only webhook-dispatcher stores the attempts and the signing keys, but it has no public API.
 */
export const ListDeliveriesV1 = commandType<ListDeliveries, DeliveryPage>('list-deliveries.v1');
/** Refused with `resource.not-found`. */
export const GetDeliveryV1 = commandType<DeliveryRequest, DeliveryWithAttempts>('get-delivery.v1');
/** Refused with `resource.not-found`, `resource.conflict`, or `request.rate-limited` shortly after the last resend. */
export const ResendDeliveryV1 = commandType<ResendDelivery, { due: true }>('resend-delivery.v1');
