/**
 * The order and the merchant. All values are untrusted: each is rendered as text, in an element that isolates its text
 * direction (bdi).
 */
import type { Messages } from '../languages/en.js';
import { fill } from '../languages/fill.js';
import { formatAmount } from '../languages/format-amount.js';
import { MerchantLogo } from './merchant-look/merchant-look.js';
import { useMessages } from './page-frame.js';
import type { OrderBasket, OrderDetails, OrderLine } from './pay-page-model.js';

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
  const { shown, folded } = foldFields(order.customFields);
  const reference = without.includes('order') ? undefined : order.merchantOrderId;
  const { length } = formatAmount(order.amountCents, order.currencyISOCode, format);
  return (
    <section class="summary" aria-label={page.yourOrder}>
      <p class="merchant">
        {order.look?.logo === undefined ? (
          <MerchantMark name={order.merchantName} />
        ) : (
          <MerchantLogo logo={order.look.logo} name={order.merchantName} />
        )}
        <span>
          {order.look?.logo === undefined ? <bdi class="merchant-name">{order.merchantName}</bdi> : null}
          {order.siteName ? <bdi class="site-name">{order.siteName}</bdi> : null}
        </span>
      </p>
      {without.includes('amount') ? null : (
        <p class={length > 15 ? 'amount longest' : length > 12 ? 'amount long' : 'amount'}>
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
      {order.basket === undefined ? null : <BasketView basket={order.basket} currencyISOCode={order.currencyISOCode} />}
    </section>
  );
}

/** A basket with more lines scrolls, so that it does not push the form off the screen. */
const MAX_LINES_WITHOUT_SCROLLING = 10;

/**
 * The basket like a till receipt. On a phone it is folded, unless it has only one line. The table is outside of <details>,
 * so that the style sheet can always show it on a wide screen and on paper, without a script.
 */
function BasketView({ basket, currencyISOCode }: { basket: OrderBasket; currencyISOCode: string }) {
  const { page } = useMessages();
  const { lines, totalCents, shippingCents, tax } = basket;
  const count = fill(page.items, { count: countItems(lines) });
  const taxRow = tax && (
    <AmountRow label={tax.isIncluded ? page.taxIncluded : page.tax} cents={tax.amountCents} {...{ currencyISOCode }} />
  );
  // A scrolling element must be reachable with the keyboard.
  const scrolling =
    lines.length > MAX_LINES_WITHOUT_SCROLLING
      ? ({ class: 'lines scrolling', role: 'region', tabIndex: 0, 'aria-label': count } as const)
      : { class: 'lines' };
  return (
    <div class="basket">
      {lines.length === 1 ? null : (
        <details>
          <summary>
            {count} · <Amount of={{ amountCents: totalCents, currencyISOCode }} />
          </summary>
        </details>
      )}
      <div class="folded">
        <div {...scrolling}>
          <table>
            <tbody>
              {lines.map((line) => (
                <LineRow line={line} currencyISOCode={currencyISOCode} />
              ))}
            </tbody>
          </table>
        </div>
        <div class="totals">
          <table>
            <tbody>
              {shippingCents === undefined ? null : (
                <AmountRow label={page.shipping} cents={shippingCents} currencyISOCode={currencyISOCode} />
              )}
              {tax?.isIncluded === false ? taxRow : null}
              <AmountRow label={page.total} cents={totalCents} currencyISOCode={currencyISOCode} class="total" />
              {tax?.isIncluded === true ? taxRow : null}
            </tbody>
          </table>
        </div>
      </div>
    </div>
  );
}

/** A line: its name, below it the quantity and the price of a unit unless the quantity is 1, and its total. */
function LineRow({ line, currencyISOCode }: { line: OrderLine; currencyISOCode: string }) {
  const { format } = useMessages();
  const { label, quantity, unitPriceCents, amountCents } = line;
  return (
    <tr>
      <th scope="row">
        <bdi>{label}</bdi>
        {quantity === 1 ? null : (
          <small>
            {formatQuantity(quantity, format)} ×{' '}
            <SignedAmount cents={unitPriceCents} currencyISOCode={currencyISOCode} />
          </small>
        )}
      </th>
      <td>
        <SignedAmount cents={amountCents} currencyISOCode={currencyISOCode} />
      </td>
    </tr>
  );
}

function AmountRow(props: { label: string; cents: number; currencyISOCode: string; class?: string }) {
  return (
    <tr class={props.class}>
      <th scope="row">{props.label}</th>
      <td>
        <SignedAmount cents={props.cents} currencyISOCode={props.currencyISOCode} />
      </td>
    </tr>
  );
}

/** The amount of a returned item has a minus. */
function SignedAmount({ cents, currencyISOCode }: { cents: number; currencyISOCode: string }) {
  const { format } = useMessages();
  const amount = formatAmount(Math.abs(cents), currencyISOCode, format);
  return <bdi class="money">{cents < 0 ? `−${amount}` : amount}</bdi>;
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

/** The number of pieces. A line that is weighed, or was returned, counts as one. */
function countItems(lines: readonly OrderLine[]): number {
  return lines.reduce((count, { quantity }) => count + (Number.isInteger(quantity) && quantity > 0 ? quantity : 1), 0);
}

/** The quantity, rounded to a thousandth, which is the precision of scales. */
function formatQuantity(quantity: number, { decimalMark }: Messages['format']): string {
  const rounded = String(Math.round(Math.abs(quantity) * 1_000) / 1_000).replace('.', decimalMark);
  return quantity < 0 ? `−${rounded}` : rounded;
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
