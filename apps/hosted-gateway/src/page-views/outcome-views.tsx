/** Every state in which there is no card to type. */
import { formatTime } from './format-amount.js';
import { StateIcon } from './icons.js';
import { Amount, Fact } from './order-summary.js';
import type { ClosedPage, NotFoundPage, PaidPage } from './pay-page-model.js';
import { linkTo } from './safe-link.js';
import { closed, page, paid, processing } from './strings.js';

/**
 * Shown by the server while a payment is on its way, and, hidden at first, beside the form: the script swaps the two
 * the moment Pay is pressed.
 */
export function ProcessingView({ hidden = false }: { hidden?: boolean }) {
  return (
    <section class="method outcome" id="processing-view" hidden={hidden}>
      <div class="spinner" aria-hidden="true" />
      <h1 id="processing-heading" tabIndex={-1}>
        {processing.heading}
      </h1>
      <p id="processing-note" role="status">
        {processing.note}
      </p>
      {hidden ? null : (
        <noscript>
          <p>{processing.noScript}</p>
        </noscript>
      )}
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
            <time id="paid-at" dateTime={model.paidAt}>
              {formatTime(model.paidAt, model.locale, 'UTC')}
            </time>
          </dd>
        </div>
      </dl>
      <a class="primary" id="return-link" {...linkTo(model.returnUrl)}>
        <bdi>{paid.returnTo(model.merchantName)}</bdi>
      </a>
      {succeeded ? (
        <p class="hint" id="returning" role="status">
          {/* Filled by the script, which alone can keep the promise. */}
        </p>
      ) : null}
    </section>
  );
}

export function ClosedView({ model }: { model: ClosedPage | NotFoundPage }) {
  const { heading, note } = closed[model.state];
  return (
    <section class="method outcome">
      <StateIcon kind="closed" />
      <h1>{heading}</h1>
      <p>{note}</p>
      {model.state === 'not-found' ? null : (
        <a class="primary" {...linkTo(model.backToStoreUrl)}>
          {page.backToStore}
        </a>
      )}
    </section>
  );
}
