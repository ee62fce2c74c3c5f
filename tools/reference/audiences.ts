/**
 * The documents of the reference, one for each audience: the operations that it contains, and the description that its
 * readers need before their first request.
 */
import { appFor } from '../../libs/contracts/src/routes.ts';
import type { Operation } from './source/operations.ts';
import type { Schema } from './source/schema.ts';

export interface Audience {
  readonly name: 'partner' | 'merchant' | 'gateway' | 'administration' | 'transformer';
  readonly title: string;
  readonly description: string;
  readonly server: {
    readonly url: string;
    readonly variable: string;
    readonly example: string;
    readonly description: string;
  };
  readonly securitySchemes: Readonly<Record<string, Schema>>;
  /**
   * The security requirements of an operation by its guard. If it has several guards, the first one in this list
   * counts.
   */
  readonly securityByGuard: Readonly<Record<string, readonly Readonly<Record<string, readonly string[]>>[]>>;
  readonly includes: (operation: Operation) => boolean;
  /** The webhooks that the platform sends, with the types of their bodies. */
  readonly webhooks: readonly { readonly name: string; readonly type: string; readonly description: string }[];
  readonly errors: 'problem' | 'envelope' | 'transformer';
}

const header = (name: string, description: string): Schema => ({ type: 'apiKey', in: 'header', name, description });

const PROBLEMS =
  'An error response is `application/problem+json` (`Problem`): branch on its `code`, never on a message. Every 401 has an empty body.';
const COMMON = `Every response has \`x-request-id\`: quote it to support. Amounts are whole cents (C1), times ISO 8601 UTC with milliseconds (C2). Fields that are not described here are ignored in requests and may be added to responses. A code such as (C1) is a requirement of docs/requirements.`;

const isServedBy = (host: 'api' | 'gateway' | 'admin', { app, path, method }: Operation): boolean => {
  const examplePath = path.replace('{service}', 'identity').replaceAll(/\{\w+\}/g, 'x');
  const servingApp = appFor(host, examplePath, method.toUpperCase());
  // The route table names the app that serves a controller of a library.
  return servingApp !== undefined && (servingApp === app || app === 'auth' || app === 'service');
};

const SERVER = {
  url: '{base_url}',
  variable: 'base_url',
  example: 'https://api.example',
  description: 'Address of the main API. `./svc up` prints it.',
} as const;

export const AUDIENCES: readonly Audience[] = [
  {
    name: 'partner',
    title: 'Svc Payments: partner API',
    description: `Log in, register customers, decode codes, pay, and read payments back.\n\nA partner’s server sends its API key as \`x-api-key\` and receives an identity token from \`POST /v1/auth/service/login\`. Every other request contains both, which must belong to one organisation and mode (A11).\n\n${PROBLEMS} ${COMMON}\n\nThe status of a payment is a **number** in \`GET /v1/payments/{paymentReference}\` and **text** in the history: see \`SinglePayment.status\`.`,
    server: SERVER,
    securitySchemes: {
      partnerKey: header('x-api-key', 'API key of a partner, `svc_test_partner_…` or `svc_live_partner_…` (A6).'),
      identityToken: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: 'Identity token of a partner’s server, or of one of its customers (A2).',
      },
    },
    securityByGuard: {
      PartnerGuard: [{ partnerKey: [], identityToken: [] }],
      PartnerKeyGuard: [{ partnerKey: [] }],
    },
    includes: (operation) =>
      isServedBy('api', operation) && !operation.path.startsWith('/business/') && !operation.path.startsWith('/health'),
    webhooks: [],
    errors: 'problem',
  },
  {
    name: 'merchant',
    title: 'Svc Payments: merchant API',
    description: `Look up and follow payments, create invoices and till codes, refund, and read settlement statements.\n\nThe merchant's key is valid for all its sites, a site's key for that site (A7). Prefer the site's webhook or stream to polling.\n\n${PROBLEMS} ${COMMON}`,
    server: SERVER,
    securitySchemes: {
      merchantKey: header('x-api-key', 'API key of the merchant or of a site (A6).'),
      merchantKeyAsBearer: {
        type: 'http',
        scheme: 'bearer',
        description: 'The same key as `Authorization: Bearer` (A7).',
      },
    },
    securityByGuard: { MerchantKeyGuard: [{ merchantKey: [] }, { merchantKeyAsBearer: [] }] },
    includes: (operation) => isServedBy('api', operation) && operation.path.startsWith('/business/'),
    webhooks: [
      {
        name: 'siteNotification',
        type: 'PaymentNotification',
        description:
          'To the webhook of a site (M6): each final payment once, and each refund that ended. Signed with the Standard Webhooks headers (E4); any 2xx acknowledges it, anything else is tried again for three days (E5).',
      },
    ],
    errors: 'problem',
  },
  {
    name: 'gateway',
    title: 'Svc Payments: hosted payment gateway',
    description: `Create a session, redirect the payer to its page, and receive the result as a signed webhook.\n\nEvery call has the headers \`merchantId\` and \`merchantSiteId\`, and the key of the merchant or the site as \`x-api-key\` unless the site is configured without one (A8). \`/api/v3\` differs from \`/api/v3.1\` in one thing: its webhook is signed with the merchant’s key (E3, H5).\n\nAn error response is \`{status, errors: [{message}]}\` (H1). ${COMMON}`,
    server: {
      ...SERVER,
      url: '{gateway_url}',
      variable: 'gateway_url',
      example: 'https://pay.example',
      description: 'Address of the hosted gateway. `./svc up` prints it.',
    },
    securitySchemes: {
      siteKey: header('x-api-key', 'API key of the site or of its merchant (A6).'),
    },
    securityByGuard: {
      RequireApiKeyGuard: [{ siteKey: [] }],
      SiteGuard: [{ siteKey: [] }, {}],
    },
    includes: (operation) => isServedBy('gateway', operation) && operation.path.startsWith('/api/'),
    webhooks: [
      {
        name: 'paymentNotification',
        type: 'HostedPaymentNotification',
        description:
          'To the `notificationUrl` of a session, once for each payment that became final (E2). `signature` is the older form (E3); the Standard Webhooks headers beside it detect replays and any change (E4). Any 2xx acknowledges it, anything else is tried again for three days (E5).',
      },
    ],
    errors: 'envelope',
  },
  {
    name: 'administration',
    title: 'Svc Payments: administration API',
    description: `On-boarding of merchants, sites, partners and their credentials, and what operators look at and repair. Never reachable for merchants and partners.\n\n${PROBLEMS} ${COMMON}`,
    server: {
      ...SERVER,
      url: '{admin_url}',
      variable: 'admin_url',
      example: 'http://127.0.0.1:7303',
      description: 'Address of administration, on a private network.',
    },
    securitySchemes: { adminKey: header('x-admin-key', 'Administration key of the platform (A10).') },
    securityByGuard: { AdminKeyGuard: [{ adminKey: [] }] },
    includes: (operation) => isServedBy('admin', operation),
    webhooks: [],
    errors: 'problem',
  },
  {
    name: 'transformer',
    title: 'Svc Payments: point-of-sale transformer',
    description: `Runs in a store and supports both protocols of tills: single lines under \`/v1\`, and the facade with whole baskets. A response after which a till can continue is 200 with \`Result\`: \`OK\` (done), \`WARN\` (accepted, but show \`Message\`) or \`STOP\` (refused, and nothing changed) (T1, T2).\n\nAmounts are cents (T4). A call of the facade that cannot be read is a 400 with a STOP envelope; elsewhere it is \`application/problem+json\`.`,
    server: {
      ...SERVER,
      url: '{transformer_url}',
      variable: 'transformer_url',
      example: 'http://127.0.0.1:7305',
      description: 'Address of the transformer in the store.',
    },
    securitySchemes: {
      storeKey: header('x-api-key', 'TRANSFORMER_API_KEY. Not needed on loopback, or from a listed address (A9).'),
    },
    securityByGuard: { AccessGuard: [{}, { storeKey: [] }] },
    // The pages of the transformer, and their data, are only for its own displays, so they are not in the reference.
    includes: ({ app }) => app === 'pos-transformer',
    webhooks: [],
    errors: 'transformer',
  },
];
