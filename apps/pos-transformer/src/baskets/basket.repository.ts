import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { type Reader, Store, type Tx } from '../store/store.js';
import type { BasketLine } from './basket.js';

export type BasketState = 'open' | 'saved' | 'reset' | 'complete' | 'void';

export interface Basket {
  readonly basketId: number;
  /** Random text that identifies the basket in the URL of its QR code. */
  readonly token: string;
  readonly siteId: number;
  readonly till: string;
  /** `lines`: the till sends the basket line by line. `facade`: the till sends whole baskets. */
  readonly dialect: 'lines' | 'facade';
  /** The till's reference of the order. Null before the first total. */
  readonly reference: string | null;
  /** The reference of the basket's invoice at the platform. */
  readonly externalReference: string | null;
  readonly state: BasketState;
}

/** Identifies a till. `till` is the header x-till, or '' if the till sends none. */
export interface Till {
  readonly siteId: number;
  readonly till: string;
}

const COLUMNS = `basket_id AS basketId, token, site_id AS siteId, till, dialect, reference,
  external_reference AS externalReference, state`;

@Injectable()
export class BasketRepository {
  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  create(tx: Tx, { siteId, till }: Till, dialect: Basket['dialect']): Basket {
    const token = randomBytes(16).toString('base64url');
    const { id } = tx.run(
      `INSERT INTO baskets (token, site_id, till, dialect, state, changed_at)
       VALUES (:token, :siteId, :till, :dialect, 'open', :now)`,
      { token, siteId, till, dialect, now: this.clock.nowISO() },
    );
    return { basketId: id, token, siteId, till, dialect, reference: null, externalReference: null, state: 'open' };
  }

  get(basketId: number, from: Reader = this.store): Basket {
    return from.find<Basket>(`SELECT ${COLUMNS} FROM baskets WHERE basket_id = :basketId`, { basketId })!;
  }

  /** The basket that the till fills line by line. */
  findOpen({ siteId, till }: Till): Basket | undefined {
    return this.store.find(
      `SELECT ${COLUMNS} FROM baskets
       WHERE site_id = :siteId AND till = :till AND dialect = 'lines' AND state = 'open'`,
      { siteId, till },
    );
  }

  /**
   * Returns the open or saved basket of the order at this till. If this till has no such basket, returns the saved
   * basket of the order at another till, but only if exactly one exists.
   */
  findOrder({ siteId, till }: Till, reference: string): Basket | undefined {
    const active = this.listOrders(siteId, reference).filter(({ state }) => state === 'open' || state === 'saved');
    return (
      active.find((basket) => basket.till === till) ?? onlyElement(active.filter(({ state }) => state === 'saved'))
    );
  }

  /**
   * Returns the newest basket of an order at this till, open or closed. If this till has no basket of the order,
   * returns the basket at another till of the site, but only if exactly one exists, because a request identifies an
   * order only by MerchantOrderId (T3). Closed baskets count only if no basket is open or saved, because a site may
   * reuse its order numbers.
   */
  findNewestOrder({ siteId, till }: Till, reference: string): Basket | undefined {
    const all = this.listOrders(siteId, reference);
    const active = all.filter(({ state }) => state === 'open' || state === 'saved');
    return all.find((basket) => basket.till === till) ?? onlyElement(active.length > 0 ? active : all);
  }

  /** All baskets of an order at a site, the newest first. */
  private listOrders(siteId: number, reference: string): Basket[] {
    return this.store.list(
      `SELECT ${COLUMNS} FROM baskets
       WHERE site_id = :siteId AND reference = :reference AND dialect = 'facade' ORDER BY basket_id DESC`,
      { siteId, reference },
    );
  }

  /** The newest basket with the reference at one of these sites (T5). */
  findByReference(reference: string, siteIds: readonly number[]): Basket | undefined {
    return this.store.find(
      `SELECT ${COLUMNS} FROM baskets
       WHERE reference = :reference AND site_id IN (SELECT value FROM json_each(:siteIds))
       ORDER BY basket_id DESC LIMIT 1`,
      { reference, siteIds: JSON.stringify(siteIds) },
    );
  }

  findByToken(token: string): Basket | undefined {
    return this.store.find(`SELECT ${COLUMNS} FROM baskets WHERE token = :token`, { token });
  }

  /** The basket for the customer display: the open basket of the till that changed last. */
  findDisplayed({ siteId, till }: Till): Basket | undefined {
    return this.store.find(
      `SELECT ${COLUMNS} FROM baskets WHERE site_id = :siteId AND till = :till AND state = 'open'
       ORDER BY changed_at DESC, basket_id DESC LIMIT 1`,
      { siteId, till },
    );
  }

  /** Whether another open or saved basket of the site uses the external reference. */
  isExternalReferenceUsed(siteId: number, externalReference: string, exceptBasketId: number): boolean {
    const other = this.store.find(
      `SELECT 1 FROM baskets WHERE site_id = :siteId AND external_reference = :externalReference
         AND state IN ('open', 'saved') AND basket_id <> :exceptBasketId`,
      { siteId, externalReference, exceptBasketId },
    );
    return other !== undefined;
  }

  setReference(tx: Tx, basketId: number, reference: string, externalReference: string): void {
    tx.run(
      `UPDATE baskets SET reference = :reference, external_reference = :externalReference, changed_at = :now
       WHERE basket_id = :basketId`,
      { basketId, reference, externalReference, now: this.clock.nowISO() },
    );
  }

  /** Assigns a saved basket to the till that resumes it. */
  moveToTill(tx: Tx, basketId: number, till: string): void {
    tx.run('UPDATE baskets SET till = :till WHERE basket_id = :basketId', { basketId, till });
  }

  setState(tx: Tx, basketId: number, state: BasketState): void {
    tx.run('UPDATE baskets SET state = :state, changed_at = :now WHERE basket_id = :basketId', {
      basketId,
      state,
      now: this.clock.nowISO(),
    });
  }

  listLines(basketId: number): BasketLine[] {
    return this.store
      .list<{ line: string }>('SELECT line FROM lines WHERE basket_id = :basketId ORDER BY position', { basketId })
      .map(({ line }) => JSON.parse(line) as BasketLine);
  }

  putLine(tx: Tx, basketId: number, line: BasketLine): void {
    tx.run(
      `INSERT INTO lines (basket_id, line_id, position, line)
       VALUES (:basketId, :lineId, (SELECT coalesce(max(position), 0) + 1 FROM lines WHERE basket_id = :basketId), :line)
       ON CONFLICT (basket_id, line_id) DO UPDATE SET line = excluded.line`,
      { basketId, lineId: line.id, line: JSON.stringify(line) },
    );
    this.updateChangedAt(tx, basketId);
  }

  removeLine(tx: Tx, basketId: number, lineId: number): void {
    tx.run('DELETE FROM lines WHERE basket_id = :basketId AND line_id = :lineId', { basketId, lineId });
    this.updateChangedAt(tx, basketId);
  }

  private updateChangedAt(tx: Tx, basketId: number): void {
    tx.run('UPDATE baskets SET changed_at = :now WHERE basket_id = :basketId', {
      basketId,
      now: this.clock.nowISO(),
    });
  }
}

function onlyElement(baskets: readonly Basket[]): Basket | undefined {
  return baskets.length === 1 ? baskets[0] : undefined;
}
