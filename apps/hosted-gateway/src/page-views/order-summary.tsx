/** What is paid for, and to whom. Everything here was written by a stranger: text only, each piece isolated (bdi). */
import type { Messages } from '../languages/en.js';
import { formatAmount } from '../languages/format-amount.js';
import { useMessages } from './page-frame.js';
import type { OrderShown } from './pay-page-model.js';

export function Amount({ of }: { of: Pick<OrderShown, 'amountCents' | 'currencyISOCode'> }) {
  const { format } = useMessages();
  return <bdi class="money">{formatAmount(of.amountCents, of.currencyISOCode, format)}</bdi>;
}

/** @param without what the page beside it says already */
export function OrderSummary({
  order,
  without = [],
}: {
  order: OrderShown;
  without?: readonly ('amount' | 'order')[];
}) {
  const { page, format } = useMessages();
  const { shown, folded } = fold([...order.customFields, ...linesOf(order, format)]);
  const reference = without.includes('order') ? undefined : order.merchantOrderId;
  const isLong = formatAmount(order.amountCents, order.currencyISOCode, format).length > 12;
  return (
    <section class="summary" aria-label={page.yourOrder}>
      <p class="merchant">
        <MerchantMark name={order.merchantName} />
        <span>
          <bdi class="merchant-name">{order.merchantName}</bdi>
          {order.siteName ? <bdi class="site-name">{order.siteName}</bdi> : null}
        </span>
      </p>
      {without.includes('amount') ? null : (
        <p class={isLong ? 'amount long' : 'amount'}>
          <Amount of={order} />
        </p>
      )}
      {reference === undefined && shown.length === 0 ? null : (
        <dl class="facts">
          {reference === undefined ? null : <Fact label={page.order} value={reference} />}
          {shown.map((field) => (
            <Fact label={field.key} value={field.value} />
          ))}
        </dl>
      )}
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

/** Lines of a till's invoice, as a till prints them; a return has a minus. */
function linesOf({ lines = [], currencyISOCode }: OrderShown, format: Messages['format']): Fields {
  return lines.map(({ label, quantity, amountCents }) => {
    const amount = formatAmount(Math.abs(amountCents), currencyISOCode, format);
    return {
      key: quantity === 1 ? label : `${quantityText(quantity, format)} × ${label}`,
      value: amountCents < 0 ? `−${amount}` : amount,
    };
  });
}

/** To a thousandth, as scales weigh. */
function quantityText(quantity: number, { decimalMark }: Messages['format']): string {
  return String(Math.round(quantity * 1_000) / 1_000).replace('.', decimalMark);
}

/** A merchant may send 20 fields of 512 characters: on a phone they would push the form out of sight. */
function fold(fields: Fields): { shown: Fields; folded: Fields } {
  let room = 240;
  const end = fields.findIndex((field, index) => {
    room -= field.key.length + field.value.length;
    return index >= 4 || room < 0;
  });
  return end === -1 ? { shown: fields, folded: [] } : { shown: fields.slice(0, end), folded: fields.slice(end) };
}
