import { Body, Get, HttpStatus, Inject, Param, Post, Query, Res } from '@nestjs/common';
import { DomainError, isNumericId } from '@svc/kernel';
import type { FastifyReply } from 'fastify';
import { Allow, CallingOperator, PageController } from '../../access/access.guard.js';
import { readField } from '../../layout/forms.js';
import { redirect, sendPage } from '../../layout/page-sender.js';
import type { OperatorViewer } from '../../viewer/viewer.js';
import { AdministrationApi } from '../administration/administration-api.js';
import { listCreatedValues } from '../administration/created-values.js';
import { describeResult, type FormResult } from '../administration/form-result.js';
import { changeGrants, readMerchantChange } from './merchant-changes.js';
import { type Merchant, type MerchantAccounts, renderMerchantPage } from './merchant-page.js';
import { type ListedMerchant, renderMerchantsPage } from './merchants-page.js';

/** Members of responses that are shown once. */
const SHOWN_ONCE = ['apiKey', 'webhookSecrets', 'path'];

/** On-boarding of merchants. */
@PageController('operator/merchants')
export class MerchantPagesController {
  constructor(@Inject(AdministrationApi) private readonly api: AdministrationApi) {}

  @Get()
  @Allow({ operator: 'view' })
  async list(
    @CallingOperator() viewer: OperatorViewer,
    @Query('after') after: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.sendList(reply, viewer, isNumericId(after) ? Number(after) : 0);
  }

  @Post()
  @Allow({ operator: 'change', isConfirmed: true })
  async create(
    @CallingOperator() viewer: OperatorViewer,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const timeZone = readField(form, 'timeZone', 100) ?? '';
    let merchantId = 0;
    const { status, message } = await describeResult(async () => {
      const body = { name: readField(form, 'name', 200) ?? '', ...(timeZone === '' ? {} : { timeZone }) };
      ({ merchantId } = (await this.api.call(viewer, 'POST', '/merchants', body)) as { merchantId: number });
      return '';
    });
    if (status === HttpStatus.OK) await redirect(reply, `/operator/merchants/${merchantId}`);
    else await this.sendList(reply, viewer, 0, { status, message });
  }

  @Get(':merchantId')
  @Allow({ operator: 'view' })
  async show(
    @CallingOperator() viewer: OperatorViewer,
    @Param('merchantId') merchantId: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.send(reply, viewer, requireId(viewer, merchantId));
  }

  @Post(':merchantId/grants')
  @Allow({ operator: 'change', isConfirmed: true })
  async grant(
    @CallingOperator() viewer: OperatorViewer,
    @Param('merchantId') id: string,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const merchantId = requireId(viewer, id);
    const { grants } = await this.api.get<Merchant>(viewer, `/merchants/${merchantId}`);
    const result = await describeResult(async () => {
      await this.api.call(viewer, 'PATCH', `/merchants/${merchantId}`, { grants: changeGrants(grants, form) });
      return 'The grant is set.';
    });
    await this.send(reply, viewer, merchantId, result);
  }

  /** All other forms of the page. */
  @Post(':merchantId/:form')
  @Allow({ operator: 'change', isConfirmed: true })
  async change(
    @CallingOperator() viewer: OperatorViewer,
    @Param('merchantId') id: string,
    @Param('form') name: string,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const merchantId = requireId(viewer, id);
    const change = readMerchantChange(name, merchantId, form);
    if (!change) throw new DomainError('resource.not-found', { message: viewer.texts.errors.notFound });
    let created: [string, string][] = [];
    const result = await describeResult(async () => {
      const response = await this.api.call(viewer, change.method, change.path, change.body);
      created = change.method === 'POST' ? listCreatedValues(response, SHOWN_ONCE) : [];
      return change.done;
    });
    await this.send(reply, viewer, merchantId, { ...result, created });
  }

  private async sendList(
    reply: FastifyReply,
    viewer: OperatorViewer,
    after: number,
    { status, message }: FormResult = {},
  ): Promise<void> {
    const page = await this.api.get<{ merchants: ListedMerchant[]; nextAfter?: number }>(
      viewer,
      `/merchants?after=${after}`,
    );
    await sendPage(reply, status ?? HttpStatus.OK, renderMerchantsPage({ viewer, message, ...page }));
  }

  private async send(
    reply: FastifyReply,
    viewer: OperatorViewer,
    merchantId: number,
    result: FormResult = {},
  ): Promise<void> {
    const { status = HttpStatus.OK, message, created } = result;
    const [merchant, accounts] = await Promise.all([
      this.api.get<Merchant>(viewer, `/merchants/${merchantId}`),
      this.api.get<MerchantAccounts>(viewer, `/merchant-accounts?merchantId=${merchantId}`),
    ]);
    await sendPage(reply, status, renderMerchantPage({ viewer, merchant, accounts, message, created }));
  }
}

function requireId(viewer: OperatorViewer, text: string): number {
  if (!isNumericId(text)) throw new DomainError('resource.not-found', { message: viewer.texts.errors.notFound });
  return Number(text);
}
