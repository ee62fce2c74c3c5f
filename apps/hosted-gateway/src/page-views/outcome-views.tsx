/** The views of all page states without a card form. */
import type { Messages } from '../languages/en.js';
import { fill } from '../languages/fill.js';
import { formatTime } from '../languages/format-amount.js';
import { MAX_SESSION_PAYMENTS } from '../sessions/max-session-payments.js';
import { StateIcon } from './icons.js';
import { Amount, Fact } from './order-summary.js';
import { buildLanguageQuery, useFrame, useMessages } from './page-frame.js';
import type {
  ChargeDetails,
  ClosedPage,
  NotFoundPage,
  OrderDetails,
  PaidPage,
  ReversedCharge,
  TillPage,
  VerificationPage,
} from './pay-page-model.js';
import { ReceiptMail } from './receipt-mail/receipt-mail-form.js';
import { buildSafeHref } from './safe-link.js';

/**
 * The view while a payment is in progress. The page with the form contains it hidden, and the script shows it when the
 * payer presses Pay.
 */
export function ProcessingView({ hidden = false, isLate = false }: { hidden?: boolean; isLate?: boolean }) {
  const { processing } = useMessages();
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

/**
 * The view while the browser solves a challenge. It needs nothing from the payer: no picture, no sound, no pointer. The
 * status is outside of the view, so that screen readers announce the end, too, when the view is hidden.
 */
export function ChallengeView({ hidden }: { hidden: boolean }) {
  const { challenge, page } = useMessages();
  return (
    <>
      <section class="method outcome" id="challenge-view" hidden={hidden}>
        <h1 id="challenge-heading" tabIndex={-1}>
          {challenge.heading}
        </h1>
        {hidden ? null : (
          <noscript>
            <p class="notice">{page.noScript}</p>
          </noscript>
        )}
        <p>{challenge.note}</p>
        <progress id="challenge-progress" max={1} value={0} aria-labelledby="challenge-heading" />
      </section>
      <p class="for-screen-readers" id="challenge-status" role="status" />
    </>
  );
}

/** The view for a payer who must confirm the payment on the bank's page. */
export function VerificationView({ model }: { model: VerificationPage }) {
  const frame = useFrame();
  const { verification, format } = useMessages();
  return (
    <section class="method outcome">
      <StateIcon kind="confirm" />
      <h1>{verification.heading}</h1>
      <p>{verification.note}</p>
      <dl class="facts receipt">
        <ChargeFacts of={{ ...model, ...model.charge }} />
      </dl>
      <a class="primary" id="verification-link" {...buildSafeHref(model.verificationUrl)}>
        {verification.continueToBank}
      </a>
      {model.anotherCardUrl === undefined ? null : (
        <a class="secondary" href={[model.anotherCardUrl, buildLanguageQuery(frame)].filter(Boolean).join('&')}>
          {verification.anotherCard}
        </a>
      )}
      <p class="hint">
        {verification.until} <time dateTime={model.until}>{formatTime(model.until, format, model.untilTimeZone)}</time>
      </p>
    </section>
  );
}

/** Amount, card and time of a charge: on a receipt, or for comparison with the bank's page. */
function ChargeFacts({ of }: { of: Pick<OrderDetails, 'amountCents' | 'currencyISOCode'> & Partial<ChargeDetails> }) {
  const { paid, format } = useMessages();
  return (
    <>
      <div class="fact">
        <dt>{paid.amount}</dt>
        <dd>
          <Amount of={of} />
        </dd>
      </div>
      {of.cardLabel === undefined ? null : (
        <div class="fact">
          <dt>{paid.card}</dt>
          {/* If this browser paid, the script inserts the card brand here. The server does not know the brand. */}
          <dd>
            <span class="card-brand" /> <bdi>{of.cardLabel}</bdi>
          </dd>
        </div>
      )}
      {of.at === undefined ? null : (
        <div class="fact">
          <dt>{paid.date}</dt>
          <dd>
            <time dateTime={of.at}>{formatTime(of.at, format, of.timeZone ?? 'UTC')}</time>
          </dd>
        </div>
      )}
    </>
  );
}

export function ReversedChargesNotice({ charges }: { charges: readonly ReversedCharge[] }) {
  const { page } = useMessages();
  return (
    <div class="notice news">
      <p>{page.chargeReversed}</p>
      {charges.map((charge) => (
        <dl class="facts">
          <ChargeFacts of={charge} />
        </dl>
      ))}
    </div>
  );
}

/** The text with the receiver of the confirmation, if the payer does not return to a store. */
const PAID_TEXTS = { session: 'scanned', till: 'atTill', request: 'requested' } as const;

export function PaidView({ model }: { model: PaidPage }) {
  const { page, paid, receiptMail } = useMessages();
  const succeeded = model.state === 'succeeded';
  return (
    <section class="method outcome">
      <StateIcon kind="good" />
      <h1 id="outcome-heading" tabIndex={-1}>
        <span class={succeeded ? undefined : 'on-paper'}>{paid.heading}</span>
        {succeeded ? null : <span class="on-screen">{paid.alreadyHeading}</span>}
      </h1>
      {succeeded ? null : <p class="on-screen">{paid.alreadyNote}</p>}
      <dl class="facts receipt">
        <ChargeFacts of={{ ...model, ...model.charge }} />
        {model.merchantOrderId === undefined ? null : <Fact label={page.order} value={model.merchantOrderId} />}
        {model.paymentReference === undefined ? null : <Fact label={paid.reference} value={model.paymentReference} />}
      </dl>
      {model.paymentReference === undefined ? null : <p class="next">{paid.next}</p>}
      {model.returnUrl === undefined ? (
        <p class="next">{paid[PAID_TEXTS[model.invoiceOrigin ?? 'session']]}</p>
      ) : (
        <a class="primary" id="return-link" {...buildSafeHref(model.returnUrl)}>
          <bdi>{fill(paid.returnTo, { merchant: model.merchantName })}</bdi>
        </a>
      )}
      {succeeded && model.returnUrl !== undefined ? (
        <p class="hint">
          {/* The script fills in the text, because only the script redirects. Screen readers skip the countdown. */}
          <span id="returning" role="status" /> <span id="returning-seconds" aria-hidden="true" />
          <button class="plain" type="button" id="stay" hidden>
            {paid.stay}
          </button>
        </p>
      ) : null}
      {model.paymentReference === undefined ? null : (
        <button class="plain" type="button" id="print" hidden>
          {paid.print}
        </button>
      )}
      {model.receiptMail === undefined ? null : <ReceiptMail form={model.receiptMail} texts={receiptMail} />}
    </section>
  );
}

export function ClosedView({ model }: { model: ClosedPage }) {
  const { heading, note } = findClosedTexts(model, useMessages());
  const payments = { payments: MAX_SESSION_PAYMENTS };
  return <NothingToPay heading={heading} note={fill(note, payments)} backToStoreUrl={model.backToStoreUrl} />;
}

/** The texts of a closed page. Only the page of a till can be paused. */
export function findClosedTexts(
  { state, invoiceOrigin }: Pick<ClosedPage, 'state' | 'invoiceOrigin'>,
  { closed, closedAtTill, closedRequest }: Messages,
): { heading: string; note: string } {
  if (state === 'paused' || invoiceOrigin === 'till') return closedAtTill[state];
  return invoiceOrigin === 'request' ? closedRequest[state] : closed[state];
}

export function NotFoundView({ model }: { model: NotFoundPage }) {
  const { unknownCode, notFound } = useMessages();
  return <NothingToPay {...(model.isScanned ? unknownCode : notFound)} />;
}

export function UnavailableView() {
  const { unavailable } = useMessages();
  return (
    <section class="method outcome">
      <StateIcon kind="closed" />
      <h1>{unavailable.heading}</h1>
      <p>{unavailable.note}</p>
      <p class="hint">{unavailable.again}</p>
    </section>
  );
}

interface NothingToPayTexts {
  heading: string;
  note: string;
  backToStoreUrl?: string | undefined;
}

function NothingToPay({ heading, note, backToStoreUrl }: NothingToPayTexts) {
  const { page } = useMessages();
  return (
    <section class="method outcome">
      <StateIcon kind="closed" />
      <h1>{heading}</h1>
      <p>{note}</p>
      {backToStoreUrl === undefined ? null : (
        <a class="primary" {...buildSafeHref(backToStoreUrl)}>
          {page.backToStore}
        </a>
      )}
    </section>
  );
}

export function TillView({ model: { merchantName } }: { model: TillPage }) {
  const { atTill } = useMessages();
  return (
    <section class="method outcome">
      <StateIcon kind="waiting" />
      <h1>{atTill.heading}</h1>
      <p>
        <bdi>{merchantName}</bdi>
      </p>
      <p>{atTill.note}</p>
      <p class="hint">{atTill.again}</p>
    </section>
  );
}
