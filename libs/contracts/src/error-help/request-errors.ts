import type { ErrorCode } from '../errors.js';
import type { ErrorHelp } from './error-help.js';

const EVERYWHERE = 'Every call.';

/** Errors of requests, credentials and the platform itself. */
export const REQUEST_ERROR_HELP = {
  'request.invalid': {
    meaning: 'A part of the request is missing or malformed. Nothing was done. `errors` names every such field.',
    steps: [
      ['A field is missing or malformed.', 'Read `errors`: each message has the field and the expected value.'],
      ['An amount as text or with a fraction.', 'Send a JSON number of whole cents: R 12.34 is 1234.'],
      [
        'A URL with http or a private address.',
        'Use https and a public host. Loopback is allowed in development only.',
      ],
      ['The body is not JSON.', 'Send JSON, encoded as UTF-8, with `content-type: application/json`.'],
    ],
    repeat: 'No. Correct the request first.',
    where: EVERYWHERE,
  },
  'request.too-large': {
    meaning: 'The body is larger than 256 KiB. It was not read.',
    steps: [['Too many line items, or unnecessary data.', 'Send at most 500 line items.']],
    repeat: 'No. Send a smaller body.',
    where: 'Every call with a body.',
  },
  'request.unsupported-media-type': {
    meaning: 'The `content-type` of the body is not JSON. The body was not read.',
    steps: [['A form, or no content type.', 'Send the header `content-type: application/json` and a JSON body.']],
    repeat: 'No. Change the header first.',
    where: 'Every call with a body.',
  },
  'request.not-acceptable': {
    meaning: 'The `Accept` header has no media type that this route returns.',
    steps: [
      ['The client accepts another media type.', 'Accept one of the types in the message, or send no `Accept` header.'],
    ],
    repeat: 'No. Change the header first.',
    where: 'Invoices and codes of tills: JSON, plain text or SVG.',
  },
  'request.rate-limited': {
    meaning: 'You have sent too many requests in a short time. This one was not executed.',
    steps: [
      ['A loop that polls.', 'Use webhooks or the stream instead of polling.'],
      [
        'Many wrong passwords for one email.',
        'Wait 15 minutes. During this time even the correct password is refused.',
      ],
      [
        'The notification was resent a moment ago.',
        'Check its attempts first, and wait for the seconds in `Retry-After`.',
      ],
    ],
    repeat: 'Yes, after the seconds in `Retry-After`.',
    where: 'Merchant payment retrieval and its stream, logins, sessions without a key, resending a notification.',
  },
  'request.idempotency-conflict': {
    meaning:
      'You used this `requestId`, `reference` or `Idempotency-Key` before, for a request with different content.',
    steps: [
      [
        'A counter that was reset, or a constant text.',
        'Use a new key for each operation, for example the order and the number of the attempt.',
      ],
      ['The order changed after the first attempt.', 'Use a new key. Cancel the first session if it is still open.'],
    ],
    repeat: 'No. Send the first content, or a new key.',
    where: 'POST of sessions, payments and refunds; the hosted page.',
  },
  'event-id.expired': {
    meaning: 'The stream no longer has the events after this id, so it cannot resume from there.',
    steps: [
      [
        'Your program was disconnected for too long.',
        'Look up the missed payments by reference, then open the stream without an id.',
      ],
    ],
    repeat: 'No. Open the stream without `Last-Event-ID`.',
    where: 'The stream of payments of a site.',
  },
  'credentials.invalid': {
    meaning:
      'The platform cannot identify the caller. Nothing was done. A 401 of the main API deliberately has no body.',
    steps: [
      ['The key is missing or cut off.', 'Send the whole key in the header `x-api-key`.'],
      [
        'The key was revoked, or belongs to another platform.',
        'Compare its prefix with the list of keys; request a new one.',
      ],
      ['The identity token has expired.', 'Log in again: a token is valid for 15 minutes.'],
      [
        'Key and token belong to different organisations or modes.',
        'Use a key and a token of the same organisation and mode.',
      ],
    ],
    repeat: 'No. Change the credentials first.',
    where: EVERYWHERE,
  },
  'credentials.forbidden': {
    meaning: 'The caller is known, but does not have permission. Nothing was done.',
    steps: [
      ["Another merchant's id, or another site's, in the path.", 'Use the ids that the key belongs to.'],
      ['A customer token where a service token is needed.', 'Use the token of the service login.'],
      ['Vouchers or external payments without a grant.', 'Ask the merchant to grant them to your organisation.'],
    ],
    repeat: 'No.',
    where: 'Main API, business API and the hosted page.',
  },
  'resource.not-found': {
    meaning: 'The resource does not exist, or belongs to another account.',
    steps: [
      ['A mistyped id or path.', 'Compare the address with the documentation.'],
      ['It belongs to another merchant, site or mode.', 'Use the key that created it.'],
      [
        'A look-up by reference outside its window.',
        'Look it up by its payment reference, which works for three months.',
      ],
    ],
    repeat: 'Only if the resource was created less than a second ago.',
    where: EVERYWHERE,
  },
  'resource.conflict': {
    meaning: 'The request is not possible in the present state. The message has the reason.',
    steps: [
      ['It already exists.', 'Use the existing one, or another name.'],
      ['A limit is reached, for example of valid keys.', 'Revoke one that is no longer used.'],
      ['Its state does not allow it.', 'Read it again, and decide based on its present state.'],
    ],
    repeat: 'No, unless the state changes.',
    where: 'Administration, users, resending a notification.',
  },
  'webhook.no-signing-key': {
    meaning: 'The site has no key to sign webhooks, so the result could not be reported. No session was created.',
    steps: [
      [
        'A key or webhook secret was never created, or was revoked.',
        'Ask an administrator to create the one in the message.',
      ],
    ],
    repeat: 'Only after the missing key was created; it takes effect within seconds.',
    where: 'POST /api/v3.1/sessions and /api/v3/sessions.',
  },
  'service.not-ready': {
    meaning: 'A part of the platform is starting or restarting. The request was not executed.',
    steps: [
      ['A restart, an update or a database that is unavailable.', 'Send the same request again after `Retry-After`.'],
    ],
    repeat: 'Yes, after the seconds in `Retry-After`, with the same key.',
    where: EVERYWHERE,
  },
  'service.broken-off': {
    meaning: 'The connection inside the platform broke. It is not known whether the request was executed.',
    steps: [['A process crashed.', 'Look up the payment or refund by its reference before you repeat.']],
    repeat: 'Only with the same `requestId`, `reference` or `Idempotency-Key`; a read at any time.',
    where: EVERYWHERE,
  },
  'service.timed-out': {
    meaning: 'A part of the platform took too long. It is not known whether the request was executed.',
    steps: [
      ['Too much load, or a hanging process.', 'Look up the payment or refund by its reference before you repeat.'],
    ],
    repeat: 'Only with the same `requestId`, `reference` or `Idempotency-Key`; a read at any time.',
    where: EVERYWHERE,
  },
  internal: {
    meaning: 'An internal error of the platform. Its log has the details under the id of the request.',
    steps: [['A defect of the platform.', 'Quote `instance`, or the header `x-request-id`, to support.']],
    repeat: 'Perhaps, with the same `requestId`, `reference` or `Idempotency-Key`.',
    where: EVERYWHERE,
  },
} as const satisfies Partial<Record<ErrorCode, ErrorHelp>>;
