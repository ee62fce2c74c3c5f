import type { NewNotification } from './notification.js';

/** Names in SQL statements for the properties of an object, so that each statement has all of them. */
class ColumnMap<Property extends string> {
  private readonly properties: Property[];
  /** For INSERT INTO: all columns. */
  readonly columns: string;

  constructor(private readonly map: Readonly<Record<Property, string>>) {
    this.properties = Object.keys(map) as Property[];
    this.columns = Object.values(map).join(', ');
  }

  /** For a recordset: the object with the names of the columns. */
  toRow(object: Readonly<Record<Property, unknown>>): Record<string, unknown> {
    return Object.fromEntries(this.properties.map((property) => [this.map[property], object[property]]));
  }

  /** For SELECT or RETURNING: these properties, by default all properties. */
  select(table: string, ...selected: Property[]): string {
    const properties = selected.length === 0 ? this.properties : selected;
    return properties.map((property) => `${table}.${this.map[property]} AS "${property}"`).join(', ');
  }
}

/** The columns of a new notification, in the order of `record_notifications`. */
export const NOTIFICATION = new ColumnMap<keyof NewNotification>({
  id: 'id',
  webhookId: 'webhook_id',
  recipient: 'recipient',
  type: 'type',
  merchantId: 'merchant_id',
  siteId: 'site_id',
  mode: 'mode',
  sessionId: 'session_id',
  paymentReference: 'payment_reference',
  paymentStatus: 'payment_status',
  apiVersion: 'api_version',
  url: 'url',
  endpoint: 'endpoint',
  fields: 'fields',
  traceparent: 'traceparent',
});

/** The columns of a delivery attempt, without its notification and its number. */
export const DELIVERY_ATTEMPT = new ColumnMap({
  startedAt: 'started_at',
  durationMs: 'duration_ms',
  outcome: 'outcome',
  statusCode: 'status_code',
  errorClass: 'error_class',
  response: 'response',
});
