/** The time zone of a merchant from a point in time. The zones of a merchant are sorted by `from`. */
export interface TimeZonePeriod {
  /** IANA name, such as `Africa/Johannesburg`. */
  zone: string;
  /** ISO 8601 UTC: the local midnight at which the zone begins. Absent for the first zone, which has no beginning. */
  from?: string;
}

/** The time zone of a merchant for which no other was set (M7). */
export const DEFAULT_TIME_ZONE = 'Africa/Johannesburg';

/** Maximum number of time zones of a merchant, former ones included. */
export const MAX_TIME_ZONE_PERIODS = 100;
