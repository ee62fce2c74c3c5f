/**
 * The order and the merchant. All values are untrusted: each is rendered as text, in an element that isolates its text
 * direction (bdi).
 */
import { fill } from '../languages/fill.js';
import { formatAmount } from '../languages/format-amount.js';
import { type BasketLineRow, buildLineRow, buildTotalRows, countItems } from './basket/basket-rows.js';
import type { OrderBasket } from './basket/order-basket.js';
import { hasName, MerchantLogo } from './merchant-look/merchant-look.js';
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
  const { shown, folded } = foldFields(order.customFields);
  const reference = without.includes('order') ? undefined : order.merchantOrderId;
  const logo = order.look?.logo;
  const { length } = formatAmount(order.amountCents, order.currencyISOCode, format);
  return (
    <section class="summary" aria-label={page.yourOrder}>
      <p class="merchant">
        {logo === undefined ? (
          <MerchantMark name={order.merchantName} />
        ) : (
          <MerchantLogo logo={logo} name={hasName(logo) ? order.merchantName : ''} />
        )}
        <span>
          {logo !== undefined && hasName(logo) ? null : <bdi class="merchant-name">{order.merchantName}</bdi>}
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
  const messages = useMessages();
  const { lines, totalCents } = basket;
  const count = fill(messages.page.items, { count: countItems(lines) });
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
        {lines.length > MAX_LINES_WITHOUT_SCROLLING ? <p class="line-count">{count}</p> : null}
        <div {...scrolling}>
          <table>
            <tbody>
              {lines.map((line) => (
                <LineRow row={buildLineRow(line, currencyISOCode, messages)} />
              ))}
            </tbody>
          </table>
        </div>
        <div class="totals">
          <table>
            <tbody>
              {buildTotalRows(basket, currencyISOCode, messages).map(({ label, amount, isTotal }) => (
                <tr class={isTotal ? 'total' : undefined}>
                  <th scope="row">{label}</th>
                  <td>
                    <bdi class="money">{amount}</bdi>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </div>
    </div>
  );
}

function LineRow({ row: { label, quantity, amount } }: { row: BasketLineRow }) {
  return (
    <tr>
      <th scope="row">
        <bdi>{label}</bdi>
        {quantity === undefined ? null : (
          <small>
            {quantity.count} × <bdi class="money">{quantity.unitPrice}</bdi>
          </small>
        )}
      </th>
      <td>
        <bdi class="money">{amount}</bdi>
      </td>
    </tr>
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
