/**
 * The card form. Its inputs have no `name` and the form has no target, so without the script the browser cannot send
 * anything. The script sends only the encrypted card. All fields are disabled until the script enables them.
 */
import type { ComponentChildren } from 'preact';
import { buildDeclineText, buildPaymentsLeftText, buildReferenceText } from '../languages/decline-text.js';
import { CardMarks, LockIcon } from './icons.js';
import { Amount } from './order-summary.js';
import { useFrame, useMessages } from './page-frame.js';
import type { PayablePage, PaymentChoice } from './pay-page-model.js';

export function PayForm({ model }: { model: PayablePage }) {
  const { form } = useMessages();
  return (
    <section class="method" id="pay-view" aria-labelledby="pay-heading">
      <div class="form-head">
        <h1 id="pay-heading">{form.heading}</h1>
        <CardMarks label={form.acceptedCards} />
      </div>
      {model.state === 'declined' ? <Decline model={model} /> : null}
      <div class="notice" id="form-error" role="alert" tabIndex={-1} hidden />
      <ExpiryNotice canExtend={model.canExtend} />
      {model.isPreview ? null : <ScriptHints />}
      {/* Without a script the style sheet hides the form, except in a preview. */}
      <form id={model.isPreview ? undefined : 'pay-form'} noValidate>
        <fieldset id="pay-fields" disabled={!model.isPreview}>
          {model.choice === undefined ? null : <AmountFields model={model} terms={model.choice} />}
          <Field id="card-number" label={form.cardNumber}>
            <input
              {...buildInputAttributes('card-number', 'cc-number')}
              inputMode="numeric"
              placeholder={form.cardNumberPlaceholder}
              aria-describedby="card-number-error"
            />
            <span class="brand" id="card-brand" aria-hidden="true" />
          </Field>
          <div class="pair">
            <Field id="card-expiry" label={form.expiry}>
              <input
                {...buildInputAttributes('card-expiry', 'cc-exp')}
                inputMode="numeric"
                placeholder={form.expiryPlaceholder}
                aria-describedby="card-expiry-error"
              />
            </Field>
            <Field id="card-cvv" label={form.cvv} hint={form.cvvHintEither}>
              <input
                {...buildInputAttributes('card-cvv', 'cc-csc')}
                inputMode="numeric"
                maxLength={4}
                aria-describedby="card-cvv-hint card-cvv-error"
              />
            </Field>
          </div>
          <Field id="card-name" label={form.holderName}>
            <input
              {...buildInputAttributes('card-name', 'cc-name')}
              autoCapitalize="words"
              enterKeyHint="done"
              maxLength={100}
              aria-describedby="card-name-error"
            />
          </Field>
          <button class="primary" id="pay-button" type="submit">
            <LockIcon />
            <span>
              {form.pay} <Amount of={model} />
            </span>
          </button>
        </fieldset>
      </form>
    </section>
  );
}

function ScriptHints() {
  const { form, page } = useMessages();
  return (
    <>
      <noscript>
        <p class="notice">{page.noScript}</p>
      </noscript>
      {/* The style sheet shows this hint after some seconds, unless the script has loaded and hidden it. */}
      <p class="hint script-late" id="script-late">
        {form.stillLoading} <a href="">{form.reload}</a>.
      </p>
    </>
  );
}

/** A notice that the script fills in the last minutes of the session, and that screen readers announce. */
function ExpiryNotice({ canExtend }: Pick<PayablePage, 'canExtend'>) {
  const { form } = useMessages();
  return (
    <div class="notice news" id="expiring" hidden>
      <p id="expiring-text" role="status" tabIndex={-1} />
      {canExtend ? (
        <button class="plain" type="button" id="more-time">
          {form.moreTime}
        </button>
      ) : null}
    </div>
  );
}

/**
 * The fields for amount and tip. They are text fields, because a number field could show another decimal mark than the
 * payer typed.
 */
function AmountFields({ model, terms }: { model: PayablePage; terms: PaymentChoice }) {
  const { choice, format } = useMessages();
  const money = {
    inputMode: 'decimal',
    type: 'text',
    autoComplete: 'off',
    enterKeyHint: 'next',
    maxLength: 20,
  } as const;
  const initialAmount = formatPlainAmount(model.amountCents, format);
  return (
    <>
      {terms.amountCents === undefined ? null : (
        <Field id="pay-amount" label={choice.amount}>
          <input {...money} id="pay-amount" value={initialAmount} aria-describedby="pay-amount-error" />
        </Field>
      )}
      {terms.tipMaxCents === undefined ? null : (
        <Field id="pay-tip" label={choice.tip}>
          <input {...money} id="pay-tip" aria-describedby="pay-tip-error" />
        </Field>
      )}
      {terms.tipMaxCents === undefined ? null : <p class="hint" id="pay-sum" role="status" />}
    </>
  );
}

/** The amount without currency and spaces, as a payer would type it: `89.50`. */
function formatPlainAmount(cents: number, { decimalMark }: { decimalMark: string }): string {
  const digits = String(cents).padStart(3, '0');
  return `${digits.slice(0, -2)}${decimalMark}${digits.slice(-2)}`;
}

function Decline({ model }: { model: PayablePage }) {
  const { language } = useFrame();
  const { title, next } = buildDeclineText(language, model.decline);
  const paymentsLeft = buildPaymentsLeftText(language, model.paymentsLeft);
  const reference = buildReferenceText(language, model.decline);
  return (
    <div class="notice" id="decline" role="alert" tabIndex={-1}>
      <p class="notice-title">{title}</p>
      <p>
        <bdi>{next}</bdi>
      </p>
      {paymentsLeft === '' ? null : <p class="notice-detail">{paymentsLeft}</p>}
      {reference === undefined ? null : <p class="notice-detail">{reference}</p>}
    </div>
  );
}

/** Attributes of an input. They contain no `name`, so that a native form post cannot send the value. */
function buildInputAttributes(id: string, autoComplete: 'cc-number' | 'cc-exp' | 'cc-csc' | 'cc-name') {
  const attributes = { autoCapitalize: 'off', autoCorrect: 'off', enterKeyHint: 'next', spellcheck: false } as const;
  return { id, autoComplete, type: 'text', required: true, ...attributes } as const;
}

function Field(props: { id: string; label: string; hint?: string; children: ComponentChildren }) {
  return (
    <div class="field">
      <label for={props.id}>{props.label}</label>
      <div class="control">{props.children}</div>
      {props.hint ? (
        <p class="hint" id={`${props.id}-hint`}>
          {props.hint}
        </p>
      ) : null}
      <p class="field-error" id={`${props.id}-error`} aria-live="polite" />
    </div>
  );
}
