import { Get, HttpStatus, Inject, Param, Post, Query, Res } from '@nestjs/common';
import { type AdministeredService, MESSAGING_SERVICES } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import type { FastifyReply } from 'fastify';
import { Allow, CallingOperator, PageController } from '../../access/access.guard.js';
import { sendPage } from '../../layout/page-sender.js';
import type { OperatorViewer } from '../../viewer/viewer.js';
import { AdministrationApi } from '../administration/administration-api.js';
import { describeResult, type FormResult } from '../administration/form-result.js';
import { type DeadLetterPage, renderDeadLettersPage } from './dead-letters-page.js';
import { type Circuit, renderServicesPage, type ServiceLine, type ServiceStatus } from './services-page.js';

/** The state of the services, and their dead letters. */
@PageController('operator/services')
export class ServicesController {
  constructor(@Inject(AdministrationApi) private readonly api: AdministrationApi) {}

  @Get()
  @Allow({ operator: 'view' })
  async list(@CallingOperator() viewer: OperatorViewer, @Res() reply: FastifyReply): Promise<void> {
    const [services, circuits] = await Promise.all([
      Promise.all(MESSAGING_SERVICES.map((service) => this.readStatus(viewer, service))),
      this.api
        .get<{ circuits: Circuit[] }>(viewer, '/notifications/circuits')
        .then((response) => response.circuits)
        .catch(() => undefined),
    ]);
    await sendPage(reply, HttpStatus.OK, renderServicesPage({ viewer, services, circuits }));
  }

  @Get(':service')
  @Allow({ operator: 'view' })
  async show(
    @CallingOperator() viewer: OperatorViewer,
    @Param('service') service: string,
    @Query('after') after: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const query = typeof after === 'string' ? `?after=${encodeURIComponent(after)}` : '';
    await this.send(reply, viewer, requireService(viewer, service), query);
  }

  @Post(':service/replays')
  @Allow({ operator: 'change', isConfirmed: true })
  async replayMany(
    @CallingOperator() viewer: OperatorViewer,
    @Param('service') service: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const name = requireService(viewer, service);
    const result = await describeResult(async () => {
      const page = await this.api.call(viewer, 'POST', `/dead-letters/${name}/replays`);
      const { replayed, failed } = page as { replayed: number; failed: number };
      return `${replayed} replayed, ${failed} failed again.`;
    });
    await this.send(reply, viewer, name, '', result);
  }

  @Post(':service/:messageId/replay')
  @Allow({ operator: 'change', isConfirmed: true })
  async replay(
    @CallingOperator() viewer: OperatorViewer,
    @Param('service') service: string,
    @Param('messageId') messageId: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const name = requireService(viewer, service);
    const result = await describeResult(async () => {
      await this.api.call(viewer, 'POST', `/dead-letters/${name}/${encodeURIComponent(messageId)}/replay`);
      return 'The event was handled.';
    });
    await this.send(reply, viewer, name, '', result);
  }

  @Post(':service/:messageId/drop')
  @Allow({ operator: 'change', isConfirmed: true })
  async drop(
    @CallingOperator() viewer: OperatorViewer,
    @Param('service') service: string,
    @Param('messageId') messageId: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const name = requireService(viewer, service);
    const result = await describeResult(async () => {
      await this.api.call(viewer, 'DELETE', `/dead-letters/${name}/${encodeURIComponent(messageId)}`);
      return 'The event was dropped.';
    });
    await this.send(reply, viewer, name, '', result);
  }

  private async send(
    reply: FastifyReply,
    viewer: OperatorViewer,
    service: AdministeredService,
    query: string,
    { status, message }: FormResult = {},
  ): Promise<void> {
    const page = await this.api.get<DeadLetterPage>(viewer, `/dead-letters/${service}${query}`);
    await sendPage(reply, status ?? HttpStatus.OK, renderDeadLettersPage({ viewer, service, message, ...page }));
  }

  /** A service that does not respond does not hide the others. */
  private async readStatus(viewer: OperatorViewer, service: AdministeredService): Promise<ServiceLine> {
    return this.api
      .get<ServiceStatus>(viewer, `/status/${service}`)
      .catch(() => ({ service, problem: 'does not respond' }));
  }
}

function requireService(viewer: OperatorViewer, text: string): AdministeredService {
  const service = MESSAGING_SERVICES.find((name) => name === text);
  if (service === undefined) throw new DomainError('resource.not-found', { message: viewer.texts.errors.notFound });
  return service;
}
