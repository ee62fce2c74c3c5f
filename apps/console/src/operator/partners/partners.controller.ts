import { Body, Get, HttpStatus, Inject, Param, Post, Query, Res } from '@nestjs/common';
import { DomainError, isUuid } from '@svc/kernel';
import type { FastifyReply } from 'fastify';
import { Allow, CallingOperator, PageController } from '../../access/access.guard.js';
import { readField } from '../../layout/forms.js';
import { redirect, sendPage } from '../../layout/page-sender.js';
import type { OperatorViewer } from '../../viewer/viewer.js';
import { AdministrationApi } from '../administration/administration-api.js';
import { listCreatedValues } from '../administration/created-values.js';
import { describeResult, type FormResult } from '../administration/form-result.js';
import { type Partner, type PartnerCredential, renderPartnerPage, renderPartnersPage } from './partners-page.js';

/** On-boarding of partners. */
@PageController('operator/partners')
export class PartnerPagesController {
  constructor(@Inject(AdministrationApi) private readonly api: AdministrationApi) {}

  @Get()
  @Allow({ operator: 'view' })
  async list(
    @CallingOperator() viewer: OperatorViewer,
    @Query('after') after: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.sendList(reply, viewer, isUuid(after) ? `?after=${after}` : '');
  }

  @Post()
  @Allow({ operator: 'change', isConfirmed: true })
  async create(
    @CallingOperator() viewer: OperatorViewer,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    let organisationId = '';
    const { status, message } = await describeResult(async () => {
      const body = { name: readField(form, 'name', 200) ?? '' };
      ({ organisationId } = (await this.api.call(viewer, 'POST', '/organisations', body)) as Partner);
      return '';
    });
    if (status === HttpStatus.OK) await redirect(reply, `/operator/partners/${organisationId}`);
    else await this.sendList(reply, viewer, '', { status, message });
  }

  @Get(':organisationId')
  @Allow({ operator: 'view' })
  async show(
    @CallingOperator() viewer: OperatorViewer,
    @Param('organisationId') organisationId: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.send(reply, viewer, requireId(viewer, organisationId));
  }

  @Post(':organisationId/keys')
  @Allow({ operator: 'change', isConfirmed: true })
  async createKey(
    @CallingOperator() viewer: OperatorViewer,
    @Param('organisationId') organisationId: string,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.createCredential(reply, viewer, requireId(viewer, organisationId), 'keys', form);
  }

  @Post(':organisationId/api-tokens')
  @Allow({ operator: 'change', isConfirmed: true })
  async createToken(
    @CallingOperator() viewer: OperatorViewer,
    @Param('organisationId') organisationId: string,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.createCredential(reply, viewer, requireId(viewer, organisationId), 'api-tokens', form);
  }

  private async createCredential(
    reply: FastifyReply,
    viewer: OperatorViewer,
    organisationId: string,
    kind: 'keys' | 'api-tokens',
    form: unknown,
  ): Promise<void> {
    const mode = readField(form, 'mode', 4) === 'live' ? 'live' : 'test';
    let created: [string, string][] = [];
    const result = await describeResult(async () => {
      const response = await this.api.call(viewer, 'POST', `/organisations/${organisationId}/${kind}`, { mode });
      created = listCreatedValues(response, ['apiKey', 'apiToken']);
      return kind === 'keys' ? 'The key is created.' : 'The token is created.';
    });
    await this.send(reply, viewer, organisationId, { ...result, created });
  }

  private async sendList(
    reply: FastifyReply,
    viewer: OperatorViewer,
    query: string,
    { status = HttpStatus.OK, message }: FormResult = {},
  ): Promise<void> {
    const { organisations: partners, nextAfter } = await this.api.get<{
      organisations: Partner[];
      nextAfter?: string;
    }>(viewer, `/organisations${query}`);
    await sendPage(reply, status, renderPartnersPage({ viewer, partners, nextAfter, message }));
  }

  private async send(
    reply: FastifyReply,
    viewer: OperatorViewer,
    organisationId: string,
    { status = HttpStatus.OK, message, created }: FormResult = {},
  ): Promise<void> {
    const path = `/organisations/${organisationId}`;
    const [partner, { keys }, { apiTokens }] = await Promise.all([
      this.api.get<Partner>(viewer, path),
      this.api.get<{ keys: PartnerCredential[] }>(viewer, `${path}/keys`),
      this.api.get<{ apiTokens: PartnerCredential[] }>(viewer, `${path}/api-tokens`),
    ]);
    const html = renderPartnerPage({ viewer, partner, keys, apiTokens, message, created });
    await sendPage(reply, status, html);
  }
}

function requireId(viewer: OperatorViewer, text: string): string {
  if (!isUuid(text)) throw new DomainError('resource.not-found', { message: viewer.texts.errors.notFound });
  return text;
}
