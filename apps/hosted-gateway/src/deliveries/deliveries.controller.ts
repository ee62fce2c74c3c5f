import { Controller, Get, Header, HttpCode, Inject, Param, Post, Query, UseGuards } from '@nestjs/common';
import { SkipThrottle } from '@nestjs/throttler';
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
import { CallingSite, SiteGuard, WithKey } from '../sessions/site.guard.js';
import { SiteLimit } from './site-limit.guard.js';

/**
 * Deliveries to a merchant's endpoints: what was sent, what the endpoint answered, and sending again (E5). Needs a key, also at a
 * site that is set up without one.
 *
 * @group Deliveries
 */
@Controller(['api/v3.1/deliveries', 'api/v3/deliveries'])
@UseGuards(SiteGuard, WithKey, SiteLimit)
@SkipThrottle({ keyless: true, payments: true })
export class DeliveriesController {
  constructor(@Inject(Commands) private readonly commands: Commands) {}

  /**
   * Lists the deliveries to the site's endpoints, newest first, at most 50.
   *
   * @throws request.invalid For a state or an `after` that is none.
   */
  @Get()
  @Header('cache-control', 'no-store')
  async list(
    @CallingSite() site: AuthenticatedSite,
    @Query('state') state: DeliveryState | undefined,
    @Query('after') after: string | undefined,
  ): Promise<DeliveryList> {
    if (isGiven(state) && !DELIVERY_STATES.includes(state))
      throw invalidField('state', `state must be one of ${DELIVERY_STATES.join(', ')}`);
    if (isGiven(after) && !isUuid(after)) throw invalidField('after', 'after must be the id of a delivery');
    const request = {
      owner: ownerOf(site),
      ...(isGiven(state) ? { state } : {}),
      ...(isGiven(after) ? { after } : {}),
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
    return { ...(await this.commands.request(GetDeliveryV1, one(site, id))), ...SUCCESS };
  }

  /**
   * Resends a notification immediately.
   *
   * @returns 202 The notification is scheduled for immediate delivery.
   * @throws resource.not-found The site has no such delivery.
   * @throws resource.conflict It is being sent, or its session was paid later.
   * @throws request.rate-limited It was sent again a moment ago.
   */
  @Post(':id/resend')
  @HttpCode(202)
  async resend(@CallingSite() site: AuthenticatedSite, @Param('id') id: string): Promise<typeof SUCCESS> {
    await this.commands.request(ResendDeliveryV1, one(site, id));
    return SUCCESS;
  }
}

const SUCCESS: { readonly status: 'Success'; readonly errors: HostedError[] } = { status: 'Success', errors: [] };

function ownerOf({ merchantId, siteId, mode }: AuthenticatedSite): DeliveryOwner {
  return { merchantId, siteId, mode };
}

function one(site: AuthenticatedSite, id: string): { owner: DeliveryOwner; id: string } {
  if (!isUuid(id)) throw new DomainError('resource.not-found', { message: 'There is no such delivery.' });
  return { owner: ownerOf(site), id };
}

function isGiven(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}
