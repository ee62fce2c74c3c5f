import { randomUUID } from 'node:crypto';
import { Controller, Get, Header, HttpCode, Inject, Param, Post, Query, UseGuards } from '@nestjs/common';
import type { AuthenticatedSite } from '@svc/auth';
import {
  DELIVERY_STATES,
  type DeliveryDetails,
  type DeliveryList,
  type DeliveryOwner,
  type DeliveryState,
  GetDeliveryV1,
  type HostedError,
  ListDeliveriesV1,
  ResendDeliveryV1,
} from '@svc/contracts';
import { DomainError, invalidField, isUuid } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { CallingSite, RequireApiKeyGuard, SiteGuard } from '../sessions/site.guard.js';
import { SiteRateLimitGuard } from './site-rate-limit.guard.js';

/**
 * Deliveries of notifications to a merchant's endpoints, the responses of the endpoints, and resending (E5). Requires
 * an API key, also from a site that needs none for other calls.
 *
 * @group Deliveries
 */
@Controller(['api/v3.1/deliveries', 'api/v3/deliveries'])
@UseGuards(SiteGuard, RequireApiKeyGuard, SiteRateLimitGuard)
export class DeliveriesController {
  constructor(@Inject(Commands) private readonly commands: Commands) {}

  /**
   * Lists the deliveries to the site's endpoints, newest first, at most 50.
   *
   * @throws request.invalid `state` or `after` is not valid.
   */
  @Get()
  @Header('cache-control', 'no-store')
  async list(
    @CallingSite() site: AuthenticatedSite,
    @Query('state') state: DeliveryState | undefined,
    @Query('after') after: string | undefined,
  ): Promise<DeliveryList> {
    if (isNotEmpty(state) && !DELIVERY_STATES.includes(state))
      throw invalidField('state', `state must be one of ${DELIVERY_STATES.join(', ')}`);
    if (isNotEmpty(after) && !isUuid(after)) throw invalidField('after', 'after must be the id of a delivery');
    const request = {
      owner: buildOwner(site),
      ...(isNotEmpty(state) ? { state } : {}),
      ...(isNotEmpty(after) ? { after } : {}),
    };
    return { ...(await this.commands.request(ListDeliveriesV1, request)), ...SUCCESS };
  }

  /**
   * Reads one delivery with its attempts.
   *
   * @throws resource.not-found The site has no such delivery.
   */
  @Get(':id')
  @Header('cache-control', 'no-store')
  async get(@CallingSite() site: AuthenticatedSite, @Param('id') id: string): Promise<DeliveryDetails> {
    return { ...(await this.commands.request(GetDeliveryV1, buildDeliveryRequest(site, id))), ...SUCCESS };
  }

  /**
   * Resends a notification immediately.
   *
   * @returns 202 The notification is scheduled for immediate delivery.
   * @throws resource.not-found The site has no such delivery.
   * @throws resource.conflict The notification is being sent now, or its session was paid later.
   * @throws request.rate-limited The notification was resent a moment ago.
   */
  @Post(':id/resend')
  @HttpCode(202)
  async resend(@CallingSite() site: AuthenticatedSite, @Param('id') id: string): Promise<typeof SUCCESS> {
    const request = { ...buildDeliveryRequest(site, id), requestId: randomUUID() };
    await this.commands.request(ResendDeliveryV1, request);
    return SUCCESS;
  }
}

const SUCCESS: { readonly status: 'Success'; readonly errors: HostedError[] } = { status: 'Success', errors: [] };

function buildOwner({ merchantId, siteId, mode }: AuthenticatedSite): DeliveryOwner {
  return { merchantId, siteId, mode };
}

function buildDeliveryRequest(site: AuthenticatedSite, id: string): { owner: DeliveryOwner; id: string } {
  if (!isUuid(id)) throw new DomainError('resource.not-found', { message: 'There is no such delivery.' });
  return { owner: buildOwner(site), id };
}

function isNotEmpty(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}
