import { Controller, Inject } from '@nestjs/common';
import {
  type DigestPage,
  DIGESTS_MAX,
  DigestNotificationsV1,
  type DigestRequest,
  type LinesPage,
  type LinesRequest,
  ListNotificationsV1,
  ListNotifiedSitesV1,
  type NotifiedSite,
} from '@svc/contracts';
import { invalidField } from '@svc/kernel';
import { BookReader, isoTime, MessagePattern } from '@svc/messaging';
import { DataSource } from 'typeorm';
import { ENABLED_FOR, SESSION_NOTIFICATIONS_BOOK, SITE_NOTIFICATIONS_BOOK } from './notification-books.js';

/** Answers which notifications there are of a day, for reconciliation: those of sessions (`notifications`) and of sites (`webhooks`). */
@Controller()
export class BooksConsumer {
  private readonly books: ReadonlyMap<string, BookReader>;

  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {
    this.books = new Map([
      ['notifications', new BookReader(dataSource, SESSION_NOTIFICATIONS_BOOK)],
      ['webhooks', new BookReader(dataSource, SITE_NOTIFICATIONS_BOOK)],
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
    const sites = await this.dataSource.query<NotifiedSite[]>(
      `SELECT merchant_id AS "merchantId", site_id AS "siteId", ${isoTime(`(notified_since + ${ENABLED_FOR})`)} AS since FROM sites
        WHERE webhook_enabled AND notified_since IS NOT NULL AND site_id > $1 ORDER BY site_id LIMIT ${DIGESTS_MAX}`,
      [after ?? 0],
    );
    return { sites };
  }

  private getBook(name: string): BookReader {
    const book = this.books.get(name);
    if (!book) throw invalidField('book', 'book must be notifications or webhooks');
    return book;
  }
}
