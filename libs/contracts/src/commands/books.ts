import type { Mode } from '../events/credentials.js';
import { commandType } from '../events/envelope.js';

/** A time range of a book. docs/reconciliation.md defines the date of a row for each book. */
export interface BookRange {
  /** ISO 8601 UTC, inclusive. */
  readonly from: string;
  /** ISO 8601 UTC, exclusive. */
  readonly until: string;
}

/** Requests a digest for each merchant and mode. */
export interface DigestRequest extends BookRange {
  readonly book: string;
  /** Only of this merchant. */
  readonly merchantId?: number;
  /** The last row of the previous page. */
  readonly after?: BookOwner;
}

/** The merchant and mode of a digest or a page. */
export interface BookOwner {
  readonly merchantId: number;
  readonly mode: Mode;
}

/** A summary of all rows of a book for a merchant and mode in a range. */
export interface BookDigest extends BookOwner {
  readonly count: number;
  /** Cents. */
  readonly amount: number;
  /** Sum of the hashes of the lines: equal for equal lines in any order. Decimal. */
  readonly hash: string;
  /** Rows that are not final, or not published yet. */
  readonly open: number;
}

export interface DigestPage {
  /** Ordered by merchant and mode, at most {@link MAX_DIGESTS}; a full page may be followed by another. */
  readonly digests: readonly BookDigest[];
  /** ISO 8601 UTC. The book has removed older rows; absent if it keeps everything. */
  readonly keptSince?: string;
}

/** Requests the rows themselves. */
export interface LinesRequest extends BookRange, BookOwner {
  readonly book: string;
  /** The last key of the previous page. */
  readonly after?: string;
}

/** The fields that must be equal in two books, by the names used in reports. */
export type LineFields = Readonly<Record<string, unknown>>;

export interface BookLine {
  /** The same in both books. */
  readonly key: string;
  /** Null: the row is not final, so the other book need not have it. */
  readonly line: LineFields | null;
  /** The row is not final, or became final a moment ago: ignore a difference. */
  readonly open: boolean;
}

export interface LinesPage {
  /** Ordered by key, at most {@link MAX_BOOK_LINES}; a full page may be followed by another. */
  readonly lines: readonly BookLine[];
}

export const MAX_DIGESTS = 2_000;
export const MAX_BOOK_LINES = 500;

/** A site whose webhook is enabled: it is notified of every payment that is accepted from `since` on. */
export interface NotifiedSite {
  readonly merchantId: number;
  readonly siteId: number;
  /** ISO 8601 UTC. */
  readonly since: string;
}

/** payment-processor → webhook-dispatcher: the sites whose webhook is enabled, by siteId, at most {@link MAX_DIGESTS}. */
export const ListNotifiedSitesV1 = commandType<
  { readonly after?: number },
  { readonly sites: readonly NotifiedSite[] }
>('list-notified-sites.v1');

/** payment-processor → the services that keep a book of payments: returns their rows for the comparison with its own tables. */
export const DigestNotificationsV1 = commandType<DigestRequest, DigestPage>('digest-notifications.v1');
export const ListNotificationsV1 = commandType<LinesRequest, LinesPage>('list-notifications.v1');
export const DigestSessionsV1 = commandType<DigestRequest, DigestPage>('digest-sessions.v1');
export const ListSessionsV1 = commandType<LinesRequest, LinesPage>('list-sessions.v1');
export const DigestHistoryV1 = commandType<DigestRequest, DigestPage>('digest-history.v1');
export const ListHistoryV1 = commandType<LinesRequest, LinesPage>('list-history.v1');
export const DigestRetrievalV1 = commandType<DigestRequest, DigestPage>('digest-retrieval.v1');
export const ListRetrievalV1 = commandType<LinesRequest, LinesPage>('list-retrieval.v1');
