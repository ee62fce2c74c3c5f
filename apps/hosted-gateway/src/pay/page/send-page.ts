/** Sends the page with its headers, and reads the payer's language and cookie from the request. */
import { HttpStatus } from '@nestjs/common';
import { isUuid } from '@svc/kernel';
import { acceptsGzip } from '@svc/service';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  chooseLanguage,
  findExplicitLanguage,
  type LanguagePreference,
  parseLanguageTag,
} from '../../languages/languages.js';
import { parseOwnReferences } from '../../own-payments.js';
import type { PageFrame } from '../../page-views/page-frame.js';
import type { PageManifest, PayPageModel } from '../../page-views/pay-page-model.js';
import { RECEIPT_RESULTS } from '../../page-views/receipt-mail/receipt-mail-form.js';
import { buildPagePolicy, CSP_REPORTS_PATH, renderPayPage, selectShell } from '../../page-views/render-pay-page.js';
import { encodePage, gzipPage } from './encode-page.js';
import type { Payer } from './show-page.js';

/** Disables device features that the page does not need, so that injected content cannot use them either. */
const PERMISSIONS_POLICY = [
  ...['accelerometer', 'camera', 'display-capture', 'geolocation', 'gyroscope', 'magnetometer', 'microphone', 'midi'],
  ...['payment', 'publickey-credentials-get', 'screen-wake-lock', 'serial', 'usb', 'xr-spatial-tracking'],
]
  .map((feature) => `${feature}=()`)
  .join(', ');

type PayerRequest = Pick<FastifyRequest, 'headers' | 'url'>;

export function readLanguagePreference({ headers, url }: PayerRequest): LanguagePreference {
  return { chosen: parseLanguageTag(parseQuery(url).get('lang')), accepted: headers['accept-language'] };
}

export function readPayer(request: PayerRequest): Payer {
  const receiptResult = RECEIPT_RESULTS.find((result) => result === parseQuery(request.url).get('receipt'));
  return { ...readLanguagePreference(request), ownReferences: readOwnReferences(request), receiptResult };
}

/**
 * The payment references that the script of an invoice's page stores in a cookie (browser/own-payment.ts), so that the
 * payer's browser shows the receipt. They only select which payments the page shows in detail, and authorise nothing.
 */
function readOwnReferences({ headers }: PayerRequest): readonly string[] {
  return parseOwnReferences(headers.cookie ?? '').filter(isUuid);
}

/**
 * Sends the page, compressed if the browser accepts gzip. (Error pages are sent uncompressed, because they are small
 * and have no script.)
 */
export async function sendPage(
  reply: FastifyReply,
  model: PayPageModel,
  manifest: PageManifest,
  request: PayerRequest,
): Promise<void> {
  const { contentType, headers, pieces } = renderPieces(model, manifest, request);
  const isCompressed = acceptsGzip(request.headers['accept-encoding']?.toString());
  if (isCompressed) reply.header('content-encoding', 'gzip');
  await reply
    .status(model.state === 'not-found' ? HttpStatus.NOT_FOUND : HttpStatus.OK)
    .headers(headers)
    .header('vary', 'accept-encoding')
    .type(contentType)
    .send(isCompressed ? gzipPage(pieces) : encodePage(pieces));
}

/** The page with its headers, for a response of any status. */
export function buildPageResponse(model: PayPageModel, manifest: PageManifest, request: PayerRequest) {
  const { pieces, ...response } = renderPieces(model, manifest, request);
  return { ...response, body: encodePage(pieces).toString() };
}

function renderPieces(model: PayPageModel, manifest: PageManifest, request: PayerRequest) {
  const frame = buildFrame(model, request);
  const shell = selectShell(model, frame, manifest);
  return {
    contentType: 'text/html; charset=utf-8',
    headers: {
      'content-security-policy': buildPagePolicy(shell, model),
      'reporting-endpoints': `csp="${CSP_REPORTS_PATH}"`,
      'permissions-policy': PERMISSIONS_POLICY,
      'cache-control': 'no-store',
      // The merchant's server gets only our origin as referrer, not the query with the session id.
      'referrer-policy': 'strict-origin',
    },
    pieces: renderPayPage(model, shell, frame),
  };
}

function buildFrame(model: PayPageModel, request: PayerRequest): PageFrame {
  const preference = readLanguagePreference(request);
  const locale = 'locale' in model ? model.locale : undefined;
  const isLanguageChosen = findExplicitLanguage(preference, locale) !== undefined;
  return { language: chooseLanguage(preference, locale), isLanguageChosen, query: buildPageQuery(request.url) };
}

/** The query of the page with only the parameters that the page supports. */
function buildPageQuery(url: string): string {
  const [sessionId, card] = ['sessionId', 'card'].map((name) => parseQuery(url).get(name));
  const parameters = [isUuid(sessionId) ? `sessionId=${sessionId}` : '', card === 'another' ? 'card=another' : ''];
  return parameters.filter(Boolean).join('&');
}

function parseQuery(url: string): URLSearchParams {
  return new URLSearchParams(url.split('?').slice(1).join('?'));
}
