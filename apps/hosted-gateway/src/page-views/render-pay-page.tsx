/**
 * The payment page as the payer's browser gets it: a complete document for each state of a session. The server always
 * renders the truth; the script only makes the form usable, encrypts the card and asks until the state changes.
 *
 * What the script needs travels in data attributes of <main>: they are escaped like any text and need no exception
 * from the content security policy, as an inline script would.
 */
import type { JSX } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { formatAmount } from './format-amount.js';
import { LockIcon } from './icons.js';
import { OrderSummary } from './order-summary.js';
import { ClosedView, NotFoundView, PaidView, ProcessingView, TillView, VerificationView } from './outcome-views.js';
import { PayByCode } from './pay-by-code.js';
import { PayForm } from './pay-form.js';
import type { ClosedPage, PageAssets, PayablePage, PayPageModel, SessionPage } from './pay-page-model.js';
import { linkTo } from './safe-link.js';
import { atTill, closed, page, paid, processing, unknownCode, verification } from './strings.js';

/** Sent with every page. No inline script or style, no other origin, no frame around it, no native form post. */
export const PAY_PAGE_CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const ASSETS_PATH = '/pay/assets';

export function renderPayPage(model: PayPageModel, assets: PageAssets): string {
  return `<!doctype html>${renderToString(<PayPage model={model} assets={assets} />)}`;
}

function PayPage({ model, assets }: { model: PayPageModel; assets: PageAssets }) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{titleOf(model)}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <meta name="robots" content="noindex, nofollow" />
        <meta name="format-detection" content="telephone=no" />
        {/* Without the script, the page of a running payment must still find out how it ended. */}
        {model.state === 'processing' || model.state === 'verification' ? (
          <noscript>
            <meta http-equiv="refresh" content="5" />
          </noscript>
        ) : null}
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={`${ASSETS_PATH}/${assets.style.file}`} integrity={assets.style.integrity} />
        <script src={`${ASSETS_PATH}/${assets.script.file}`} integrity={assets.script.integrity} defer />
      </head>
      <body>
        {/* Where nothing can be paid any more, the way back is the page's main button instead. */}
        {navigatesTo(model) === undefined ? null : (
          <nav>
            <a class="back" {...linkTo(navigatesTo(model)!)}>
              <span aria-hidden="true">← </span>
              {page.backToStore}
            </a>
          </nav>
        )}
        <main {...scriptData(model)} class={isSession(model) ? 'sheet' : 'sheet alone'}>
          {/* On a phone one is above the other: before paying the order comes first, afterwards the outcome does. */}
          {isPayable(model) ? <OrderSummary order={model} /> : null}
          {/* One column or more: another way to pay takes its place beside the card, or below it on a phone. */}
          <div class="methods">
            {isSession(model) && model.hasGivenBack ? <p class="notice given-back">{page.givenBack}</p> : null}
            {viewOf(model)}
          </div>
          {isPayable(model) || !isSession(model) ? null : <OrderSummary order={model} />}
        </main>
        <footer>
          <LockIcon />
          <span>{isPayable(model) ? page.footer : page.footerPlain}</span>
        </footer>
      </body>
    </html>
  );
}

function viewOf(model: PayPageModel): JSX.Element {
  switch (model.state) {
    case 'open':
    case 'declined':
      return (
        <>
          <PayForm model={model} />
          {model.code === undefined ? null : <PayByCode code={model.code} />}
          <ProcessingView hidden />
        </>
      );
    case 'processing':
      return <ProcessingView isLate={model.isLate} />;
    case 'verification':
      return <VerificationView model={model} />;
    case 'succeeded':
    case 'already-paid':
      return <PaidView model={model} />;
    case 'till':
      return <TillView model={model} />;
    case 'refused':
    case 'expired':
    case 'cancelled':
      return <ClosedView model={model} />;
    case 'not-found':
      return <NotFoundView model={model} />;
  }
}

function titleOf(model: PayPageModel): string {
  switch (model.state) {
    case 'open':
    case 'declined':
      return page.payTitle(formatAmount(model.amountCents, model.currencyISOCode, model.locale), model.merchantName);
    case 'processing':
      return page.stateTitle(model.isLate ? processing.lateHeading : processing.heading, model.merchantName);
    case 'verification':
      return page.stateTitle(verification.heading, model.merchantName);
    case 'succeeded':
      return page.stateTitle(paid.heading, model.merchantName);
    case 'already-paid':
      return page.stateTitle(paid.alreadyHeading, model.merchantName);
    case 'till':
      return page.stateTitle(atTill.heading, model.merchantName);
    case 'not-found':
      return (model.isScanned ? unknownCode : closed['not-found']).heading;
    default:
      return page.stateTitle(closed[model.state].heading, model.merchantName);
  }
}

function scriptData(model: PayPageModel): Record<`data-${string}`, string | undefined> {
  if (!isSession(model)) return { 'data-state': model.state };
  const common = {
    'data-state': model.state,
    'data-session-id': model.sessionId,
    'data-calls-path': model.callsPath,
    'data-session-version': model.sessionVersion === undefined ? undefined : String(model.sessionVersion),
    'data-locale': model.locale,
  };
  if (!isPayable(model)) return common;
  const { kty, crv, x, y, kid } = model.encryptionKey;
  return {
    ...common,
    'data-try': String(model.try),
    'data-expires-at': model.expiresAt,
    // Member by member: were a private key ever passed in, its secret part would stay here.
    'data-encryption-key': JSON.stringify({ kty, crv, x, y, kid }),
  };
}

/** Where the link above the order leads; nothing leads away from a payment that is under way. */
function navigatesTo(model: PayPageModel): string | undefined {
  if (!isSession(model) || isClosed(model) || model.state === 'processing') return undefined;
  return model.backToStoreUrl;
}

function isClosed(model: SessionPage): model is ClosedPage {
  return ['refused', 'expired', 'cancelled'].includes(model.state);
}

/** Whether there is an order to show. */
function isSession(model: PayPageModel): model is SessionPage {
  return model.state !== 'till' && model.state !== 'not-found';
}

function isPayable(model: PayPageModel): model is PayablePage {
  return model.state === 'open' || model.state === 'declined';
}
