import { Controller, Headers, HttpCode, HttpStatus, Inject, Post, UseGuards } from '@nestjs/common';
import { SkipThrottle } from '@nestjs/throttler';
import { HttpAdapterHost } from '@nestjs/core';
import { metrics } from '@opentelemetry/api';
import { DomainError } from '@svc/kernel';
import type { FastifyInstance } from 'fastify';
import { AddressLimit } from '../address-limit.guard.js';
import { SameOrigin } from '../pay/same-origin.guard.js';

/** A browser's report is below 2 KB; several of one page come together. */
const REPORT_BYTES_MAX = 16 * 1024;
/** In which browsers send them: by `report-uri`, and by `report-to`. */
const REPORT_TYPES = ['application/csp-report', 'application/reports+json'];
/** Reports of one address (a browser gathers them); more are refused, and not counted. */
export const REPORTS_PER_MINUTE = 100;

/**
 * Counts what browsers refused by the content security policy of the payment page: a number that grows says that something is
 * in payers' pages that does not belong there. Another site's visitors cannot be made to send some (SameOrigin); anybody else can, and a report names addresses that a payer has seen, so
 * its content is neither read nor kept.
 */
@Controller('pay/csp-reports')
export class CspReportsController {
  private readonly reports = metrics.getMeter('@svc/hosted-gateway').createCounter('svc.page.csp-reports');

  constructor(@Inject(HttpAdapterHost) { httpAdapter }: HttpAdapterHost) {
    const fastify = httpAdapter.getInstance<FastifyInstance>();
    const bound = { parseAs: 'buffer', bodyLimit: REPORT_BYTES_MAX } as const;
    fastify.addContentTypeParser(REPORT_TYPES, bound, (_request, _body, done) => done(null, undefined));
  }

  @Post()
  @HttpCode(HttpStatus.NO_CONTENT)
  @UseGuards(SameOrigin, AddressLimit)
  @SkipThrottle({ keyless: true, payments: true })
  report(@Headers('content-type') contentType = ''): void {
    const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
    if (!REPORT_TYPES.includes(type)) throw new DomainError('request.unsupported-media-type');
    this.reports.add(1);
  }
}
