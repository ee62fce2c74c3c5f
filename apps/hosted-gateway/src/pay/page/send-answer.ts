/** How the page is answered: its headers, and what is read of the request. */
import { HttpStatus } from '@nestjs/common';
import { isUuid } from '@svc/kernel';
import { acceptsGzip } from '@svc/service';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { chooseLanguage, chosenTag, type LanguageWish, namedLanguage } from '../../languages/languages.js';
import { ownReferencesIn } from '../../own-payments.js';
import type { PageFrame } from '../../page-views/page-frame.js';
import type { PageParts, PagePiece, PayPageModel } from '../../page-views/pay-page-model.js';
import { contentSecurityPolicyOf, CSP_REPORTS_PATH, partsOf, renderPayPage } from '../../page-views/render-pay-page.js';
import { gzipPage } from './gzip-page.js';
import type { Payer } from './show-page.js';

/** The page needs none of a device's abilities, so nothing that got into it has them either. */
const PERMISSIONS_POLICY = [
  ...['accelerometer', 'camera', 'display-capture', 'geolocation', 'gyroscope', 'magnetometer', 'microphone', 'midi'],
  ...['payment', 'publickey-credentials-get', 'screen-wake-lock', 'serial', 'usb', 'xr-spatial-tracking'],
]
  .map((ability) => `${ability}=()`)
  .join(', ');

type PayerRequest = Pick<FastifyRequest, 'headers' | 'url'>;

export function languageWishOf({ headers, url }: PayerRequest): LanguageWish {
  return { chosen: chosenTag(queryOf(url).get('lang')), accepted: headers['accept-language'] };
}

export function payerOf(request: PayerRequest): Payer {
  return { ...languageWishOf(request), ownReferences: ownReferencesOf(request) };
}

/**
 * The references that the script of an invoice's page keeps in a cookie of that page (browser/own-payment.ts), so that the browser
 * which paid is shown its receipt. They say which payments to show and open nothing: who cannot know a reference is shown less.
 */
function ownReferencesOf({ headers }: PayerRequest): readonly string[] {
  return ownReferencesIn(headers.cookie ?? '').filter(isUuid);
}

/** Compressed, as much of it beforehand as can be. The page of an error is sent as it is: it is small, and has no script. */
export async function sendPage(
  reply: FastifyReply,
  model: PayPageModel,
  built: PageParts,
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

/** The page with its headers, for an answer of any status. */
export function pageAnswer(model: PayPageModel, built: PageParts, request: PayerRequest) {
  const { pieces, ...answer } = pagePieces(model, built, request);
  return { ...answer, body: asText(pieces) };
}

function asText(pieces: readonly PagePiece[]): string {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : piece.content)).join('');
}

function pagePieces(model: PayPageModel, built: PageParts, request: PayerRequest) {
  const frame = frameOf(model, request);
  const parts = partsOf(model, frame, built);
  return {
    contentType: 'text/html; charset=utf-8',
    headers: {
      'content-security-policy': contentSecurityPolicyOf(parts),
      'reporting-endpoints': `csp="${CSP_REPORTS_PATH}"`,
      'permissions-policy': PERMISSIONS_POLICY,
      'cache-control': 'no-store',
      // The merchant learns where the payer comes from, but not which session: that is in the query.
      'referrer-policy': 'strict-origin',
    },
    pieces: renderPayPage(model, parts, frame),
  };
}

function frameOf(model: PayPageModel, request: PayerRequest): PageFrame {
  const wish = languageWishOf(request);
  const locale = 'locale' in model ? model.locale : undefined;
  const isNamed = namedLanguage(wish, locale) !== undefined;
  return { language: chooseLanguage(wish, locale), isNamed, query: ownQuery(request.url) };
}

/** What is known to be the page's own of what it was asked for. */
function ownQuery(url: string): string {
  const [sessionId, card] = ['sessionId', 'card'].map((name) => queryOf(url).get(name));
  const parts = [isUuid(sessionId) ? `sessionId=${sessionId}` : '', card === 'another' ? 'card=another' : ''];
  return parts.filter(Boolean).join('&');
}

function queryOf(url: string): URLSearchParams {
  return new URLSearchParams(url.split('?').slice(1).join('?'));
}
