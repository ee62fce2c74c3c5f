/**
 * The card form. Its inputs have no `name` and the form no target: without the script nothing can be sent, and the
 * script sends nothing but the encrypted card. Everything is disabled until the script has taken over.
 */
import type { ComponentChildren } from 'preact';
import { LockIcon } from './icons.js';
import { Amount } from './order-summary.js';
import type { PayablePage } from './pay-page-model.js';
import { declineText, form, page } from './strings.js';

export function PayForm({ model }: { model: PayablePage }) {
  return (
    <section class="method" id="pay-view" aria-labelledby="pay-heading">
      <h1 id="pay-heading">{form.heading}</h1>
      {model.state === 'declined' ? <Decline model={model} /> : null}
      <div class="notice" id="form-error" role="alert" tabIndex={-1} hidden />
      <noscript>
        <p class="notice">{page.noScript}</p>
      </noscript>
      <form id="pay-form" noValidate>
        <fieldset id="pay-fields" disabled>
          <Field id="card-number" label={form.cardNumber}>
            <input
              {...inputOf('card-number', 'cc-number')}
              inputMode="numeric"
              placeholder={form.cardNumberPlaceholder}
              aria-describedby="card-number-error"
            />
            <span class="brand" id="card-brand" aria-hidden="true" />
          </Field>
          <div class="pair">
            <Field id="card-expiry" label={form.expiry}>
              <input
                {...inputOf('card-expiry', 'cc-exp')}
                inputMode="numeric"
                placeholder={form.expiryPlaceholder}
                aria-describedby="card-expiry-error"
              />
            </Field>
            <Field id="card-cvv" label={form.cvv} hint={form.cvvHint}>
              <input
                {...inputOf('card-cvv', 'cc-csc')}
                inputMode="numeric"
                maxLength={4}
                aria-describedby="card-cvv-hint card-cvv-error"
              />
            </Field>
          </div>
          <Field id="card-name" label={form.holderName}>
            <input {...inputOf('card-name', 'cc-name')} maxLength={100} aria-describedby="card-name-error" />
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

function Decline({ model }: { model: PayablePage }) {
  const { title, next } = declineText(model.decline);
  return (
    <div class="notice" id="decline" role="alert" tabIndex={-1}>
      <p class="notice-title">{title}</p>
      <p>
        <bdi>{next}</bdi>
      </p>
      <p class="notice-detail">
        {form.triesLeft(model.triesLeft)}
        {model.decline ? <span> {form.errorCode(model.decline.errorReference)}</span> : null}
      </p>
    </div>
  );
}

/** Never a `name`: what has none cannot leave in a native form post. */
function inputOf(id: string, autoComplete: 'cc-number' | 'cc-exp' | 'cc-csc' | 'cc-name') {
  return { id, autoComplete, type: 'text', required: true, spellcheck: false, autoCapitalize: 'off' } as const;
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
