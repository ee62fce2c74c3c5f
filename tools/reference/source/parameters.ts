/**
 * The schemas of parameters in paths, queries and headers: handlers receive them as text, so their types contain no
 * schema.
 */
import { DELIVERY_STATES } from '../../../libs/contracts/src/http/hosted-gateway/deliveries.ts';
import { MESSAGING_SERVICES } from '../../../libs/contracts/src/service-messages.ts';
import type { Schema } from './schema.ts';

export interface Parameter {
  readonly description: string;
  readonly schema: Schema;
}

const id = (description: string): Parameter => ({
  description,
  schema: { type: 'integer', minimum: 1, maximum: 999_999_999_999_999 },
});
const uuid = (description: string): Parameter => ({ description, schema: { type: 'string', format: 'uuid' } });
const text = (description: string, maxLength = 100): Parameter => ({
  description,
  schema: { type: 'string', minLength: 1, maxLength },
});
const day = (description: string): Parameter => ({ description, schema: { type: 'string', format: 'date' } });
const time = (description: string): Parameter => ({
  description: `${description} UTC, \`YYYY-MM-DD\` or \`YYYY-MM-DDThh:mm:ssZ\`.`,
  schema: { type: 'string', pattern: String.raw`^(19|2\d)\d\d-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,3})?Z)?$` },
});
const position = (description: string): Parameter => ({
  description,
  schema: { type: 'integer', minimum: 0, maximum: 999_999_999_999_999 },
});
const count = (description: string, schema: Schema): Parameter => ({
  description,
  schema: { type: 'integer', minimum: 1, maximum: 1_000_000_000, ...schema },
});
const reference = (description: string): Parameter => ({ description, schema: { type: 'string' } });

const SERVICES = MESSAGING_SERVICES.toSorted();

/**
 * The parameters by name. If parameters with the same name differ, the key begins with the controller
 * (`controller.name`), or with the path if one controller has both (`/path/{name} name`). A missing parameter fails the
 * generation.
 */
const PARAMETERS: Readonly<Record<string, Parameter>> = {
  merchantId: id('Number of the merchant.'),
  merchantSiteId: id('Number of the site.'),
  siteId: id('Number of the site, the `merchantSiteId` of the hosted gateway.'),
  svcId: reference(
    'Service payment id (C3): 18 characters, in either case. A malformed one is treated as not found, never a 400.',
  ),
  paymentReference: reference(
    'Service payment id (C3): 18 characters, in either case. A malformed one is treated as not found, never a 400.',
  ),
  code: text('Value of the QR code as base64 or base64url (D1), padding optional. A `/` needs no encoding.', 2_048),
  token: text('Token of a stored card, from `POST /v1/cards`.'),
  sessionId: uuid('The session.'),
  invoiceId: text('`invoiceReference` of the payment; of a hosted payment its sessionId (M1).'),
  reference: uuid('The invoice’s `reference`.'),
  siteReference: text('Point-of-sale till identifier.'),
  externalReference: text('The merchant’s own reference, compared exactly.'),
  orderId: text(
    'The merchant’s own reference, compared exactly: the `merchantOrderId` of a session or the `externalReference` of an invoice.',
  ),
  'paymentSearch.from': time('Beginning, included. Default and earliest: three calendar months ago.'),
  'paymentSearch.to': time('End: a day is included, a time is not. Default: now.'),
  'paymentSearch.after': text('Cursor, from the header `Link` of the previous page.'),
  customerReference: text('Only payments of this customer.'),
  page: count('From 1.', { default: 1 }),
  pageSize: count('Values over 50 count as 50.', { default: 50 }),
  address: text('IPv4 or IPv6 address of a payer. Of IPv6 the network of 64 bits.', 45),
  range: {
    description: 'The first eight digits of card numbers, with `siteId` or `organisationId`.',
    schema: { type: 'string', pattern: String.raw`^\d{8}$` },
  },
  'velocityCounters.svcId': reference('A payment that was declined within 30 days. Selects the counter of its card.'),
  day: day('UTC, `YYYY-MM-DD`.'),
  'settlements.day': day('In the merchant’s time zone, `YYYY-MM-DD`.'),
  'adminSettlements.day': day('In the merchant’s time zone, `YYYY-MM-DD`.'),
  from: day('The first day, in the merchant’s time zone.'),
  to: day('The last day, in the merchant’s time zone. Without it, the statement is of one day.'),
  'settlements.siteId': id('Only movements of this site. By default all sites of the key.'),
  'adminSettlements.siteId': id('Only movements of this site. By default all sites of the merchant.'),
  bom: { description: '`1`: the CSV file begins with a byte-order mark.', schema: { const: '1' } },
  'browserData.signature': text('Part of the `verificationUrl`. The platform has signed the URL.'),
  mode: { description: 'Mode of the payments.', schema: { type: 'string', enum: ['test', 'live'] } },
  'notificationFeed.after': text(
    'Cursor: `after` of the previous response. Without it, the list starts at the beginning.',
    200,
  ),
  'auditLog.after': position('`nextAfter` of the previous page.'),
  'auditLog.before': position('`entryId` of the last entry of the previous page.'),
  'merchants.after': position('`nextAfter` of the previous page.'),
  sealNumber: position('Number of the seal.'),
  'ledger.after': position('Number of the last seal that was verified.'),
  'ledger.until': position('Number of the last seal to verify.'),
  'notifications.after': uuid('`after` of the previous page.'),
  after: uuid('`after` or `nextAfter` of the previous page.'),
  'refunds.state': { description: 'Only those that wait for the acquirer.', schema: { const: 'pending' } },
  'timeline.find': text(
    'Payment reference, order number, id of a session or an invoice, code, or with `day` the last four digits of a card.',
    200,
  ),
  'timeline.day': day('UTC, `YYYY-MM-DD`. Required for the last four digits of a card.'),
  'timeline.mode': { description: 'Only this mode.', schema: { type: 'string', enum: ['test', 'live'] } },
  'adminRefunds.state': { description: 'Only those that wait for the acquirer.', schema: { const: 'pending' } },
  'openCases.kind': {
    description: 'Only cases of this kind.',
    schema: {
      type: 'string',
      enum: ['unknownOutcome', 'reversal', 'capture', 'incident', 'refundIncident', 'report'],
    },
  },
  'notifications.state': {
    description: 'Only notifications in this state.',
    schema: { type: 'string', enum: [...DELIVERY_STATES] },
  },
  'deliveries.state': {
    description: 'Only deliveries in this state.',
    schema: { type: 'string', enum: [...DELIVERY_STATES] },
  },
  'deliveries.id': uuid('The delivery.'),
  'notifications.unsigned': { description: '`true`: only those without a signing key.', schema: { const: 'true' } },
  'deadLetters.after': text('`after` of the previous page.', 200),
  type: text('Only messages of this type, such as `payment.succeeded.v1`.', 200),
  keyId: uuid('The key.'),
  tokenId: uuid('The API token.'),
  secretId: uuid('The webhook secret.'),
  kid: uuid('The key of identity tokens.'),
  reportId: uuid('The settlement report.'),
  runId: uuid('The reconciliation.'),
  messageId: uuid('The message.'),
  id: uuid('The notification.'),
  organisationId: uuid('The partner.'),
  service: { description: 'Name of the service.', schema: { type: 'string', enum: SERVICES } },
  'refunds.idempotency-key': text(
    'Any text: a repeated call with it is the same refund (C7). Stored for at least 72 hours.',
  ),
  'invoices.idempotency-key': text(
    'Any text: a repeated call with it is the same invoice, whatever its `createdUTCDate` (C7). Stored for 72 hours.',
  ),
  'last-event-id': text('`id` of the last event that was read: the stream continues after it.', 200),
  // Parameters of the transformer.
  'invoice.siteId': id('Number of a site that is configured here.'),
  '/v1/invoice/{invoiceId}/payment invoiceId': {
    description:
      'The till’s reference of the basket (T5), percent-encoded. It is compared as sent: leading zeros count.',
    schema: { type: 'string', minLength: 1, maxLength: 100 },
  },
  'codes.file': {
    description: 'Name in the `QrSvgUrl` of a total.',
    schema: { type: 'string', pattern: String.raw`^[\w-]{22}\.svg$` },
  },
  'x-till': text('Identifies the till if a site has several (T3): each has its own basket.'),
  MerchantOrderId: {
    description:
      'The till’s reference of the basket (T5), percent-encoded. It is compared as sent: leading zeros count.',
    schema: { type: 'string', minLength: 1, maxLength: 100 },
  },
};

/** The parameter for the path; if there is none, for the controller; if there is none, for all operations. */
export function findParameter({ controller, path }: { controller: string; path: string }, name: string): Parameter {
  const found = PARAMETERS[`${path} ${name}`] ?? PARAMETERS[`${controller}.${name}`] ?? PARAMETERS[name];
  if (!found) throw new Error(`No parameter ${controller}.${name}: describe it in ${import.meta.filename}`);
  return found;
}

/** A refund requires its key. For an invoice, the key is optional. */
export function isRequiredHeader(controller: string, name: string): boolean {
  return controller === 'refunds' && name === 'idempotency-key';
}
