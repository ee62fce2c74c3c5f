import { Inject, Injectable } from '@nestjs/common';
import { TillCodeCreatedV1 } from '@svc/contracts';
import { Clock, newOwnCode } from '@svc/kernel';
import { EventLog, statementWithEvents } from '@svc/messaging';
import { DataSource } from 'typeorm';
import type { InvoiceOwner } from '../invoices/invoice.repository.js';

const CREATE = statementWithEvents({
  writes: `created AS (
         INSERT INTO till_codes (code, mode, merchant_id, site_id, site_reference, created_at)
         VALUES ($code, $mode, $merchantId, $siteId, $siteReference, $now)
         ON CONFLICT (site_id, mode, site_reference) DO NOTHING RETURNING code
       )`,
  changed: 'created',
  aggregateId: 'code',
});

/**
 * Static codes of tills (D5). A code is printed once. It is decoded to the newest open invoice of its till at the time
 * of the request.
 */
@Injectable()
export class TillCodeRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Returns the till's code, or creates it. The code never changes, because it is printed. */
  async getOrCreate(site: InvoiceOwner, siteReference: string): Promise<{ code: string; isNew: boolean }> {
    const newCode = await this.create(site, siteReference);
    if (newCode !== undefined) return { code: newCode, isNew: true };
    const code = await this.find(site, siteReference);
    if (code === undefined) throw new Error('The code of a till can neither be found nor created.');
    return { code, isNew: false };
  }

  /**
   * Writes a new code and its event in one statement. Returns undefined, and writes nothing, if the till has a code
   * already.
   */
  private async create({ mode, merchantId, siteId }: InvoiceOwner, siteReference: string): Promise<string | undefined> {
    const code = newOwnCode();
    const till = { code, mode, merchantId, siteId, siteReference };
    const event = { type: TillCodeCreatedV1, aggregateId: code, aggregateVersion: 1, payload: till };
    const parameters = { ...till, now: this.clock.now() };
    const [created] = await this.events.write(this.dataSource, CREATE, parameters, [this.events.newEnvelope(event)]);
    return created?.aggregateId;
  }

  async find(site: InvoiceOwner, siteReference: string): Promise<string | undefined> {
    const [row] = await this.dataSource.query<{ code: string }[]>(
      `SELECT code FROM till_codes WHERE site_id = $1 AND mode = $2 AND site_reference = $3 AND merchant_id = $4`,
      [site.siteId, site.mode, siteReference, site.merchantId],
    );
    return row?.code;
  }
}
