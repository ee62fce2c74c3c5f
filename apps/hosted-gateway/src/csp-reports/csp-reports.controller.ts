import { Controller, Headers, HttpCode, HttpStatus, Inject, Post, UseGuards } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { SkipThrottle } from '@nestjs/throttler';
import { metrics } from '@opentelemetry/api';
import { DomainError } from '@svc/kernel';
import type { FastifyInstance } from 'fastify';
import { AddressRateLimitGuard } from '../address-rate-limit.guard.js';
import { SameOriginGuard } from '../pay/same-origin.guard.js';

/** A browser's report is below 2 KB, but a request may contain several. */
const MAX_REPORT_BYTES = 16 * 1024;
/** Media types of reports: for `report-uri` and for `report-to`. */
const REPORT_TYPES = ['application/csp-report', 'application/reports+json'];
/** Limit for each IP address (browsers batch reports); more are rejected and not counted. */
export const MAX_REPORTS_PER_MINUTE = 100;

/**
 * Counts violations of the payment page's content security policy, as browsers report them. A growing number means that
 * foreign content is in payers' pages. SameOriginGuard rejects reports that another website triggers, but any program can send them,
 * and a report contains addresses that a payer has visited. Therefore its content is neither read nor stored.
 */
@Controller('pay/csp-reports')
export class CspReportsController {
  private readonly reports = metrics.getMeter('@svc/hosted-gateway').createCounter('svc.page.csp-reports');

  constructor(@Inject(HttpAdapterHost) { httpAdapter }: HttpAdapterHost) {
    const fastify = httpAdapter.getInstance<FastifyInstance>();
    const bound = { parseAs: 'buffer', bodyLimit: MAX_REPORT_BYTES } as const;
    fastify.addContentTypeParser(REPORT_TYPES, bound, (_request, _body, done) => done(null, undefined));
  }

  @Post()
  @HttpCode(HttpStatus.NO_CONTENT)
  @UseGuards(SameOriginGuard, AddressRateLimitGuard)
  @SkipThrottle({ keyless: true, payments: true })
  report(@Headers('content-type') contentType = ''): void {
    const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
    if (!REPORT_TYPES.includes(type)) throw new DomainError('request.unsupported-media-type');
    this.reports.add(1);
  }
}
