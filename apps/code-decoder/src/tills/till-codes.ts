import { Inject, Injectable } from '@nestjs/common';
import { TillCodeMadeV1 } from '@svc/contracts';
import { Clock, newOwnCode } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { DataSource } from 'typeorm';
import type { InvoiceOwner } from '../invoices/invoice.repository.js';

/** Static codes of tills (D5): printed once, they mean whatever is open at the till when they are scanned. */
@Injectable()
export class TillCodes {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** The till's code; made when it has none. A till has one for ever: it is printed. */
  async ensure(site: InvoiceOwner, siteReference: string): Promise<{ code: string; made: boolean }> {
    const made = await this.make(site, siteReference);
    if (made !== undefined) return { code: made, made: true };
    const code = await this.find(site, siteReference);
    if (code === undefined) throw new Error('The code of a till is neither there nor to be made.');
    return { code, made: false };
  }

  /** Code and event in one statement. Undefined when the till has one. */
  private async make({ mode, merchantId, siteId }: InvoiceOwner, siteReference: string): Promise<string | undefined> {
    const code = newOwnCode();
    const event = this.events.statement('$7', [
      {
        type: TillCodeMadeV1,
        aggregateId: code,
        aggregateVersion: 1,
        payload: { code, mode, merchantId, siteId, siteReference },
      },
    ]);
    const [made] = await this.dataSource.query<{ code: string }[]>(
      `WITH made AS (
         INSERT INTO till_codes (code, mode, merchant_id, site_id, site_reference, made_at) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (site_id, mode, site_reference) DO NOTHING RETURNING code
       ), logged AS (
         INSERT INTO event_log ${event.columns}
         SELECT event.id, event.type, event.aggregate_id, event.aggregate_version, event.occurred_at, event.traceparent, event.payload
           FROM made, ${event.rows}
       )
       SELECT code FROM made`,
      [code, mode, merchantId, siteId, siteReference, this.clock.now(), event.parameter],
    );
    if (made) event.committed();
    return made?.code;
  }

  async find(site: InvoiceOwner, siteReference: string): Promise<string | undefined> {
    const [row] = await this.dataSource.query<{ code: string }[]>(
      `SELECT code FROM till_codes WHERE site_id = $1 AND mode = $2 AND site_reference = $3 AND merchant_id = $4`,
      [site.siteId, site.mode, siteReference, site.merchantId],
    );
    return row?.code;
  }
}
