import type { Mode } from '../events/credentials.js';
import { commandType } from '../events/envelope.js';

/**
 * Commands of the reconciliation. A book is one service's record of payments. payment-processor compares each book with
 * its own tables. It first compares the digests. If a digest differs, it compares the rows. docs/reconciliation.md
 * defines the rows of each book.
 */

/** A time range of a book. docs/reconciliation.md defines which date of a row counts. */
export interface BookRange {
  /**
   * ISO 8601 UTC, inclusive.
   * @schema date-time
   */
  readonly from: string;
  /**
   * ISO 8601 UTC, exclusive.
   * @schema date-time
   */
  readonly until: string;
}

/** Requests a digest of the book for each merchant and mode. */
export interface DigestRequest extends BookRange {
  readonly book: string;
  /** If present, only the digests of this merchant are returned. */
  readonly merchantId?: number;
  /** Merchant and mode of the last digest of the previous page. */
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
  /** Sum of the hashes of the rows, as a decimal number. Equal rows have an equal sum in any order. */
  readonly hash: string;
  /** Number of rows that are not final, or not published yet. */
  readonly open: number;
}

export interface DigestPage {
  /** Ordered by merchant and mode, at most {@link MAX_DIGESTS}. After a full page, request the next page. */
  readonly digests: readonly BookDigest[];
  /**
   * ISO 8601 UTC. Rows before this time have been deleted from the book. Absent if the book deletes no rows.
   * @schema date-time
   */
  readonly keptSince?: string;
}

/** Requests the rows of a merchant and mode. */
export interface LinesRequest extends BookRange, BookOwner {
  readonly book: string;
  /** Key of the last row of the previous page. */
  readonly after?: string;
}

/** The fields that reconciliation compares, by the names used in its reports. */
export type LineFields = Readonly<Record<string, unknown>>;

/** One row of a book. */
export interface BookLine {
  /** Identifies the row; the corresponding rows of two books have the same key. */
  readonly key: string;
  /** Null if the row is not final. The other book may not have such a row yet. */
  readonly line: LineFields | null;
  /** True if the row is not final, or became final a moment ago. A difference must then be ignored. */
  readonly open: boolean;
}

export interface LinesPage {
  /** Ordered by key, at most {@link MAX_BOOK_LINES}. After a full page, request the next page. */
  readonly lines: readonly BookLine[];
}

/** Maximum number of digests in one page. */
export const MAX_DIGESTS = 2_000;
/** Maximum number of sites in one page. */
export const MAX_NOTIFIED_SITES = 2_000;
/** Maximum number of rows in one page. */
export const MAX_BOOK_LINES = 500;

/**
 * A site whose webhook is enabled. It receives a notification of every payment that was accepted at or after `since`.
 */
export interface NotifiedSite {
  readonly merchantId: number;
  readonly siteId: number;
  /**
   * ISO 8601 UTC.
   * @schema date-time
   */
  readonly since: string;
}

/**
 * payment-processor → webhook-dispatcher: the sites whose webhook is enabled, by siteId, at most {@link MAX_NOTIFIED_SITES}.
 */
export const ListNotifiedSitesV1 = commandType<
  { readonly after?: number },
  { readonly sites: readonly NotifiedSite[] }
>('list-notified-sites.v1');

/** payment-processor → the services that have a book of payments: each returns its digests and rows. */
export const DigestNotificationsV1 = commandType<DigestRequest, DigestPage>('digest-notifications.v1');
export const ListNotificationsV1 = commandType<LinesRequest, LinesPage>('list-notifications.v1');
export const DigestSessionsV1 = commandType<DigestRequest, DigestPage>('digest-sessions.v1');
export const ListSessionsV1 = commandType<LinesRequest, LinesPage>('list-sessions.v1');
export const DigestHistoryV1 = commandType<DigestRequest, DigestPage>('digest-history.v1');
export const ListHistoryV1 = commandType<LinesRequest, LinesPage>('list-history.v1');
export const DigestRetrievalV1 = commandType<DigestRequest, DigestPage>('digest-retrieval.v1');
export const ListRetrievalV1 = commandType<LinesRequest, LinesPage>('list-retrieval.v1');
