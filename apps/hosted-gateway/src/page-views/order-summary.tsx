/**
 * The order and the merchant. All values are untrusted: each is rendered as text, in an element that isolates its text
 * direction (bdi).
 */
import type { Messages } from '../languages/en.js';
import { formatAmount } from '../languages/format-amount.js';
import { useMessages } from './page-frame.js';
import type { OrderDetails } from './pay-page-model.js';

export function Amount({ of }: { of: Pick<OrderDetails, 'amountCents' | 'currencyISOCode'> }) {
  const { format } = useMessages();
  return <bdi class="money">{formatAmount(of.amountCents, of.currencyISOCode, format)}</bdi>;
}

/** @param without fields to omit because the view beside the summary shows them */
export function OrderSummary({
  order,
  without = [],
}: {
  order: OrderDetails;
  without?: readonly ('amount' | 'order')[];
}) {
  const { page, format } = useMessages();
  const { shown, folded } = foldFields([...order.customFields, ...buildLineFields(order, format)]);
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

/**
 * Number of the colours `tone-0`, `tone-1` … in the style sheet. Each colour has enough contrast to the letter on it.
 */
const TONES = 8;

/** Instead of a logo: the initial of the merchant on a colour that depends only on the merchant's name. */
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

type Fields = OrderDetails['customFields'];

/** The line items of a till's invoice, as on a till receipt. The amount of a returned item has a minus. */
function buildLineFields({ lines = [], currencyISOCode }: OrderDetails, format: Messages['format']): Fields {
  return lines.map(({ label, quantity, amountCents }) => {
    const amount = formatAmount(Math.abs(amountCents), currencyISOCode, format);
    return {
      key: quantity === 1 ? label : `${formatQuantity(quantity, format)} × ${label}`,
      value: amountCents < 0 ? `−${amount}` : amount,
    };
  });
}

/** The quantity, rounded to a thousandth, which is the precision of scales. */
function formatQuantity(quantity: number, { decimalMark }: Messages['format']): string {
  return String(Math.round(quantity * 1_000) / 1_000).replace('.', decimalMark);
}

/**
 * Splits a long list into fields to show (at most four, with together at most 240 characters) and fields to fold.
 * Without this, 20 fields of 512 characters would push the form off a phone's screen.
 */
function foldFields(fields: Fields): { shown: Fields; folded: Fields } {
  let charactersLeft = 240;
  const end = fields.findIndex((field, index) => {
    charactersLeft -= field.key.length + field.value.length;
    return index >= 4 || charactersLeft < 0;
  });
  return end === -1 ? { shown: fields, folded: [] } : { shown: fields.slice(0, end), folded: fields.slice(end) };
}
