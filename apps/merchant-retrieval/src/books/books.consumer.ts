import { Controller, Inject } from '@nestjs/common';
import {
  type DigestPage,
  type DigestRequest,
  DigestRetrievalV1,
  type LinesPage,
  type LinesRequest,
  ListRetrievalV1,
} from '@svc/contracts';
import { Clock, invalidField } from '@svc/kernel';
import { MessagePattern, ReconciliationReader } from '@svc/messaging';
import { DataSource } from 'typeorm';
import { lastThreeMonths } from '../payments/windows.js';
import { RETENTION_MS } from '../stream/notification.repository.js';
import { RETRIEVAL_BOOK, STREAM_BOOK } from './retrieval-books.query.js';

/** Added to `keptSince`: another process may have deleted rows earlier, because its clock may be ahead by this time. */
const MAX_CLOCK_SKEW_MS = 300_000;

interface Book {
  readonly reader: ReconciliationReader;
  /** Returns the time since which the book is complete. Older rows may have been deleted. */
  readonly keptSince: () => Date;
}

/**
 * Responds to the requests of payment-processor, which compares the payments of a day between services. A book is the
 * list of rows that a service has for the payments of a day (docs/reconciliation.md). This service has two books:
 * `retrieval` contains the payments that merchants can look up, and `stream` contains the events that streams send to
 * merchants. `digest` returns a hash and a total for each merchant and mode. `list` returns the rows.
 */
@Controller()
export class BooksConsumer {
  private readonly books: ReadonlyMap<string, Book>;

  constructor(@Inject(DataSource) dataSource: DataSource, @Inject(Clock) clock: Clock) {
    this.books = new Map<string, Book>([
      [
        'retrieval',
        {
          reader: new ReconciliationReader(dataSource, RETRIEVAL_BOOK),
          keptSince: () => lastThreeMonths(clock.now()).from,
        },
      ],
      [
        'stream',
        { reader: new ReconciliationReader(dataSource, STREAM_BOOK), keptSince: () => clock.later(-RETENTION_MS) },
      ],
    ]);
  }

  @MessagePattern(DigestRetrievalV1)
  async digest(request: DigestRequest): Promise<DigestPage> {
    const { reader, keptSince } = this.getBook(request.book);
    const oldest = new Date(keptSince().getTime() + MAX_CLOCK_SKEW_MS);
    return { ...(await reader.digests(request, request)), keptSince: oldest.toISOString() };
  }

  @MessagePattern(ListRetrievalV1)
  async list(request: LinesRequest): Promise<LinesPage> {
    return this.getBook(request.book).reader.lines(request, request, request);
  }

  private getBook(name: string): Book {
    const book = this.books.get(name);
    if (!book) throw invalidField('book', 'book must be retrieval or stream');
    return book;
  }
}
