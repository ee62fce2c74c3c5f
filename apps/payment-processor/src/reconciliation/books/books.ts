import { Inject, Injectable } from '@nestjs/common';
import {
  type BookLine,
  type BookOwner,
  type BookRange,
  DigestHistoryV1,
  DigestNotificationsV1,
  type DigestPage,
  DigestRetrievalV1,
  DigestSessionsV1,
  type LinesPage,
  ListHistoryV1,
  ListNotificationsV1,
  ListNotifiedSitesV1,
  ListRetrievalV1,
  ListSessionsV1,
  MAX_BOOK_LINES,
  MAX_NOTIFIED_SITES,
  type NotifiedSite,
} from '@svc/contracts';
import { Commands, type DigestOptions, type LinesOptions, ReconciliationReader } from '@svc/messaging';
import { DataSource } from 'typeorm';
import { Acquirers } from '../../acquirers/acquirers.js';
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

/**
 * Names of the books, in the order of the report. A book is a set of rows that must correspond to the payments, for
 * example the ledger, the acquirer's statement or a read model of another service. The reconciliation compares each
 * book with the payments.
 */
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

/**
 * A source of the rows of a book. A comparison has two sources: the first one computes the expected rows from the
 * payments, and the second one reads the book.
 */
export interface BookSource {
  digests(range: BookRange, options: Pick<DigestOptions, 'merchantId' | 'after'>): Promise<DigestPage>;
  lines(range: BookRange, owner: BookOwner, options: Pick<LinesOptions, 'after'>): Promise<LinesPage>;
}

/** The expected and the found rows of a book. */
export interface Comparison {
  readonly name: BookName;
  readonly expected: BookSource;
  readonly found: BookSource;
}

/** Parameters of a reconciliation run for the SQL statements, in addition to the range. */
interface RunParameters {
  readonly runId: string;
  readonly watermark: Date;
  /** Notifications of the reversals in the range, see {@link ReversalNotificationsQuery}. */
  readonly reversals: (range: BookRange) => Promise<string>;
  readonly notifiedSites: readonly NotifiedSite[];
}

/** Timeout of the commands to other services. Their statements read one hour of a table, and have a timeout of 15 s. */
const RESPONSE_TIMEOUT_MS = 20_000;

/** The commands that read the books of other services: for the digests, and for the lines. */
const REMOTE_BOOKS = {
  notifications: [DigestNotificationsV1, ListNotificationsV1],
  webhooks: [DigestNotificationsV1, ListNotificationsV1],
  stream: [DigestRetrievalV1, ListRetrievalV1],
  retrieval: [DigestRetrievalV1, ListRetrievalV1],
  history: [DigestHistoryV1, ListHistoryV1],
  sessions: [DigestSessionsV1, ListSessionsV1],
} as const;

/** The books of all services. This service's books are read by SQL, the books of other services by commands. */
@Injectable()
export class ReconciliationBooks {
  private readonly expected: Readonly<Record<BookName, ReconciliationReader>>;
  private readonly ledger: ReconciliationReader;
  private readonly statement: ReconciliationReader;

  constructor(
    @Inject(DataSource) dataSource: DataSource,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
  ) {
    // The last argument is the number of SQL parameters after the range; by default 0.
    this.expected = {
      ledger: new ReconciliationReader(dataSource, EXPECTED_LEDGER),
      acquirer: new ReconciliationReader(dataSource, EXPECTED_STATEMENT, 2),
      notifications: new ReconciliationReader(dataSource, EXPECTED_NOTIFICATIONS, 1),
      webhooks: new ReconciliationReader(dataSource, EXPECTED_WEBHOOKS, 3),
      stream: new ReconciliationReader(dataSource, EXPECTED_STREAM, 2),
      retrieval: new ReconciliationReader(dataSource, EXPECTED_RETRIEVAL, 1),
      history: new ReconciliationReader(dataSource, EXPECTED_HISTORY, 1),
      sessions: new ReconciliationReader(dataSource, EXPECTED_SESSIONS, 1),
    };
    this.ledger = new ReconciliationReader(dataSource, LEDGER_BOOK);
    this.statement = new ReconciliationReader(dataSource, STATEMENT_BOOK, 2);
  }

  buildComparisons({ runId, watermark, reversals, notifiedSites }: RunParameters): Comparison[] {
    const noParameters = () => Promise.resolve([]);
    const watermarkOnly = () => Promise.resolve([watermark]);
    const watermarkAndReversals = async (range: BookRange) => [watermark, await reversals(range)];
    const watermarkReversalsAndSites = async (range: BookRange) => [
      ...(await watermarkAndReversals(range)),
      JSON.stringify(notifiedSites),
    ];
    const sources: Readonly<Record<BookName, [(range: BookRange) => Promise<unknown[]>, BookSource]>> = {
      ledger: [noParameters, localSource(this.ledger, noParameters)],
      acquirer: [
        () => Promise.resolve([watermark, this.acquirers.namesWithSettlementReports]),
        localSource(this.statement, () => Promise.resolve([runId, watermark])),
      ],
      notifications: [watermarkOnly, this.remoteSource('notifications')],
      webhooks: [watermarkReversalsAndSites, this.remoteSource('webhooks')],
      stream: [watermarkAndReversals, this.remoteSource('stream')],
      retrieval: [watermarkOnly, this.remoteSource('retrieval')],
      history: [watermarkOnly, this.remoteSource('history')],
      sessions: [watermarkOnly, this.remoteSource('sessions')],
    };
    return BOOK_NAMES.map((name) => {
      const [getExtraParameters, found] = sources[name];
      return { name, expected: localSource(this.expected[name], getExtraParameters), found };
    });
  }

  /** Sites with an enabled webhook. */
  async listNotifiedSites(): Promise<NotifiedSite[]> {
    const allSites: NotifiedSite[] = [];
    for (let last: NotifiedSite | undefined; ; last = allSites.at(-1)) {
      const page = last ? { after: last.siteId } : {};
      const { sites } = await this.commands.request(ListNotifiedSitesV1, page, RESPONSE_TIMEOUT_MS);
      allSites.push(...sites);
      if (sites.length < MAX_NOTIFIED_SITES) return allSites;
    }
  }

  private remoteSource(book: keyof typeof REMOTE_BOOKS): BookSource {
    const [digest, list] = REMOTE_BOOKS[book];
    return {
      digests: ({ from, until }, { merchantId, after }) => {
        const filter = { ...(merchantId === undefined ? {} : { merchantId }), ...(after ? { after } : {}) };
        return this.commands.request(digest, { book, from, until, ...filter }, RESPONSE_TIMEOUT_MS);
      },
      lines: ({ from, until }, { merchantId, mode }, { after }) => {
        const page = after === undefined ? {} : { after };
        return this.commands.request(list, { book, from, until, merchantId, mode, ...page }, RESPONSE_TIMEOUT_MS);
      },
    };
  }
}

function localSource(
  reader: ReconciliationReader,
  getExtraParameters: (range: BookRange) => Promise<unknown[]>,
): BookSource {
  return {
    digests: async (range, options) =>
      reader.digests(range, { ...options, extraParameters: await getExtraParameters(range) }),
    lines: async (range, owner, options) =>
      reader.lines(range, owner, { ...options, extraParameters: await getExtraParameters(range) }),
  };
}

/** Reads the lines of a book page by page. */
export async function* readLines(side: BookSource, range: BookRange, owner: BookOwner): AsyncGenerator<BookLine> {
  for (let after: string | undefined; ;) {
    const { lines } = await side.lines(range, owner, { after });
    yield* lines;
    if (lines.length < MAX_BOOK_LINES) return;
    after = lines.at(-1)!.key;
  }
}
