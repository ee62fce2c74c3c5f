/**
 * Local time in one time zone, from the rules of time zones in Node.js. Everything that is stored, signed, sealed or
 * compared is UTC; local time is only shown, and selects the beginning and the end of a day (M7).
 */

/** The first day for which local time is computed. Before it, some zones changed their date more often than once a day. */
export const FIRST_LOCAL_DAY = '2000-01-01';

const DAY_MS = 86_400_000;
const MAX_ZONE_LENGTH = 64;
/** A name as the IANA database writes it. Refuses offsets such as `+02:00`, and names in lower case. */
const ZONE_NAME = /^[A-Z][\w+-]*(?:\/[A-Z][\w+-]*){0,2}$/;

/** A date and time of a clock. */
export interface LocalTime {
  /** `2026-11-20`. */
  readonly date: string;
  /** `18:03:36`. */
  readonly time: string;
}

/**
 * True for the name of a time zone in the IANA database. Accepts former and alternative names such as `Asia/Kathmandu`,
 * because `Intl.supportedValuesOf` lists only one name of each zone.
 */
export function isTimeZone(name: unknown): name is string {
  if (typeof name !== 'string' || name.length > MAX_ZONE_LENGTH || !ZONE_NAME.test(name)) return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone === 'UTC' || listedZones.has(timeZone);
  } catch {
    return false;
  }
}

const listedZones: ReadonlySet<string> = new Set(Intl.supportedValuesOf('timeZone'));

/** Cached by zone, because creating a format takes longer than formatting. There are less than a thousand zones. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const cached = formats.get(zone);
  if (cached) return cached;
  const format = new Intl.DateTimeFormat('en-US-u-ca-iso8601-nu-latn', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
  formats.set(zone, format);
  return format;
}

/**
 * The date and time that clocks in this zone show.
 *
 * @throws RangeError if the zone is unknown
 */
export function toLocalTime(zone: string, time: Date): LocalTime {
  const [date = '', clock = ''] = formatOf(zone).format(time).split(', ');
  return { date, time: clock };
}

/**
 * The beginning of a day: the first time at which clocks in this zone show this date or a later one. It is not always
 * 00:00, because the change to daylight-saving time may skip midnight. A day that the zone skipped begins with the next
 * day, so it is empty.
 *
 * @param day `2026-11-20`, from {@link FIRST_LOCAL_DAY}
 */
export function startOfLocalDay(zone: string, day: string): Date {
  // No zone is more than 14 hours ahead of UTC or 12 hours behind it.
  let before = Date.parse(day) - 15 * 3_600_000;
  let start = Date.parse(day) + 13 * 3_600_000;
  while (start - before > 1) {
    const middle = Math.floor((before + start) / 2);
    if (toLocalTime(zone, new Date(middle)).date < day) before = middle;
    else start = middle;
  }
  return new Date(start);
}

/** The day that is this number of days after `day`, or before `day` if the number is negative. */
export function addDays(day: string, days = 1): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

/** True for a day of the calendar, such as `2026-11-20`. */
export function isCalendarDay(text: unknown): text is string {
  if (typeof text !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = new Date(text);
  return !Number.isNaN(time.getTime()) && time.toISOString().slice(0, 10) === text;
}
