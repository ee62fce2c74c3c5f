import type { ErrorCode } from '../errors.js';
import type { ErrorHelp } from './error-help.js';

const MAIN_API_AND_GATEWAY = 'Main API, business API and hosted gateway.';
const KEY_FORM =
  'A key is `svc_test_` or `svc_live_`, then `partner_`, `merchant_` or `site_`, and 43 more characters: letters, digits, `-` and `_`.';
const NO_REPEAT = 'No. Change the credentials first.';
const LOG_IN = 'Log in with `POST /v1/auth/service/login`, and send `Authorization: Bearer <identityToken>`.';

/**
 * Errors of credentials. The body of a 401 of the main API is empty (C5), so the page is the only explanation. A code
 * other than `credentials.invalid` describes only the text that was sent, never whether such a key or user exists.
 */
export const CREDENTIAL_ERROR_HELP = {
  'credentials.invalid': {
    meaning:
      'The platform cannot identify the caller. Nothing was done. A 401 of the main API deliberately has no body, and every failed login gets the same one.',
    steps: [
      [
        'The key was revoked, or belongs to another platform.',
        'Compare its prefix with the list of keys; request a new one.',
      ],
      [
        'Key and token belong to different organisations or modes.',
        'Use a key and a token of the same organisation and mode.',
      ],
      ['A wrong organisation id or API token at the service login.', 'Copy both from your on-boarding again.'],
      [
        'A customer who was never registered, or a wrong password.',
        'Create the user with `POST /v1/auth/users`, then register it with `POST /v1/auth/customers/register`.',
      ],
      ['Another secret, such as a token whose signing key was withdrawn.', 'Log in again.'],
    ],
    repeat: NO_REPEAT,
    where: 'Every call.',
  },
  'credentials.key-missing': {
    meaning: 'The request has no API key. Nothing was done.',
    steps: [
      ['The header is missing or empty.', 'Send the key in the header `x-api-key`.'],
      [
        'The setting that has the key is not set.',
        'Print the length of the key in your program: it is at least 57 characters.',
      ],
      [
        'The key was sent as `Authorization: Bearer`.',
        'Only the business API accepts this. Send `x-api-key` everywhere else.',
      ],
    ],
    repeat: NO_REPEAT,
    where: MAIN_API_AND_GATEWAY,
  },
  'credentials.key-malformed': {
    meaning: `The header \`x-api-key\` has a text that is not an API key. Nothing was done. ${KEY_FORM}`,
    steps: [
      ['The key is cut off, or has a quote, a space or a line break around it.', 'Copy the whole key again.'],
      ['It is another secret, such as the webhook secret (`whsec_…`).', 'Send the API key.'],
      ['The header was sent twice.', 'Send it once.'],
    ],
    repeat: NO_REPEAT,
    where: MAIN_API_AND_GATEWAY,
  },
  'credentials.partner-key-needed': {
    meaning: 'This call needs the API key of a partner, but has the key of a merchant or a site. Nothing was done.',
    steps: [
      ["A merchant's program calls a partner's endpoint.", 'Merchants use `/business/api/v1` and the hosted gateway.'],
      ['The wrong key is configured.', 'Send the key that begins with `svc_test_partner_` or `svc_live_partner_`.'],
    ],
    repeat: NO_REPEAT,
    where: 'Every call of `/v1`.',
  },
  'credentials.merchant-key-needed': {
    meaning: 'This call needs the API key of a merchant or a site, but has the key of a partner. Nothing was done.',
    steps: [
      [
        "A partner's program calls a merchant's endpoint.",
        "Read a partner's own payments with `GET /v1/payments`, its key and its identity token.",
      ],
      [
        'The wrong key is configured.',
        'Send the key that begins with `svc_test_merchant_`, `svc_test_site_`, `svc_live_merchant_` or `svc_live_site_`.',
      ],
    ],
    repeat: NO_REPEAT,
    where: 'Every call of `/business/api/v1` and of the hosted gateway.',
  },
  'credentials.token-missing': {
    meaning: 'The API key is valid, but the request has no identity token. Nothing was done.',
    steps: [
      ['The header `Authorization` is missing.', LOG_IN],
      ['The header has another scheme than Bearer.', 'Send `Authorization: Bearer`, one space and the token.'],
    ],
    repeat: NO_REPEAT,
    where: 'Every call of `/v1` except the service login.',
  },
  'credentials.token-malformed': {
    meaning:
      'The API key is valid, but the text after `Authorization: Bearer` is not an identity token. Nothing was done.',
    steps: [
      ['An API key or API token was sent as the identity token.', LOG_IN],
      ['The token is cut off, or in quotes.', 'Send the whole value of `identityToken`, without quotes.'],
    ],
    repeat: NO_REPEAT,
    where: 'Every call of `/v1` except the service login.',
  },
  'credentials.token-expired': {
    meaning: 'The API key is valid, but the time `exp` in the identity token is past. Nothing was done.',
    steps: [
      ['A token is valid for 15 minutes.', 'Log in again, a minute before `exp` or after this error.'],
      ['The clock of your server is wrong, so it logs in too late.', 'Compare it with the header `Date`.'],
    ],
    repeat: 'No. Log in again first.',
    where: 'Every call of `/v1` except the service login.',
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
  'credentials.shared-key-ended': {
    meaning:
      'The header `x-admin-key` has the shared administration key. It is refused since the first key of a person with the role operator was created. Nothing was done.',
    steps: [
      [
        'The shared key is still configured, for example in a script.',
        'Send your own key, which begins with `svc_operator_`.',
      ],
      ['You have no key.', 'Ask an operator for one: `./svc admin operator-keys create <your email>`.'],
      [
        'All operators or their keys are lost.',
        'Set `SVC_ADMIN_KEY_RECOVERY_UNTIL` of identity for at most 24 hours, and create a new key.',
      ],
    ],
    repeat: NO_REPEAT,
    where: 'Administration API.',
  },
  'authentication.failed': {
    meaning: 'The proof of a person was not accepted. The response is the same whether or not the person exists.',
    steps: [
      ['A mistyped email, password or code.', 'Enter it again. After ten failures, wait for 30 minutes.'],
      ['A code that was used before, or an old one.', 'Wait until the authenticator shows the next code.'],
      ['A passkey of another website or person.', 'Choose a passkey that was created in this console.'],
    ],
    repeat: 'No. Enter the right values.',
    where: 'Sign-in and confirmation in the console.',
  },
  'authentication.required': {
    meaning: 'No person is signed in, or the action needs a confirmation of the last ten minutes. Nothing was done.',
    steps: [
      ['The session has ended or expired, or began in another browser.', 'Sign in again.'],
      ['The action is sensitive.', 'Confirm with your password and a code, or with a passkey.'],
    ],
    repeat: 'Only after the sign-in or the confirmation.',
    where: 'The console.',
  },
} as const satisfies Partial<Record<ErrorCode, ErrorHelp>>;
