import { Inject, Injectable } from '@nestjs/common';
import { DEFAULT_TIME_ZONE, type TimeZonePeriod } from '@svc/contracts';
import { LocalCalendar } from '@svc/kernel';
import { DataSource } from 'typeorm';

/** Reads the calendars of merchants from this service's copy of identity's events. */
@Injectable()
export class MerchantCalendarQuery {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** The calendar of the default time zone until identity's event has arrived. */
  async get(merchantId: number): Promise<LocalCalendar> {
    const [row] = await this.dataSource.query<{ timeZones: TimeZonePeriod[] }[]>(
      `SELECT time_zones AS "timeZones" FROM known_merchants WHERE merchant_id = $1`,
      [merchantId],
    );
    return new LocalCalendar(row?.timeZones ?? [{ zone: DEFAULT_TIME_ZONE }]);
  }

  /** Whether this is a site of the merchant. */
  async hasSite(merchantId: number, siteId: number): Promise<boolean> {
    const rows = await this.dataSource.query<unknown[]>(
      `SELECT FROM known_sites WHERE site_id = $1 AND merchant_id = $2`,
      [siteId, merchantId],
    );
    return rows.length > 0;
  }
}
