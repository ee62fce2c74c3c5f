import { type FailedPayment, formatMerchantOrderId, formatZar, type Order } from '../orders/order.js';
import { renderDocument } from './layout.js';

const FAST_REFRESH_SECONDS = 2;
const SLOW_REFRESH_SECONDS = 15;
/** Five minutes more than the lifetime of a session (H2), because the webhook of its last payment may be late. */
const FAST_REFRESH_DURATION_MS = 35 * 60_000;
const MAX_REFRESH_DURATION_MS = 24 * 60 * 60_000;

/**
 * Interval in seconds at which the page refreshes: short while the customer may be paying, long while a late webhook
 * may still arrive. It is undefined after 24 hours, so that a forgotten tab does not refresh forever.
 */
export function computeRefreshSeconds(order: Order, now: Date): number | undefined {
  if (order.state === 'paid') return undefined;
  const age = now.getTime() - order.sessionRequestedAt.getTime();
  if (age > MAX_REFRESH_DURATION_MS) return undefined;
  return age > FAST_REFRESH_DURATION_MS ? SLOW_REFRESH_SECONDS : FAST_REFRESH_SECONDS;
}

/** The page of an order, with the failed payment attempts that verified webhooks reported. */
export function renderOrderPage(
  order: Order,
  failedPayments: readonly FailedPayment[],
  /** `refresh`: interval in seconds. `hasLeftPayment`: the customer came back without paying. */
  { refresh, hasLeftPayment = false }: { refresh?: number | undefined; hasLeftPayment?: boolean } = {},
): string {
  const name = formatMerchantOrderId(order);
  return renderDocument({
    title: order.state === 'paid' ? `${name} is paid` : name,
    script: refresh === undefined ? undefined : 'order.js',
    children: (
      <section class="card order" data-refresh-seconds={refresh}>
        <h1>{name}</h1>
        <div id="order-progress" aria-live="polite">
          {order.state === 'paid' ? (
            <PaidState order={order} />
          ) : (
            <UnpaidState order={order} failedPayments={failedPayments} hasLeftPayment={hasLeftPayment} />
          )}
        </div>
        <OrderLines order={order} />
        <p>
          <a href="/">Back to the shop</a>
        </p>
      </section>
    ),
  });
}

function PaidState({ order }: { order: Order }) {
  return (
    <div class="state paid" id="order-state" data-state={order.state}>
      <p>
        <strong>Paid.</strong> Thank you! We are roasting.
      </p>
      <p>
        Payment reference <code id="payment-reference">{order.paymentReference}</code>
      </p>
    </div>
  );
}

function UnpaidState(props: { order: Order; failedPayments: readonly FailedPayment[]; hasLeftPayment: boolean }) {
  const { order, failedPayments, hasLeftPayment } = props;
  return (
    <>
      <div class="state awaiting" id="order-state" data-state={order.state}>
        {hasLeftPayment ? (
          <p>
            <strong>Not paid.</strong> You came back without paying. The order is kept: go to payment whenever you like.
          </p>
        ) : (
          <p>
            <strong>Awaiting payment.</strong> This page updates when the payment is confirmed.
            <noscript> Without JavaScript, reload it to see.</noscript>
          </p>
        )}
      </div>
      {failedPayments.length > 0 ? (
        <ul class="failed-payments" aria-label="Failed payments">
          {failedPayments.map((failed) => (
            <li>
              <span>{failed.userMessage ?? 'The payment did not succeed.'}</span> <code>{failed.paymentReference}</code>
            </li>
          ))}
        </ul>
      ) : null}
      <form method="post" action={`/orders/${order.orderId}/pay`}>
        <button class="primary" type="submit">
          Go to payment
        </button>
      </form>
    </>
  );
}

function OrderLines({ order }: { order: Order }) {
  return (
    <table class="lines">
      <caption class="hidden">Items of the order</caption>
      <tbody>
        {order.lines.map((line) => (
          <tr>
            <td>
              {line.quantity} × {line.name}
            </td>
            <td class="amount">{formatZar(line.quantity * line.unitPriceCents)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">Total</th>
          <td class="amount" id="order-total">
            {formatZar(order.totalCents)}
          </td>
        </tr>
      </tfoot>
    </table>
  );
}
