/** Every state in which there is no card to type. */
import { formatAmount, formatTime } from './format-amount.js';
import { StateIcon } from './icons.js';
import { Amount, Fact } from './order-summary.js';
import type { ClosedPage, NotFoundPage, PaidPage, TillPage, VerificationPage } from './pay-page-model.js';
import { linkTo } from './safe-link.js';
import { atTill, closed, page, paid, processing, unknownCode, verification } from './strings.js';

/**
 * Shown by the server while a payment is on its way, and, hidden at first, beside the form: the script swaps the two
 * the moment Pay is pressed.
 */
export function ProcessingView({ hidden = false, isLate = false }: { hidden?: boolean; isLate?: boolean }) {
  return (
    <section class="method outcome" id="processing-view" hidden={hidden}>
      <div class="spinner" aria-hidden="true" />
      <h1 id="processing-heading" tabIndex={-1}>
        {isLate ? processing.lateHeading : processing.heading}
      </h1>
      <p id="processing-note" role="status">
        {isLate ? processing.stillChecking : processing.note}
      </p>
      <p class="hint" id="processing-late" hidden={!isLate}>
        {processing.lateNote}
      </p>
      {hidden ? null : (
        <noscript>
          <p>{processing.noScript}</p>
        </noscript>
      )}
    </section>
  );
}

/** The payer was at the bank's page, or is still to go there. */
export function VerificationView({ model }: { model: VerificationPage }) {
  return (
    <section class="method outcome">
      <StateIcon kind="closed" />
      <h1>{verification.heading}</h1>
      <p>{verification.note}</p>
      <a class="primary" id="verification-link" {...linkTo(model.verificationUrl)}>
        {verification.goOn}
      </a>
      {model.anotherCardUrl === undefined ? null : (
        <a class="secondary" href={model.anotherCardUrl}>
          {verification.anotherCard}
        </a>
      )}
      <p class="hint">
        {verification.until}{' '}
        <time class="local-time" dateTime={model.until}>
          {formatTime(model.until, model.locale, 'UTC')}
        </time>
      </p>
    </section>
  );
}

export function PaidView({ model }: { model: PaidPage }) {
  const succeeded = model.state === 'succeeded';
  return (
    <section class="method outcome">
      <StateIcon kind="good" />
      <h1>{succeeded ? paid.heading : paid.alreadyHeading}</h1>
      {succeeded ? null : <p>{paid.alreadyNote}</p>}
      <dl class="facts receipt">
        <div class="fact">
          <dt>{paid.amount}</dt>
          <dd>
            <Amount of={model} />
          </dd>
        </div>
        <Fact label={paid.paidTo} value={model.merchantName} />
        <Fact label={page.order} value={model.merchantOrderId} />
        <Fact label={paid.reference} value={model.paymentReference} />
        <div class="fact">
          <dt>{paid.date}</dt>
          <dd>
            <time class="local-time" dateTime={model.paidAt}>
              {formatTime(model.paidAt, model.locale, 'UTC')}
            </time>
          </dd>
        </div>
      </dl>
      {model.returnUrl === undefined ? (
        <p>{paid.scanned}</p>
      ) : (
        <a class="primary" id="return-link" {...linkTo(model.returnUrl)}>
          <bdi>{paid.returnTo(model.merchantName)}</bdi>
        </a>
      )}
      {succeeded && model.returnUrl !== undefined ? (
        <p class="hint" id="returning" role="status">
          {/* Filled by the script, which alone can keep the promise. */}
        </p>
      ) : null}
    </section>
  );
}

export function ClosedView({ model }: { model: ClosedPage }) {
  return <NothingToPay {...closed[model.state]} backToStoreUrl={model.backToStoreUrl} />;
}

export function NotFoundView({ model }: { model: NotFoundPage }) {
  return <NothingToPay {...(model.isScanned ? unknownCode : closed['not-found'])} />;
}

interface NothingToPayTexts {
  heading: string;
  note: string;
  backToStoreUrl?: string | undefined;
}

function NothingToPay({ heading, note, backToStoreUrl }: NothingToPayTexts) {
  return (
    <section class="method outcome">
      <StateIcon kind="closed" />
      <h1>{heading}</h1>
      <p>{note}</p>
      {backToStoreUrl === undefined ? null : (
        <a class="primary" {...linkTo(backToStoreUrl)}>
          {page.backToStore}
        </a>
      )}
    </section>
  );
}

export function TillView({ model }: { model: TillPage }) {
  const { merchantName, amountCents, currencyISOCode, locale } = model;
  return (
    <section class="method outcome">
      <StateIcon kind="closed" />
      <h1>{atTill.heading}</h1>
      {amountCents === null || currencyISOCode === null ? null : (
        <p class="amount">
          <bdi class="money">{formatAmount(amountCents, currencyISOCode, locale)}</bdi>
        </p>
      )}
      <p>
        {atTill.of} <bdi>{merchantName}</bdi>
      </p>
      <p>{atTill.note}</p>
    </section>
  );
}
