import { Controller, Inject } from '@nestjs/common';
import {
  DigestHistoryV1,
  type DigestPage,
  type DigestRequest,
  type LinesPage,
  type LinesRequest,
  ListHistoryV1,
} from '@svc/contracts';
import { MessagePattern, ReconciliationReader } from '@svc/messaging';
import { DataSource } from 'typeorm';
import { HISTORY_BOOK } from './history-book.query.js';

/** Digests and lists the payments of the history, for reconciliation. */
@Controller()
export class BooksConsumer {
  private readonly history: ReconciliationReader;

  constructor(@Inject(DataSource) dataSource: DataSource) {
    this.history = new ReconciliationReader(dataSource, HISTORY_BOOK);
  }

  @MessagePattern(DigestHistoryV1)
  digest(request: DigestRequest): Promise<DigestPage> {
    return this.history.digests(request, request);
  }

  @MessagePattern(ListHistoryV1)
  list(request: LinesRequest): Promise<LinesPage> {
    return this.history.lines(request, request, request);
  }
}
