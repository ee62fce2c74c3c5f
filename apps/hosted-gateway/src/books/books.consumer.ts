import { Controller, Inject } from '@nestjs/common';
import {
  type DigestPage,
  type DigestRequest,
  DigestSessionsV1,
  type LinesPage,
  type LinesRequest,
  ListSessionsV1,
} from '@svc/contracts';
import { MessagePattern, ReconciliationReader } from '@svc/messaging';
import { DataSource } from 'typeorm';
import { SESSIONS_BOOK } from './sessions-book.query.js';

/**
 * Responds to the queries of the daily reconciliation (docs/reconciliation.md): totals and details of the session
 * payments that were accepted on a day. The list of these payments is the `sessions` book of this service.
 */
@Controller()
export class BooksConsumer {
  private readonly sessions: ReconciliationReader;

  constructor(@Inject(DataSource) dataSource: DataSource) {
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
}
