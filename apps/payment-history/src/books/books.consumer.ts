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

/**
 * Serves the reconciliation run of payment-processor. A book is the list of rows that a service must have for the
 * payments of a day (docs/reconciliation.md). The book of this service is `history`. `digest` returns one hash and one
 * total for each merchant and mode. `list` returns the rows.
 */
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
