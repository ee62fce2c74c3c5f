import { Controller, Headers, HttpCode, HttpStatus, Inject, Injectable, Post, UseGuards } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { createCounter, DomainError } from '@svc/kernel';
import type { FastifyInstance } from 'fastify';
import { SameOriginGuard } from '../pay/same-origin.guard.js';
import { RateLimitGuard } from '../rate-limit.guard.js';

/** Browsers send reports below 2 KB, but a request may contain several reports. */
const MAX_REPORT_BYTES = 16 * 1024;
/** Media types of reports that browsers send to `report-uri` and to `report-to`. */
const REPORT_TYPES = ['application/csp-report', 'application/reports+json'];
/** Limit of requests from one IP address. Further requests are rejected, and their reports are not counted. */
export const MAX_REPORTS_PER_MINUTE = 100;

/** Rate limit by IP address, for reports of browsers. */
@Injectable()
class ReportsRateLimitGuard extends RateLimitGuard {
  protected readonly throttlerName = 'reports';
}

/**
 * Counts the violations of the payment page's content security policy that browsers report. A growing number means that
 * payers' pages contain foreign content. SameOriginGuard rejects reports from other websites, but any program can send
 * reports. The content of a report is neither read nor stored, because it cannot be trusted and may contain URLs that a
 * payer has visited.
 */
@Controller('pay/csp-reports')
export class CspReportsController {
  private readonly reports = createCounter('svc.page.csp-reports');

  constructor(@Inject(HttpAdapterHost) { httpAdapter }: HttpAdapterHost) {
    const fastify = httpAdapter.getInstance<FastifyInstance>();
    const options = { parseAs: 'buffer', bodyLimit: MAX_REPORT_BYTES } as const;
    fastify.addContentTypeParser(REPORT_TYPES, options, (_request, _body, done) => done(null, undefined));
  }

  @Post()
  @HttpCode(HttpStatus.NO_CONTENT)
  @UseGuards(SameOriginGuard, ReportsRateLimitGuard)
  report(@Headers('content-type') contentType = ''): void {
    const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
    if (!REPORT_TYPES.includes(type)) throw new DomainError('request.unsupported-media-type');
    this.reports.add(1);
  }
}
