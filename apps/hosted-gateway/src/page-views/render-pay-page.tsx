/**
 * Renders the payment page: a complete HTML document for each state. The server always renders the current state. The
 * script only enables the form, encrypts the card and polls until the state changes.
 *
 * The script reads its data from data attributes of <main>, which are escaped like any text. The script itself is the
 * same in all pages of one language, so that the content security policy can allow it by its hash.
 */
import type { JSX } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Messages } from '../languages/en.js';
import { fill } from '../languages/fill.js';
import { formatAmount } from '../languages/format-amount.js';
import type { Language } from '../languages/languages.js';
import type { PageAsset } from '../page-assets.js';
import { LockIcon } from './icons.js';
import { LanguageSwitch } from './language-switch.js';
import { MerchantContact } from './merchant-look/merchant-look.js';
import { OrderSummary } from './order-summary.js';
import {
  ChallengeView,
  ClosedView,
  findClosedTexts,
  NotFoundView,
  PaidView,
  ProcessingView,
  ReversedChargesNotice,
  TillView,
  UnavailableView,
  VerificationView,
} from './outcome-views.js';
import { buildLanguageQuery, FrameContext, type PageFrame } from './page-frame.js';
import { PayByCode } from './pay-by-code.js';
import { PayForm } from './pay-form.js';
import type {
  ClosedPage,
  PageManifest,
  PagePiece,
  PayablePage,
  PayPageModel,
  SessionPage,
  SharedPiece,
} from './pay-page-model.js';
import { buildSafeHref } from './safe-link.js';

/**
 * Path to which browsers report violations of the content security policy. The gateway counts the reports and does not
 * store them.
 */
export const CSP_REPORTS_PATH = '/pay/csp-reports';

/**
 * The beginning and the end of a page, with its style and script. They are large and the same for all pages of one
 * language, so they are rendered, encoded and compressed only once.
 */
export interface PageShell {
  readonly head: SharedPiece;
  readonly tail: SharedPiece;
  readonly contentSecurityPolicy: string;
}

const shells = new WeakMap<PageManifest, Map<string, PageShell>>();

/** Selects the shell of a page. A page that cannot change, and takes no card, has no script. */
export function selectShell(model: PayPageModel, { language }: PageFrame, manifest: PageManifest): PageShell {
  const isStatic = isSession(model)
    ? isPreview(model) || (isClosed(model) && !model.reversedCharges?.length)
    : model.state !== 'till';
  const ofManifest = shells.get(manifest) ?? new Map<string, PageShell>();
  shells.set(manifest, ofManifest);
  const key = `${language.tag} ${isStatic}`;
  const shell = ofManifest.get(key) ?? renderShell(language, manifest, isStatic);
  ofManifest.set(key, shell);
  return shell;
}

function renderShell({ tag, direction }: Language, { style, scripts }: PageManifest, isStatic: boolean): PageShell {
  const script = isStatic ? undefined : scripts[tag];
  const head = renderToString(
    <>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex, nofollow" />
      <meta name="format-detection" content="telephone=no" />
      <link rel="icon" href="data:," />
    </>,
  );
  // The script is at the end, so that the browser shows the page before it has loaded the script.
  const end = script === undefined ? '' : `<script>${script.content}</script>`;
  return {
    head: {
      content: `<!doctype html><html lang="${tag}" dir="${direction}"><head>${head}<style>${style.content}</style>`,
    },
    tail: { content: `${end}</body></html>` },
    contentSecurityPolicy: buildContentSecurityPolicy(style, script),
  };
}

/** The Content-Security-Policy allows only the script and style of this build, no other origin, no framing and no native form post. */
function buildContentSecurityPolicy(style: PageAsset, script: PageAsset | undefined): string {
  return [
    "default-src 'none'",
    `script-src ${script === undefined ? "'none'" : `'${script.integrity}'`}`,
    `style-src '${style.integrity}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    // The script only creates elements and text, never markup, so untrusted text cannot become markup.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    `report-uri ${CSP_REPORTS_PATH}`,
    'report-to csp',
  ].join('; ');
}

/**
 * The Content-Security-Policy of one page: that of its shell, and the style of the merchant's look, and the form of a
 * receipt, which is sent to this origin.
 */
export function buildPagePolicy({ contentSecurityPolicy }: PageShell, model: PayPageModel): string {
  const style = findLook(model)?.style;
  const withStyle =
    style === undefined
      ? contentSecurityPolicy
      : contentSecurityPolicy.replace('; connect-src', ` '${style.integrity}'; connect-src`);
  return hasForm(model) ? withStyle.replace("form-action 'none'", "form-action 'self'") : withStyle;
}

function findLook(model: PayPageModel) {
  return 'look' in model ? model.look : undefined;
}

function hasForm(model: PayPageModel): boolean {
  return 'receiptMail' in model && model.receiptMail !== undefined;
}

export function renderPayPage(model: PayPageModel, { head, tail }: PageShell, frame: PageFrame): PagePiece[] {
  const title = renderToString(<HeadOfState model={model} frame={frame} />);
  const body = renderToString(
    <FrameContext.Provider value={frame}>
      <PageBody model={model} frame={frame} />
    </FrameContext.Provider>,
  );
  const style = findLook(model)?.style;
  const lookStyle = style === undefined ? '' : `<style>${style.content}</style>`;
  const bodyTag = isSession(model) && isPreview(model) ? '<body inert>' : '<body>';
  return [head, `${lookStyle}${title}</head>${bodyTag}${body}`, tail];
}

/** The end of <head>, which depends on the state. */
function HeadOfState({ model, frame }: { model: PayPageModel; frame: PageFrame }) {
  return (
    <>
      <title>{buildTitle(model, frame.language.messages)}</title>
      {/* Without a script, these pages reload to show the result of the payment, or the new invoice of a till. */}
      {['processing', 'verification', 'till'].includes(model.state) ? (
        <noscript>
          <meta http-equiv="refresh" content="5" />
        </noscript>
      ) : null}
      {/* These pages have no script, so they reload by themselves in every browser. */}
      {model.state === 'unavailable' ? <meta http-equiv="refresh" content="5" /> : null}
      {model.state === 'paused' ? <meta http-equiv="refresh" content="30" /> : null}
    </>
  );
}

function PageBody({ model, frame }: { model: PayPageModel; frame: PageFrame }) {
  const { page, merchantContact } = frame.language.messages;
  const look = findLook(model);
  return (
    <>
      <nav>
        {/* A closed page has no link here, because its main button leads to the store. */}
        {findStoreLink(model) === undefined ? null : (
          <a class="back" {...buildSafeHref(findStoreLink(model)!)}>
            <span aria-hidden="true">← </span>
            {page.backToStore}
          </a>
        )}
        {isSession(model) && isPreview(model) ? null : <LanguageSwitch />}
      </nav>
      {isSession(model) && model.isTest ? <header class="test-badge">{page.test}</header> : null}
      <main {...buildScriptData(model, frame)} class={isSession(model) ? 'sheet' : 'sheet alone'}>
        {/* On a phone the order is above the form, but below the result of a payment. */}
        {isPayable(model) ? <OrderSummary order={model} /> : null}
        {/* The form and the QR code: side by side, or one below the other on a phone. */}
        <div class="methods">
          {isSession(model) && model.reversedCharges?.length ? (
            <ReversedChargesNotice charges={model.reversedCharges} />
          ) : null}
          {renderView(model)}
        </div>
        {isPayable(model) || !isSession(model) ? null : (
          <OrderSummary order={model} without={listFieldsShownByView(model)} />
        )}
      </main>
      <footer class={look === undefined ? undefined : 'with-contact'}>
        <LockIcon />
        <span>{isPayable(model) ? `${page.footerPlain}. ${page.footer}` : page.footerPlain}</span>
        {look === undefined || !('merchantName' in model) ? null : (
          <MerchantContact look={look} name={model.merchantName} texts={merchantContact} />
        )}
      </footer>
    </>
  );
}

function renderView(model: PayPageModel): JSX.Element {
  switch (model.state) {
    case 'open':
    case 'declined':
      return (
        // All views have the same place, so that nothing moves when another view replaces the form.
        <div class="stack">
          <div class={model.challenge === undefined ? 'ways' : 'ways away'} id="ways">
            <PayForm model={model} />
            {model.code === undefined ? null : <PayByCode code={model.code} />}
          </div>
          <ProcessingView hidden />
          <ChallengeView hidden={model.challenge === undefined} />
        </div>
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
    case 'paused':
    case 'expired':
    case 'cancelled':
      return <ClosedView model={model} />;
    case 'not-found':
      return <NotFoundView model={model} />;
    case 'unavailable':
      return <UnavailableView />;
  }
}

function buildTitle(model: PayPageModel, messages: Messages): string {
  const { payTitle, stateTitle } = messages.page;
  if (isPayable(model)) {
    const amount = formatAmount(model.amountCents, model.currencyISOCode, messages.format);
    return fill(payTitle, { amount, merchant: model.merchantName });
  }
  const heading = findHeading(model, messages);
  return 'merchantName' in model ? fill(stateTitle, { heading, merchant: model.merchantName }) : heading;
}

function findHeading(model: Exclude<PayPageModel, PayablePage>, messages: Messages): string {
  const { processing, verification, paid, atTill, notFound, unknownCode, unavailable } = messages;
  switch (model.state) {
    case 'processing':
      return model.isLate ? processing.lateHeading : processing.heading;
    case 'verification':
      return verification.heading;
    case 'succeeded':
      return paid.heading;
    case 'already-paid':
      return paid.alreadyHeading;
    case 'till':
      return atTill.heading;
    case 'not-found':
      return (model.isScanned ? unknownCode : notFound).heading;
    case 'unavailable':
      return unavailable.heading;
    default:
      return findClosedTexts(model, messages).heading;
  }
}

function buildScriptData(model: PayPageModel, frame: PageFrame): Record<`data-${string}`, string | undefined> {
  if (!isSession(model)) return { 'data-state': model.state };
  const common = {
    'data-state': model.state,
    'data-session-id': model.sessionId,
    'data-calls-path': model.callsPath,
    'data-session-version': model.sessionVersion === undefined ? undefined : String(model.sessionVersion),
    'data-calls-query': frame.isLanguageChosen ? `?${buildLanguageQuery(frame)}` : undefined,
  };
  if (!isPayable(model)) return common;
  const { kty, crv, x, y, kid } = model.encryptionKey;
  return {
    ...common,
    'data-payment-number': String(model.paymentNumber),
    'data-expires-at': model.expiresAt,
    'data-time-zone': model.timeZone,
    'data-rendered-at': model.renderedAt,
    'data-challenge': model.challenge,
    ...buildChoiceData(model),
    // Writes only the public members, so that a private key cannot leak by mistake.
    'data-encryption-key': JSON.stringify({ kty, crv, x, y, kid }),
  };
}

/** Data for the script about the fields for amount and tip. Empty unless the payable is an invoice. */
function buildChoiceData({ choice, amountCents, currencyISOCode }: PayablePage): Record<`data-${string}`, string> {
  if (choice === undefined) return {};
  return {
    'data-amount': String(amountCents),
    'data-amount-min': String(choice.amountCents?.min ?? amountCents),
    'data-amount-max': String(choice.amountCents?.max ?? amountCents),
    'data-tip-max': String(choice.tipMaxCents ?? 0),
    'data-currency': currencyISOCode,
  };
}

/** URL of the store link at the top of the page. Undefined if the page has no store link, or has it in its view. */
function findStoreLink(model: PayPageModel): string | undefined {
  if (!isSession(model) || isClosed(model) || model.state === 'processing' || model.state === 'verification')
    return undefined;
  return model.backToStoreUrl;
}

/** The fields of the order that the view of this state shows, so that the summary must not repeat them. */
function listFieldsShownByView({ state }: SessionPage): readonly ('amount' | 'order')[] {
  if (state === 'succeeded' || state === 'already-paid') return ['amount', 'order'];
  return state === 'verification' ? ['amount'] : [];
}

function isClosed(model: SessionPage): model is ClosedPage {
  return ['refused', 'paused', 'expired', 'cancelled'].includes(model.state);
}

/** True if the page belongs to a session or invoice, so that there is an order to show. */
function isSession(model: PayPageModel): model is SessionPage {
  return model.state !== 'till' && model.state !== 'not-found' && model.state !== 'unavailable';
}

/** Nothing in a preview can be pressed or typed. */
function isPreview(model: SessionPage): boolean {
  return isPayable(model) && model.isPreview === true;
}

function isPayable(model: PayPageModel): model is PayablePage {
  return model.state === 'open' || model.state === 'declined';
}
