import { Inject, Injectable } from '@nestjs/common';
import {
  type BookLine,
  type BookOwner,
  type BookRange,
  DigestHistoryV1,
  DigestNotificationsV1,
  type DigestPage,
  type DigestRequest,
  DigestRetrievalV1,
  DigestSessionsV1,
  type LinesPage,
  type LinesRequest,
  ListHistoryV1,
  ListNotificationsV1,
  ListNotifiedSitesV1,
  ListRetrievalV1,
  ListSessionsV1,
  MAX_BOOK_LINES,
  MAX_DIGESTS,
  type NotifiedSite,
} from '@svc/contracts';
import { Commands, type DigestOptions, type LinesOptions, ReconciliationReader } from '@svc/messaging';
import { DataSource } from 'typeorm';
import {
  EXPECTED_HISTORY,
  EXPECTED_NOTIFICATIONS,
  EXPECTED_RETRIEVAL,
  EXPECTED_SESSIONS,
  EXPECTED_STREAM,
  EXPECTED_WEBHOOKS,
} from './expected-books.query.js';
import { EXPECTED_LEDGER, LEDGER_BOOK } from './ledger-book.query.js';
import { EXPECTED_STATEMENT, STATEMENT_BOOK } from './statement-book.query.js';

/** Books that are compared with the payments, in the order of the report. */
export const BOOK_NAMES = [
  'ledger',
  'acquirer',
  'notifications',
  'webhooks',
  'stream',
  'retrieval',
  'history',
  'sessions',
] as const;
export type BookName = (typeof BOOK_NAMES)[number];

/** One side of a comparison. */
export interface Side {
  digests(range: BookRange, options: Pick<DigestOptions, 'merchantId' | 'after'>): Promise<DigestPage>;
  lines(range: BookRange, owner: BookOwner, options: Pick<LinesOptions, 'after'>): Promise<LinesPage>;
}

export interface Comparison {
  readonly name: BookName;
  readonly expected: Side;
  readonly found: Side;
}

/** Parameters of a run for the SQL statements, in addition to the range. */
export interface RunParameters {
  readonly runId: string;
  readonly watermark: Date;
  /** Notices of the reversals in the range, see {@link ReversalNoticesQuery}. */
  readonly reversals: (range: BookRange) => Promise<string>;
  readonly notifiedSites: readonly NotifiedSite[];
}

/** A digest reads an hour of a table; its statement timeout is 15 s. */
const RESPONSE_TIMEOUT_MS = 20_000;

/** The books of all services: this service's by SQL, those of other services by commands. */
@Injectable()
export class Books {
  private readonly expected: Readonly<Record<BookName, ReconciliationReader>>;
  private readonly ledger: ReconciliationReader;
  private readonly statement: ReconciliationReader;

  constructor(
    @Inject(DataSource) dataSource: DataSource,
    @Inject(Commands) private readonly commands: Commands,
  ) {
    this.expected = {
      ledger: new ReconciliationReader(dataSource, EXPECTED_LEDGER),
      acquirer: new ReconciliationReader(dataSource, EXPECTED_STATEMENT, 1),
      notifications: new ReconciliationReader(dataSource, EXPECTED_NOTIFICATIONS, 1),
      webhooks: new ReconciliationReader(dataSource, EXPECTED_WEBHOOKS, 3),
      stream: new ReconciliationReader(dataSource, EXPECTED_STREAM, 2),
      retrieval: new ReconciliationReader(dataSource, EXPECTED_RETRIEVAL, 1),
      history: new ReconciliationReader(dataSource, EXPECTED_HISTORY, 1),
      sessions: new ReconciliationReader(dataSource, EXPECTED_SESSIONS, 1),
    };
    this.ledger = new ReconciliationReader(dataSource, LEDGER_BOOK);
    this.statement = new ReconciliationReader(dataSource, STATEMENT_BOOK, 1);
  }

  comparisons({ runId, watermark, reversals, notifiedSites }: RunParameters): Comparison[] {
    const none = () => Promise.resolve([]);
    const since = () => Promise.resolve([watermark]);
    const noticed = async (range: BookRange) => [watermark, await reversals(range)];
    const notified = async (range: BookRange) => [...(await noticed(range)), JSON.stringify(notifiedSites)];
    const sides: Readonly<Record<BookName, [(range: BookRange) => Promise<unknown[]>, Side]>> = {
      ledger: [none, sideOf(this.ledger, none)],
      acquirer: [since, sideOf(this.statement, () => Promise.resolve([runId]))],
      notifications: [since, this.notifications('notifications')],
      webhooks: [notified, this.notifications('webhooks')],
      stream: [noticed, this.retrieval('stream')],
      retrieval: [since, this.retrieval('retrieval')],
      history: [since, this.history()],
      sessions: [since, this.sessions()],
    };
    return BOOK_NAMES.map((name) => {
      const [extras, found] = sides[name];
      return { name, expected: sideOf(this.expected[name], extras), found };
    });
  }

  /** Sites with an enabled webhook. */
  async listNotifiedSites(): Promise<NotifiedSite[]> {
    const all: NotifiedSite[] = [];
    for (let last: NotifiedSite | undefined; ; last = all.at(-1)) {
      const page = last ? { after: last.siteId } : {};
      const { sites } = await this.commands.request(ListNotifiedSitesV1, page, RESPONSE_TIMEOUT_MS);
      all.push(...sites);
      if (sites.length < MAX_DIGESTS) return all;
    }
  }

  private notifications(book: string): Side {
    return remoteSide(
      book,
      (request) => this.commands.request(DigestNotificationsV1, request, RESPONSE_TIMEOUT_MS),
      (request) => this.commands.request(ListNotificationsV1, request, RESPONSE_TIMEOUT_MS),
    );
  }

  private retrieval(book: string): Side {
    return remoteSide(
      book,
      (request) => this.commands.request(DigestRetrievalV1, request, RESPONSE_TIMEOUT_MS),
      (request) => this.commands.request(ListRetrievalV1, request, RESPONSE_TIMEOUT_MS),
    );
  }

  private history(): Side {
    return remoteSide(
      'history',
      (request) => this.commands.request(DigestHistoryV1, request, RESPONSE_TIMEOUT_MS),
      (request) => this.commands.request(ListHistoryV1, request, RESPONSE_TIMEOUT_MS),
    );
  }

  private sessions(): Side {
    return remoteSide(
      'sessions',
      (request) => this.commands.request(DigestSessionsV1, request, RESPONSE_TIMEOUT_MS),
      (request) => this.commands.request(ListSessionsV1, request, RESPONSE_TIMEOUT_MS),
    );
  }
}

function sideOf(reader: ReconciliationReader, extrasOf: (range: BookRange) => Promise<unknown[]>): Side {
  return {
    digests: async (range, options) => reader.digests(range, { ...options, extraParameters: await extrasOf(range) }),
    lines: async (range, owner, options) =>
      reader.lines(range, owner, { ...options, extraParameters: await extrasOf(range) }),
  };
}

function remoteSide(
  book: string,
  digest: (request: DigestRequest) => Promise<DigestPage>,
  list: (request: LinesRequest) => Promise<LinesPage>,
): Side {
  return {
    digests: ({ from, until }, { merchantId, after }) =>
      digest({ book, from, until, ...(merchantId === undefined ? {} : { merchantId }), ...(after ? { after } : {}) }),
    lines: ({ from, until }, { merchantId, mode }, { after }) =>
      list({ book, from, until, merchantId, mode, ...(after === undefined ? {} : { after }) }),
  };
}

/** The lines of a side, read page by page. */
export async function* linesOf(side: Side, range: BookRange, owner: BookOwner): AsyncGenerator<BookLine> {
  for (let after: string | undefined; ;) {
    const { lines } = await side.lines(range, owner, { after });
    yield* lines;
    if (lines.length < MAX_BOOK_LINES) return;
    after = lines.at(-1)!.key;
  }
}
