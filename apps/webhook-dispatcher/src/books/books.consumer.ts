import { Controller, Inject } from '@nestjs/common';
import {
  DigestNotificationsV1,
  type DigestPage,
  type DigestRequest,
  type LinesPage,
  type LinesRequest,
  ListNotificationsV1,
  ListNotifiedSitesV1,
  type NotifiedSite,
} from '@svc/contracts';
import { invalidField } from '@svc/kernel';
import { MessagePattern, ReconciliationReader } from '@svc/messaging';
import { DataSource } from 'typeorm';
import { listNotifiedSites, SESSION_NOTIFICATIONS_BOOK, SITE_NOTIFICATIONS_BOOK } from './notification-books.query.js';

/**
 * Serves the reconciliation run of payment-processor. A book is the list of rows that a service must have for the
 * payments of a day (docs/reconciliation.md). This service has two books: `notifications` contains the notifications of
 * sessions, `webhooks` contains the notifications of sites. `digest` returns one hash and one total for each merchant
 * and mode. `list` returns the rows.
 */
@Controller()
export class BooksConsumer {
  private readonly books: ReadonlyMap<string, ReconciliationReader>;

  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {
    this.books = new Map([
      ['notifications', new ReconciliationReader(dataSource, SESSION_NOTIFICATIONS_BOOK)],
      ['webhooks', new ReconciliationReader(dataSource, SITE_NOTIFICATIONS_BOOK)],
    ]);
  }

  @MessagePattern(DigestNotificationsV1)
  async digest(request: DigestRequest): Promise<DigestPage> {
    return this.getBook(request.book).digests(request, request);
  }

  @MessagePattern(ListNotificationsV1)
  async list(request: LinesRequest): Promise<LinesPage> {
    return this.getBook(request.book).lines(request, request, request);
  }

  @MessagePattern(ListNotifiedSitesV1)
  async listSites({ after }: { readonly after?: number }): Promise<{ readonly sites: readonly NotifiedSite[] }> {
    return { sites: await listNotifiedSites(this.dataSource, after) };
  }

  private getBook(name: string): ReconciliationReader {
    const book = this.books.get(name);
    if (!book) throw invalidField('book', 'book must be notifications or webhooks');
    return book;
  }
}
