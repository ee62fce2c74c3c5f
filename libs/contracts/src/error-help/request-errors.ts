import type { ErrorCode } from '../errors.js';
import type { ErrorHelp } from './error-help.js';

const EVERYWHERE = 'Every call.';

/** Errors of requests, credentials and the platform itself. */
export const REQUEST_ERROR_HELP = {
  'request.invalid': {
    meaning:
      'Something in the request is missing or of a wrong form. Nothing was done. `errors` names every such field.',
    steps: [
      ['A field is missing or malformed.', 'Read `errors`: each message names the field and what it must be.'],
      ['An amount as text or with a fraction.', 'Send a JSON number of whole cents: R 12.34 is 1234.'],
      ['An address that is http or private.', 'Use https and a public host. Loopback is allowed in development only.'],
      ['The body is not JSON.', 'Send JSON, encoded as UTF-8, with `content-type: application/json`.'],
    ],
    repeat: 'No. Correct the request first.',
    where: EVERYWHERE,
  },
  'request.too-large': {
    meaning: 'The body is larger than 256 KiB. It was not read.',
    steps: [['Too many line items, or data that does not belong there.', 'Send fewer: at most 500 line items.']],
    repeat: 'No. Send less.',
    where: 'Every call with a body.',
  },
  'request.unsupported-media-type': {
    meaning: 'The body is not said to be JSON. It was not read.',
    steps: [['A form, or no content type.', 'Send the header `content-type: application/json` and a JSON body.']],
    repeat: 'No. Change the header first.',
    where: 'Every call with a body.',
  },
  'request.not-acceptable': {
    meaning: 'The `Accept` header names only forms that this address does not have.',
    steps: [['Another form is asked for.', 'Accept one of the forms in the message, or send no `Accept` header.']],
    repeat: 'No. Change the header first.',
    where: 'Invoices and codes of tills: JSON, plain text or SVG.',
  },
  'request.rate-limited': {
    meaning: 'You have sent too many requests in a short time. This one was not executed.',
    steps: [
      ['A loop that polls.', 'Use webhooks or the stream instead of polling.'],
      ['Many wrong passwords for one email.', 'Wait 15 minutes. The right password is refused in this time too.'],
      [
        'A notification was sent again a moment ago.',
        'Look at its attempts first, and wait as long as `Retry-After` says.',
      ],
    ],
    repeat: 'Yes, after the seconds in `Retry-After`.',
    where: 'Merchant payment retrieval and its stream, logins, sessions without a key, sending a notification again.',
  },
  'request.idempotency-conflict': {
    meaning: 'You used this `requestId`, `reference` or `Idempotency-Key` before, for a request with other content.',
    steps: [
      [
        'A counter that began again, or a fixed text.',
        'Make a new key for each thing, for example from the order and a try.',
      ],
      ['The order changed after the first try.', 'Use a new key. Cancel the first session if it is still open.'],
    ],
    repeat: 'No. Send the first content, or a new key.',
    where: 'POST of sessions, payments and refunds; the hosted page.',
  },
  'event-id.expired': {
    meaning: 'The stream no longer holds the events after this id, so it cannot go on from there.',
    steps: [
      [
        'Your program was away for too long.',
        'Look up what you miss by reference, then open the stream without an id.',
      ],
    ],
    repeat: 'No. Open the stream without `Last-Event-ID`.',
    where: 'The stream of payments of a site.',
  },
  'credentials.invalid': {
    meaning:
      'The platform does not know who is calling. Nothing was done. A 401 of the main API has no body on purpose.',
    steps: [
      ['The key is missing or cut off.', 'Send the whole key in the header `x-api-key`.'],
      [
        'The key was revoked, or is of another platform.',
        'Compare its beginning with the list of keys; ask for a new one.',
      ],
      ['The identity token has expired.', 'Log in again: a token is valid for 15 minutes.'],
      ['Key and token are of two organisations, or of two modes.', 'Use both of one organisation and one mode.'],
    ],
    repeat: 'No. Change the credentials first.',
    where: EVERYWHERE,
  },
  'credentials.forbidden': {
    meaning: 'The platform knows who is calling, and this caller may not do that. Nothing was done.',
    steps: [
      ["Another merchant's id, or another site's, in the path.", 'Use the ids that the key belongs to.'],
      ['A customer token where a service token is needed.', 'Use the token of the service login.'],
      ['Vouchers or external payments without a grant.', 'Ask the merchant to grant them to your organisation.'],
    ],
    repeat: 'No.',
    where: 'Main API, business API and the hosted page.',
  },
  'resource.not-found': {
    meaning: 'Nothing is at this address for you. What belongs to somebody else is not found either.',
    steps: [
      ['A mistyped id or path.', 'Compare the address with the documentation.'],
      ['It belongs to another merchant, site or mode.', 'Use the key that made it.'],
      [
        'A look-up by reference outside its window.',
        'Look it up by its payment reference: that works for three months.',
      ],
    ],
    repeat: 'Only for something that was made less than a second ago.',
    where: EVERYWHERE,
  },
  'resource.conflict': {
    meaning: 'What you ask for cannot be done in the present state. The message says why.',
    steps: [
      ['It exists already.', 'Use the one that exists, or another name.'],
      ['A limit is reached, for example of valid keys.', 'Revoke one that is not used any more.'],
      ['Its state does not allow it.', 'Read it again, and decide by its present state.'],
    ],
    repeat: 'No, unless the state changes.',
    where: 'Administration, users, sending a notification again.',
  },
  'webhook.no-signing-key': {
    meaning: 'The result could not be reported, because the site lacks a key that signs webhooks. No session was made.',
    steps: [
      ['A key or webhook secret was never made or was revoked.', 'Let an administrator make what the message names.'],
    ],
    repeat: 'Only after the missing key was made; it is known everywhere some seconds later.',
    where: 'POST /api/v3.1/sessions and /api/v3/sessions.',
  },
  'service.not-ready': {
    meaning: 'A part of the platform starts or restarts. The request was not executed.',
    steps: [
      ['A restart, an update or a database that is unavailable.', 'Send the same request again after `Retry-After`.'],
    ],
    repeat: 'Yes, after the seconds in `Retry-After`, with the same key.',
    where: EVERYWHERE,
  },
  'service.broken-off': {
    meaning: 'The connection inside the platform broke. It is not known whether the request was executed.',
    steps: [['A process ended in the middle.', 'Look up the payment or refund by its reference before you repeat.']],
    repeat: 'Only with the same `requestId`, `reference` or `Idempotency-Key`; a read at any time.',
    where: EVERYWHERE,
  },
  'service.timed-out': {
    meaning: 'A part of the platform took too long. It is not known whether the request was executed.',
    steps: [
      ['Too much load, or something hangs.', 'Look up the payment or refund by its reference before you repeat.'],
    ],
    repeat: 'Only with the same `requestId`, `reference` or `Idempotency-Key`; a read at any time.',
    where: EVERYWHERE,
  },
  internal: {
    meaning: 'A mistake of the platform. It is in its log, under the id of the request.',
    steps: [['Not yours.', 'Quote `instance`, or the header `x-request-id`, to support.']],
    repeat: 'Perhaps, with the same `requestId`, `reference` or `Idempotency-Key`.',
    where: EVERYWHERE,
  },
} as const satisfies Partial<Record<ErrorCode, ErrorHelp>>;
