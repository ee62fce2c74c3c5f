/** What is paid for, and to whom. Everything here was written by a stranger: text only, each piece isolated (bdi). */
import { formatAmount } from './format-amount.js';
import type { OrderShown } from './pay-page-model.js';
import { page } from './strings.js';

export function Amount({ of }: { of: OrderShown }) {
  return <bdi class="money">{formatAmount(of.amountCents, of.currencyISOCode, of.locale)}</bdi>;
}

export function OrderSummary({ order }: { order: OrderShown }) {
  const { shown, folded } = fold(order.customFields);
  const isLong = formatAmount(order.amountCents, order.currencyISOCode, order.locale).length > 12;
  return (
    <section class="summary" aria-label={page.yourOrder}>
      <p class="merchant">
        <MerchantMark name={order.merchantName} />
        <span>
          <bdi class="merchant-name">{order.merchantName}</bdi>
          {order.siteName ? <bdi class="site-name">{order.siteName}</bdi> : null}
        </span>
      </p>
      <p class={isLong ? 'amount long' : 'amount'}>
        <Amount of={order} />
      </p>
      <dl class="facts">
        <Fact label={page.order} value={order.merchantOrderId} />
        {shown.map((field) => (
          <Fact label={field.key} value={field.value} />
        ))}
      </dl>
      {folded.length > 0 ? (
        <details>
          <summary>{page.moreDetails}</summary>
          <dl class="facts">
            {folded.map((field) => (
              <Fact label={field.key} value={field.value} />
            ))}
          </dl>
        </details>
      ) : null}
    </section>
  );
}

/** Colours of the style sheet, each with enough contrast to the letter on it. */
const TONES = 8;

/** A letter on a colour that is always the merchant's: what a payer recognises where nobody has a logo. */
function MerchantMark({ name }: { name: string }) {
  const letter = /\p{L}|\p{N}/u.exec(name)?.[0] ?? '•';
  const tone =
    [...name].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003, 7) % TONES;
  return (
    <span class={`mark tone-${tone}`} aria-hidden="true">
      {letter.toLocaleUpperCase('en').slice(0, 2)}
    </span>
  );
}

export function Fact({ label, value }: { label: string; value: string }) {
  return (
    <div class="fact">
      <dt>
        <bdi>{label}</bdi>
      </dt>
      <dd>
        <bdi>{value}</bdi>
      </dd>
    </div>
  );
}

type Fields = OrderShown['customFields'];

/** A merchant may send 20 fields of 512 characters: on a phone they would push the form out of sight. */
function fold(fields: Fields): { shown: Fields; folded: Fields } {
  let room = 240;
  const end = fields.findIndex((field, index) => {
    room -= field.key.length + field.value.length;
    return index >= 4 || room < 0;
  });
  return end === -1 ? { shown: fields, folded: [] } : { shown: fields.slice(0, end), folded: fields.slice(end) };
}
