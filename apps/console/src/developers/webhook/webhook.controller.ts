import { randomUUID } from 'node:crypto';
import { Body, Get, HttpStatus, Inject, Post, Query, Res } from '@nestjs/common';
import {
  ChangeSiteWebhookV1,
  MAX_URL_LENGTH,
  ReadSiteWebhookV1,
  SendTestWebhookV1,
  type SiteWebhookSettings,
  type TestWebhookResult,
} from '@svc/contracts';
import { DomainError, isUuid } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import type { FastifyReply } from 'fastify';
import { Allow, CallingViewer, PageController } from '../../access/access.guard.js';
import { fill } from '../../languages/fill.js';
import { readField } from '../../layout/forms.js';
import { redirect, sendPage } from '../../layout/page-sender.js';
import { chooseSite, requireSite } from '../../viewer/sites.js';
import type { MerchantViewer } from '../../viewer/viewer.js';
import { developersPath, type Message } from '../developers-frame.js';
import { renderWebhookPage } from './webhook-page.js';

/** A page with what happened before. */
interface PageOptions {
  readonly status?: number;
  readonly message?: Message;
  /** The typed values, if they were not saved. */
  readonly entered?: SiteWebhookSettings;
  readonly result?: TestWebhookResult;
}

/** The webhook of a site, which identity owns, and its test, which webhook-dispatcher sends. */
@PageController(':merchantId/:mode/developers/webhook')
export class WebhookController {
  constructor(@Inject(Commands) private readonly commands: Commands) {}

  @Get()
  @Allow({ right: 'webhooks.manage' })
  async show(
    @CallingViewer() viewer: MerchantViewer,
    @Query() query: Readonly<Record<string, unknown>>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const saved: Message = { kind: 'done', text: viewer.texts.webhook.saved };
    const siteId = chooseSite(viewer, query['site']);
    await this.send(reply, viewer, siteId, query['done'] === 'saved' ? { message: saved } : {});
  }

  /** The address gets the names of payers, so the person confirms first. A repeat of the form changes nothing. */
  @Post()
  @Allow({ right: 'webhooks.manage', isConfirmed: true })
  async save(
    @CallingViewer() viewer: MerchantViewer,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const siteId = requireSite(viewer, readField(form, 'site', Infinity));
    // Any length, because an address that is too long must be refused and not taken for none.
    const url = readField(form, 'url', Infinity) ?? '';
    const entered = { webhookUrl: url === '' ? null : url, webhookEnabled: readField(form, 'enabled', 2) === 'on' };
    const { actor, merchant } = viewer;
    try {
      const request = { actor, merchantId: merchant.merchantId, siteId, ...entered };
      await this.commands.request(ChangeSiteWebhookV1, request);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'request.invalid') throw error;
      const text = error.fields.map(({ message }) => message).join(' ') || error.message;
      const shown = { ...entered, webhookUrl: entered.webhookUrl?.slice(0, MAX_URL_LENGTH) ?? null };
      const options = { status: HttpStatus.UNPROCESSABLE_ENTITY, entered: shown };
      return this.send(reply, viewer, siteId, { ...options, message: { kind: 'problem', text } });
    }
    await redirect(reply, `${developersPath(viewer)}/webhook?site=${siteId}&done=saved`);
  }

  /** The id of the form is the webhook-id of the message, and a site is tested once in some seconds. */
  @Post('test')
  @Allow({ right: 'webhooks.manage' })
  async test(
    @CallingViewer() viewer: MerchantViewer,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const siteId = requireSite(viewer, readField(form, 'site', Infinity));
    const key = readField(form, 'key', 36);
    const id = isUuid(key) ? key.toLowerCase() : randomUUID();
    const owner = { merchantId: viewer.merchant.merchantId, siteId, mode: viewer.mode };
    try {
      const result = await this.commands.request(SendTestWebhookV1, { owner, id });
      await this.send(reply, viewer, siteId, { result });
    } catch (error) {
      const text = explainRefusal(viewer, error);
      if (text === undefined || !(error instanceof DomainError)) throw error;
      await this.send(reply, viewer, siteId, { status: error.entry.httpStatus, message: { kind: 'problem', text } });
    }
  }

  private async send(
    reply: FastifyReply,
    viewer: MerchantViewer,
    siteId: number | undefined,
    { status = HttpStatus.OK, message, entered, result }: PageOptions,
  ): Promise<void> {
    const site = siteId === undefined ? undefined : await this.readSite(viewer, siteId, entered);
    await sendPage(reply, status, renderWebhookPage({ viewer, site, message, result, testId: randomUUID() }));
  }

  private async readSite({ actor, merchant }: MerchantViewer, siteId: number, entered?: SiteWebhookSettings) {
    const saved = await this.commands.request(ReadSiteWebhookV1, { actor, merchantId: merchant.merchantId, siteId });
    return { siteId, saved, entered: entered ?? saved };
  }
}

/** Why a test was not sent, in the language of the person. Undefined if the page cannot explain it. */
function explainRefusal({ texts }: MerchantViewer, error: unknown): string | undefined {
  if (!(error instanceof DomainError)) return undefined;
  const { webhook } = texts;
  switch (error.code) {
    case 'resource.not-found':
      return webhook.noAddress;
    case 'resource.conflict':
      return webhook.noSecret;
    case 'request.rate-limited':
      return fill(webhook.limited, { seconds: error.retryAfterSeconds ?? 1 });
    default:
      return undefined;
  }
}
