import { Controller, Inject } from '@nestjs/common';
import {
  type DigestPage,
  type DigestRequest,
  DigestSessionsV1,
  type LinesPage,
  type LinesRequest,
  ListReportedPaymentsV1,
  ListSessionsV1,
  MAX_REPORTED_PAYMENTS,
  type ReportedPayment,
  type ReportedPaymentsRequest,
} from '@svc/contracts';
import { MessagePattern, ReconciliationReader } from '@svc/messaging';
import { DataSource } from 'typeorm';
import { listReportedPayments } from './list-reported-payments.query.js';
import { SESSIONS_BOOK } from './sessions-book.query.js';

/**
 * Responds to the queries of the daily reconciliation (docs/reconciliation.md): totals and details of the session
 * payments that were accepted on a day. The list of these payments is the `sessions` book of this service.
 */
@Controller()
export class BooksConsumer {
  private readonly sessions: ReconciliationReader;

  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {
    this.sessions = new ReconciliationReader(dataSource, SESSIONS_BOOK);
  }

  @MessagePattern(DigestSessionsV1)
  digest(request: DigestRequest): Promise<DigestPage> {
    return this.sessions.digests(request, request);
  }

  @MessagePattern(ListSessionsV1)
  list(request: LinesRequest): Promise<LinesPage> {
    return this.sessions.lines(request, request, request);
  }

  /** For a payment-processor whose database was restored (docs/backup.md). Returns at most as many payments as references. */
  @MessagePattern(ListReportedPaymentsV1)
  async listReported({
    paymentReferences,
  }: ReportedPaymentsRequest): Promise<{ payments: readonly ReportedPayment[] }> {
    return {
      payments: await listReportedPayments(this.dataSource, paymentReferences.slice(0, MAX_REPORTED_PAYMENTS)),
    };
  }
}
