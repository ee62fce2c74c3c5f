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
  'request.method-not-allowed': {
    meaning: 'The path exists, but not with this method. Nothing was done. The header `Allow` lists its methods.',
    steps: [
      ['A browser or a tool sends GET by default.', 'Send the method that the reference names, as in `curl -X POST`.'],
      ['An HTTP client followed a redirect with GET.', 'Use the https address, so that nothing redirects.'],
    ],
    repeat: 'No. Change the method first.',
    where: EVERYWHERE,
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
      [
        'Many payments of one network are in flight while stolen cards are tested at the site.',
        'The hosted page sends the payment again by itself, with the same `reference`.',
      ],
    ],
    repeat: 'Yes, after the seconds in `Retry-After`.',
    where:
      'Hosted page, merchant payment retrieval and its stream, logins, sessions without a key, resending a notification.',
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
  'look.logo-unusable': {
    meaning: 'The image cannot be the logo of a merchant. The logo did not change.',
    steps: [
      ['The file is broken, or has another type than the header says.', 'Export the logo again as PNG, JPEG or WebP.'],
      ['The image is animated.', 'Send an image with one picture.'],
      ['A side has more than 4096 pixels.', 'Make it smaller: the page shows at most 240 x 56 pixels.'],
    ],
    repeat: 'No. Send another image.',
    where: 'Administration: the logo of a merchant.',
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
