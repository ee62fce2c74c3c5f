import { type ArgumentsHost, Catch, type ExceptionFilter, Inject } from '@nestjs/common';
import { SERVICE_LOG, type ServiceLog, toDomainError } from '@svc/service';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { renderErrorPage } from './error-page.js';
import { PageSender } from './page-sender.js';

/** Responds to errors with an HTML page instead of JSON, because customers see the response. */
@Catch()
export class ErrorPageFilter implements ExceptionFilter {
  constructor(
    @Inject(PageSender) private readonly page: PageSender,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  async catch(exception: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = toDomainError(exception);
    const { httpStatus } = error.entry;
    if (httpStatus >= 500)
      this.log.error({ err: exception, requestId: request.id, code: error.code }, 'request failed');
    const message = error.fields.map((field) => field.message).join(' ') || error.message;
    await this.page.send(reply, httpStatus, renderErrorPage(httpStatus, message, request.id));
  }
}
