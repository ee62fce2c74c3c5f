/** Sends the page with its headers, and reads the payer's language and cookie from the request. */
import { HttpStatus } from '@nestjs/common';
import { isUuid } from '@svc/kernel';
import { acceptsGzip } from '@svc/service';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  chooseLanguage,
  explicitLanguage,
  type LanguagePreference,
  parseLanguageTag,
} from '../../languages/languages.js';
import { parseOwnReferences } from '../../own-payments.js';
import type { PageFrame } from '../../page-views/page-frame.js';
import type { PageManifest, PagePiece, PayPageModel } from '../../page-views/pay-page-model.js';
import {
  assetsOf,
  contentSecurityPolicyOf,
  CSP_REPORTS_PATH,
  renderPayPage,
} from '../../page-views/render-pay-page.js';
import { gzipPage } from './gzip-page.js';
import type { Payer } from './show-page.js';

/** The page needs none of these device features, so injected content must not have them either. */
const PERMISSIONS_POLICY = [
  ...['accelerometer', 'camera', 'display-capture', 'geolocation', 'gyroscope', 'magnetometer', 'microphone', 'midi'],
  ...['payment', 'publickey-credentials-get', 'screen-wake-lock', 'serial', 'usb', 'xr-spatial-tracking'],
]
  .map((ability) => `${ability}=()`)
  .join(', ');

type PayerRequest = Pick<FastifyRequest, 'headers' | 'url'>;

export function languagePreferenceOf({ headers, url }: PayerRequest): LanguagePreference {
  return { chosen: parseLanguageTag(queryOf(url).get('lang')), accepted: headers['accept-language'] };
}

export function payerOf(request: PayerRequest): Payer {
  return { ...languagePreferenceOf(request), ownReferences: ownReferencesOf(request) };
}

/**
 * The payment references that the script of an invoice's page stores in a cookie (browser/own-payment.ts), so that the browser
 * which paid sees its receipt. They select the payments to show and authorise nothing: without a reference the page shows less.
 */
function ownReferencesOf({ headers }: PayerRequest): readonly string[] {
  return parseOwnReferences(headers.cookie ?? '').filter(isUuid);
}

/** Sends the page, compressed if the browser accepts it. (Error pages are sent uncompressed: they are small and have no script.) */
export async function sendPage(
  reply: FastifyReply,
  model: PayPageModel,
  built: PageManifest,
  request: PayerRequest,
): Promise<void> {
  const { contentType, headers, pieces } = pagePieces(model, built, request);
  const isCompressed = acceptsGzip(request.headers['accept-encoding']?.toString());
  if (isCompressed) reply.header('content-encoding', 'gzip');
  await reply
    .status(model.state === 'not-found' ? HttpStatus.NOT_FOUND : HttpStatus.OK)
    .headers(headers)
    .header('vary', 'accept-encoding')
    .type(contentType)
    .send(isCompressed ? gzipPage(pieces) : asText(pieces));
}

/** The page with its headers, for a response of any status. */
export function pageResponse(model: PayPageModel, built: PageManifest, request: PayerRequest) {
  const { pieces, ...answer } = pagePieces(model, built, request);
  return { ...answer, body: asText(pieces) };
}

function asText(pieces: readonly PagePiece[]): string {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : piece.content)).join('');
}

function pagePieces(model: PayPageModel, built: PageManifest, request: PayerRequest) {
  const frame = frameOf(model, request);
  const parts = assetsOf(model, frame, built);
  return {
    contentType: 'text/html; charset=utf-8',
    headers: {
      'content-security-policy': contentSecurityPolicyOf(parts),
      'reporting-endpoints': `csp="${CSP_REPORTS_PATH}"`,
      'permissions-policy': PERMISSIONS_POLICY,
      'cache-control': 'no-store',
      // The merchant sees our origin as referrer, but not the session, which is in the query.
      'referrer-policy': 'strict-origin',
    },
    pieces: renderPayPage(model, parts, frame),
  };
}

function frameOf(model: PayPageModel, request: PayerRequest): PageFrame {
  const wish = languagePreferenceOf(request);
  const locale = 'locale' in model ? model.locale : undefined;
  const isNamed = explicitLanguage(wish, locale) !== undefined;
  return { language: chooseLanguage(wish, locale), isNamed, query: ownQuery(request.url) };
}

/** The query of the page, rebuilt from its known parameters only. */
function ownQuery(url: string): string {
  const [sessionId, card] = ['sessionId', 'card'].map((name) => queryOf(url).get(name));
  const parts = [isUuid(sessionId) ? `sessionId=${sessionId}` : '', card === 'another' ? 'card=another' : ''];
  return parts.filter(Boolean).join('&');
}

function queryOf(url: string): URLSearchParams {
  return new URLSearchParams(url.split('?').slice(1).join('?'));
}
