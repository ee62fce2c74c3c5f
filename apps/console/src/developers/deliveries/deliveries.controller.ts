import { Body, Get, HttpStatus, Inject, Param, Post, Query, Res } from '@nestjs/common';
import { GetDeliveryContentV1, GetDeliveryV1, ListDeliveriesV1, ResendDeliveryV1 } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import type { FastifyReply } from 'fastify';
import { Allow, CallingViewer, PageController } from '../../access/access.guard.js';
import { redirect, sendPage } from '../../layout/page-sender.js';
import { chooseSite, requireSite } from '../../viewer/sites.js';
import type { MerchantViewer } from '../../viewer/viewer.js';
import { developersPath, type Message } from '../developers-frame.js';
import { maskCustomer } from './customer-mask.js';
import { renderDeliveriesPage } from './deliveries-page.js';
import { readDeliveryChoice, toDeliveryRequest } from './delivery-filters.js';
import { renderDeliveryPage } from './delivery-page.js';

type PageQuery = Readonly<Record<string, unknown>>;

/** The webhooks that were sent to the endpoints of a site. webhook-dispatcher owns them, and checks their owner. */
@PageController(':merchantId/:mode/developers')
export class DeliveriesController {
  constructor(@Inject(Commands) private readonly commands: Commands) {}

  @Get()
  @Allow({ right: 'deliveries.read' })
  async list(
    @CallingViewer() viewer: MerchantViewer,
    @Query() query: PageQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const siteId = chooseSite(viewer, query['site']);
    if (siteId === undefined) return sendPage(reply, HttpStatus.OK, renderDeliveriesPage({ viewer, list: undefined }));
    const choice = readDeliveryChoice(query, siteId);
    const page = await this.commands.request(ListDeliveriesV1, toDeliveryRequest(viewer, choice));
    await sendPage(reply, HttpStatus.OK, renderDeliveriesPage({ viewer, list: { choice, page } }));
  }

  @Get('deliveries/:id')
  @Allow({ right: 'deliveries.read' })
  async show(
    @CallingViewer() viewer: MerchantViewer,
    @Param('id') id: string,
    @Query() query: PageQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const resent: Message = { kind: 'done', text: viewer.texts.deliveries.resent };
    const siteId = requireSite(viewer, query['site']);
    await this.send(reply, HttpStatus.OK, viewer, { siteId, id }, query['done'] === 'resent' ? resent : undefined);
  }

  /** A repeat of the form within some seconds is refused, so a double click sends the webhook once. */
  @Post('deliveries/:id/resend')
  @Allow({ right: 'deliveries.resend' })
  async resend(
    @CallingViewer() viewer: MerchantViewer,
    @Param('id') id: string,
    @Body() form: PageQuery | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const siteId = requireSite(viewer, form?.['site']);
    const owner = { merchantId: viewer.merchant.merchantId, siteId, mode: viewer.mode };
    try {
      const { session, actor } = viewer;
      const { personId } = session;
      await this.commands.request(ResendDeliveryV1, { owner, id, requestId: actor.requestId, personId });
    } catch (error) {
      if (!(error instanceof DomainError) || error.entry.httpStatus >= 500 || error.code === 'resource.not-found')
        throw error;
      const refused: Message = { kind: 'problem', text: error.message };
      return this.send(reply, error.entry.httpStatus, viewer, { siteId, id }, refused);
    }
    await redirect(reply, `${developersPath(viewer)}/deliveries/${id}?site=${siteId}&done=resent`);
  }

  private async send(
    reply: FastifyReply,
    status: number,
    viewer: MerchantViewer,
    { siteId, id }: { siteId: number; id: string },
    message: Message | undefined,
  ): Promise<void> {
    const request = { owner: { merchantId: viewer.merchant.merchantId, siteId, mode: viewer.mode }, id };
    const [delivery, content] = await Promise.all([
      this.commands.request(GetDeliveryV1, request),
      this.commands.request(GetDeliveryContentV1, request),
    ]);
    // The page of the payment shows the name, with an entry in the audit log.
    const masked = maskCustomer(content.body);
    const shown = { ...content, body: masked ?? content.body, isMasked: masked !== undefined };
    await sendPage(reply, status, renderDeliveryPage({ viewer, siteId, delivery, content: shown, message }));
  }
}
