import type { Mode } from '../events/credentials.js';
import { commandType } from '../events/envelope.js';

/** A time range of a book: rows are dated as docs/reconciliation.md says of each book. */
export interface BookRange {
  /** ISO 8601 UTC, inside. */
  readonly from: string;
  /** ISO 8601 UTC, outside. */
  readonly until: string;
}

/** Asks for one digest of each merchant and mode. */
export interface DigestRequest extends BookRange {
  readonly book: string;
  /** Only of this merchant. */
  readonly merchantId?: number;
  /** The last row of the page before. */
  readonly after?: BookOwner;
}

/** Whose rows a digest or a page is about. */
export interface BookOwner {
  readonly merchantId: number;
  readonly mode: Mode;
}

/** All rows that a book has of a merchant and mode in a range, in one row. */
export interface BookDigest extends BookOwner {
  readonly count: number;
  /** Cents. */
  readonly amount: number;
  /** Sum of the hashes of the lines: equal for equal lines in any order. Decimal. */
  readonly hash: string;
  /** Rows that are not final, or not handed over yet. */
  readonly open: number;
}

export interface DigestPage {
  /** By merchant and mode, at most {@link DIGESTS_MAX}: where there are as many, a next page may follow. */
  readonly digests: readonly BookDigest[];
  /** ISO 8601 UTC. The book has removed older rows; absent where it keeps everything. */
  readonly keptSince?: string;
}

/** Asks for the rows themselves. */
export interface LinesRequest extends BookRange, BookOwner {
  readonly book: string;
  /** The last key of the page before. */
  readonly after?: string;
}

/** The members that two books must agree on, by the names under which a difference is reported. */
export type LineFields = Readonly<Record<string, unknown>>;

export interface BookLine {
  /** The same in both books. */
  readonly key: string;
  /** Null: the row is not final, so the other book need not have it. */
  readonly line: LineFields | null;
  /** The row is not final, or became final a moment ago: a difference means nothing yet. */
  readonly open: boolean;
}

export interface LinesPage {
  /** By key, at most {@link LINES_MAX}: where there are as many, a next page may follow. */
  readonly lines: readonly BookLine[];
}

export const DIGESTS_MAX = 2_000;
export const LINES_MAX = 500;

/** A site whose webhook is enabled: it is notified of every payment that is accepted from `since` on. */
export interface NotifiedSite {
  readonly merchantId: number;
  readonly siteId: number;
  /** ISO 8601 UTC. */
  readonly since: string;
}

/** payment-processor → webhook-dispatcher: the sites whose webhook is enabled, by siteId, at most {@link DIGESTS_MAX}. */
export const ListNotifiedSitesV1 = commandType<
  { readonly after?: number },
  { readonly sites: readonly NotifiedSite[] }
>('list-notified-sites.v1');

/** payment-processor → the services that keep a book of payments: what each of them has, to be compared with its own tables. */
export const DigestNotificationsV1 = commandType<DigestRequest, DigestPage>('digest-notifications.v1');
export const ListNotificationsV1 = commandType<LinesRequest, LinesPage>('list-notifications.v1');
export const DigestSessionsV1 = commandType<DigestRequest, DigestPage>('digest-sessions.v1');
export const ListSessionsV1 = commandType<LinesRequest, LinesPage>('list-sessions.v1');
export const DigestHistoryV1 = commandType<DigestRequest, DigestPage>('digest-history.v1');
export const ListHistoryV1 = commandType<LinesRequest, LinesPage>('list-history.v1');
export const DigestRetrievalV1 = commandType<DigestRequest, DigestPage>('digest-retrieval.v1');
export const ListRetrievalV1 = commandType<LinesRequest, LinesPage>('list-retrieval.v1');
