/** Adyen's accounts have a time zone; the default is Central European Time (documentation: "Time zone setting"). */
const TIME_ZONE = 'Europe/Amsterdam';

const FORMAT = new Intl.DateTimeFormat('en-GB', {
  timeZone: TIME_ZONE,
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
});

interface LocalTime {
  /** `2026-03-01 11:00:00` */
  readonly text: string;
  readonly zone: 'CET' | 'CEST';
}

/** A time in the account's time zone, as reports show it. */
export function localTime(time: Date): LocalTime {
  const parts = Object.fromEntries(FORMAT.formatToParts(time).map(({ type, value }) => [type, value]));
  const text = `${parts['year']}-${parts['month']}-${parts['day']} ${parts['hour']}:${parts['minute']}:${parts['second']}`;
  return { text, zone: parts['timeZoneName'] === 'CEST' ? 'CEST' : 'CET' };
}

/** A time as webhooks show it: `2026-03-01T11:00:00+01:00` (OpenAPI document of the webhooks, `eventDate`). */
export function eventDate(time: Date): string {
  const { text, zone } = localTime(time);
  return `${text.replace(' ', 'T')}${zone === 'CEST' ? '+02:00' : '+01:00'}`;
}
