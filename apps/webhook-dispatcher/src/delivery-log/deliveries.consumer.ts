import { Controller, Inject } from '@nestjs/common';
import {
  type CountUndelivered,
  CountUndeliveredV1,
  DELIVERY_STATES,
  type DeliveryContent,
  type DeliveryPage,
  type DeliveryRequest,
  type DeliveryWithAttempts,
  GetDeliveryContentV1,
  GetDeliveryV1,
  type ListDeliveries,
  ListDeliveriesV1,
  MAX_COUNTED_SITES,
  MAX_TRACED_DELIVERIES,
  type ResendDelivery,
  ResendDeliveryV1,
  type TracedDelivery,
  TraceDeliveriesV1,
  type UndeliveredCount,
} from '@svc/contracts';
import { canonicalId, Clock, invalidField, isUuid } from '@svc/kernel';
import { MessagePattern } from '@svc/messaging';
import { DataSource } from 'typeorm';
import { ReplayNotification } from '../replays/replay-notification.js';
import { countUndelivered, getDelivery, listDeliveries, traceDeliveries } from './deliveries.query.js';
import { ReadDeliveryContent } from './read-delivery-content.js';
import { ReadLimit } from './read-limit.js';

/**
 * Minimum interval between two resends of one notification by its merchant. The interval prevents a client in a loop
 * from flooding the endpoint.
 */
export const MIN_RESEND_INTERVAL_MS = 10_000;

/**
 * Shows the deliveries of one site to its merchant, and sends them again. hosted-gateway has authenticated the
 * merchant.
 */
@Controller()
export class DeliveriesConsumer {
  private readonly reads = new ReadLimit();

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(ReplayNotification) private readonly replayNotification: ReplayNotification,
    @Inject(ReadDeliveryContent) private readonly content: ReadDeliveryContent,
  ) {}

  @MessagePattern(ListDeliveriesV1)
  list(request: ListDeliveries): Promise<DeliveryPage> {
    const { state, after, from, until } = request;
    if (state !== undefined && !DELIVERY_STATES.includes(state))
      throw invalidField('state', `state must be one of ${DELIVERY_STATES.join(', ')}`);
    if (after !== undefined && !isUuid(after)) throw invalidField('after', 'after must be the id of a delivery');
    for (const [field, time] of Object.entries({ from, until }))
      if (time !== undefined && !isUuidTime(time)) throw invalidField(field, `${field} must be a time in UTC`);
    const filter = after === undefined ? request : { ...request, after: canonicalId(after) };
    return this.reads.run(() => listDeliveries(this.dataSource, this.clock.now(), filter));
  }

  @MessagePattern(CountUndeliveredV1)
  async countUndelivered(request: CountUndelivered): Promise<{ counts: UndeliveredCount[] }> {
    if (request.siteIds.length > MAX_COUNTED_SITES)
      throw invalidField('siteIds', `siteIds may have at most ${MAX_COUNTED_SITES} ids`);
    if (!isUuidTime(request.from)) throw invalidField('from', 'from must be a time in UTC');
    return { counts: await this.reads.run(() => countUndelivered(this.dataSource, request)) };
  }

  @MessagePattern(GetDeliveryContentV1)
  getContent(request: DeliveryRequest): Promise<DeliveryContent> {
    return this.reads.run(() => this.content.read(request));
  }

  @MessagePattern(GetDeliveryV1)
  get(request: DeliveryRequest): Promise<DeliveryWithAttempts> {
    return this.reads.run(() => getDelivery(this.dataSource, this.clock.now(), request));
  }

  /** For operators, whom the console has authenticated: deliveries of any merchant. */
  @MessagePattern(TraceDeliveriesV1)
  async trace({ ids }: { readonly ids: readonly string[] }): Promise<{ deliveries: TracedDelivery[] }> {
    if (ids.length > MAX_TRACED_DELIVERIES || !ids.every(isUuid))
      throw invalidField('ids', `ids must be at most ${MAX_TRACED_DELIVERIES} UUIDs`);
    return { deliveries: await this.reads.run(() => traceDeliveries(this.dataSource, this.clock.now(), ids)) };
  }

  @MessagePattern(ResendDeliveryV1)
  async resend({ owner, id, requestId, personId }: ResendDelivery): Promise<{ due: true }> {
    if (requestId !== undefined && !isUuid(requestId)) throw invalidField('requestId', 'requestId must be a UUID');
    // Without the id of the request, a repeat would be another entry in the audit log.
    if (personId !== undefined && (!isUuid(personId) || requestId === undefined))
      throw invalidField('personId', 'personId must be a UUID, and needs a requestId');
    await this.replayNotification.execute(id, { owner, minIntervalMs: MIN_RESEND_INTERVAL_MS, requestId, personId });
    return { due: true };
  }
}

/** Whether a UUID of version 7 can begin with this time. */
function isUuidTime(text: string): boolean {
  const time = Date.parse(text);
  return time >= 0 && new Date(time).toISOString() === text;
}
