import { Inject, Injectable } from '@nestjs/common';
import { Clock, DomainError } from '@svc/kernel';
import type { Transaction } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import type { LogoFile } from './logo-image.js';
import type { Logo, LookSettings, MerchantLook } from './look.js';

/** A look with its last change, for administrators and for the people of the merchant. */
export interface StoredLook extends MerchantLook {
  /** Grows by one with each change. */
  readonly version: number;
  readonly setAt: Date;
  /** `admin:` and the fingerprint of the administration key, or `person:` and the id of the person. */
  readonly setBy: string;
}

/** Logos of a merchant that are kept, so that pages and e-mails with an earlier logo still show it. */
const MAX_LOGOS = 10;
/** Looks that a process holds. */
const MAX_LOOKS = 100_000;

const LOOK = `merchant_id AS "merchantId", display_name AS "displayName", accent_colour AS "accentColour",
  support_email AS "supportEmail", support_phone AS "supportPhone", support_url AS "supportUrl", terms_url AS "termsUrl",
  CASE WHEN logo_hash IS NOT NULL
       THEN json_build_object('hash', logo_hash, 'width', logo_width, 'height', logo_height) END AS logo`;

/** Reads and writes the looks of merchants and their logos. */
@Injectable()
export class LookRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async find(merchantId: number): Promise<StoredLook | undefined> {
    const [row] = await this.select(this.dataSource, merchantId, '');
    return row;
  }

  /** The look of a merchant before a change. Until the transaction ends, other changes of the look wait. */
  async lock(tx: Transaction, merchantId: number, setBy: string): Promise<StoredLook> {
    await tx.query(
      `INSERT INTO merchant_looks (merchant_id, version, set_at, set_by) VALUES ($1, 0, $2, $3)
       ON CONFLICT (merchant_id) DO NOTHING`,
      [merchantId, this.clock.now(), setBy],
    );
    const [row] = await this.select(tx, merchantId, 'FOR UPDATE');
    return row!;
  }

  /** Throws `resource.not-found` if this service knows no merchant with this id. */
  async checkMerchant(tx: Transaction, merchantId: number): Promise<void> {
    const rows = await tx.query<unknown[]>(
      `SELECT FROM known_merchants WHERE merchant_id = $1
       UNION ALL SELECT FROM known_sites WHERE merchant_id = $1 LIMIT 1`,
      [merchantId],
    );
    if (rows.length === 0) throw new DomainError('resource.not-found', { message: 'There is no such merchant.' });
  }

  async setSettings(tx: Transaction, merchantId: number, settings: LookSettings, setBy: string): Promise<void> {
    const { displayName, accentColour, supportEmail, supportPhone, supportUrl, termsUrl } = settings;
    await tx.query(
      `UPDATE merchant_looks SET display_name = $2, accent_colour = $3, support_email = $4, support_phone = $5,
              support_url = $6, terms_url = $7, version = version + 1, set_at = $8, set_by = $9,
              set_txid = pg_current_xact_id()
        WHERE merchant_id = $1`,
      [
        merchantId,
        displayName,
        accentColour,
        supportEmail,
        supportPhone,
        supportUrl,
        termsUrl,
        this.clock.now(),
        setBy,
      ],
    );
  }

  /** Stores the logo, and deletes all but the newest {@link MAX_LOGOS} of the merchant. */
  async setLogo(tx: Transaction, merchantId: number, logo: LogoFile, setBy: string): Promise<void> {
    await tx.query(
      `INSERT INTO merchant_logos (merchant_id, hash, image, set_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (merchant_id, hash) DO UPDATE SET set_at = excluded.set_at`,
      [merchantId, logo.hash, logo.bytes, this.clock.now()],
    );
    await tx.query(
      `DELETE FROM merchant_logos WHERE merchant_id = $1 AND hash IN (
         SELECT hash FROM merchant_logos WHERE merchant_id = $1 ORDER BY set_at DESC, hash OFFSET $2)`,
      [merchantId, MAX_LOGOS],
    );
    await this.updateLogo(tx, merchantId, logo, setBy);
  }

  /** Deletes the logo of the merchant, and all earlier ones. */
  async deleteLogos(tx: Transaction, merchantId: number, setBy: string): Promise<void> {
    await tx.query('DELETE FROM merchant_logos WHERE merchant_id = $1', [merchantId]);
    await this.updateLogo(tx, merchantId, null, setBy);
  }

  /** The file of a logo. Needs no owner, because every payer sees it. */
  async findLogoFile(hash: string): Promise<Buffer | undefined> {
    const [row] = await this.dataSource.query<{ image: Buffer }[]>(
      'SELECT image FROM merchant_logos WHERE hash = $1 LIMIT 1',
      [hash],
    );
    return row?.image;
  }

  /**
   * The looks that were committed since an earlier call, and perhaps some before.
   *
   * @param since `readUntil` of the earlier call; '0' for all looks
   */
  async findChanged(since: string): Promise<{ readUntil: string; looks: MerchantLook[] }> {
    const [row] = await this.dataSource.query<[{ readUntil: string; looks: MerchantLook[] }]>(
      `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS "readUntil",
              (SELECT coalesce(json_agg(changed), '[]')
                 FROM (SELECT ${LOOK} FROM merchant_looks WHERE set_txid >= $1::text::xid8
                        ORDER BY set_txid LIMIT $2) AS changed) AS looks`,
      [since, MAX_LOOKS],
    );
    return row;
  }

  private async updateLogo(tx: Transaction, merchantId: number, logo: Logo | null, setBy: string): Promise<void> {
    await tx.query(
      `UPDATE merchant_looks SET logo_hash = $2, logo_width = $3, logo_height = $4, version = version + 1,
              set_at = $5, set_by = $6, set_txid = pg_current_xact_id()
        WHERE merchant_id = $1`,
      [merchantId, logo?.hash ?? null, logo?.width ?? null, logo?.height ?? null, this.clock.now(), setBy],
    );
  }

  private select(db: Pick<EntityManager, 'query'>, merchantId: number, lock: '' | 'FOR UPDATE'): Promise<StoredLook[]> {
    return db.query<StoredLook[]>(
      `SELECT ${LOOK}, version, set_at AS "setAt", set_by AS "setBy" FROM merchant_looks WHERE merchant_id = $1 ${lock}`,
      [merchantId],
    );
  }
}
