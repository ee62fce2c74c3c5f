import { type FailedTry, formatZar, merchantOrderIdOf, type Order } from '../orders/order.js';
import { document } from './layout.js';

const QUICK_SECONDS = 2;
const SLOW_SECONDS = 15;
const QUICK_FOR_MS = 35 * 60_000;
const GIVE_UP_AFTER_MS = 24 * 60 * 60_000;

/**
 * How soon the page looks again, or undefined when it does not: quickly while the payment can be on its way, slowly
 * while a late notification may still come, and not for ever in a forgotten tab.
 */
export function refreshSeconds(order: Order, now: Date): number | undefined {
  if (order.state === 'paid') return undefined;
  const age = now.getTime() - order.sessionRequestedAt.getTime();
  if (age > GIVE_UP_AFTER_MS) return undefined;
  return age > QUICK_FOR_MS ? SLOW_SECONDS : QUICK_SECONDS;
}

/** What the shop knows of an order, which is what verified notifications have said. */
export function orderPage(
  order: Order,
  failedTries: readonly FailedTry[],
  /** How soon the page looks again; how the customer came to it. */
  { refresh, hasLeftPayment = false }: { refresh?: number | undefined; hasLeftPayment?: boolean } = {},
): string {
  const name = merchantOrderIdOf(order);
  return document({
    title: order.state === 'paid' ? `${name} is paid` : name,
    script: refresh === undefined ? undefined : 'order.js',
    children: (
      <section class="card order" data-refresh-seconds={refresh}>
        <h1>{name}</h1>
        <div id="order-progress" aria-live="polite">
          {order.state === 'paid' ? (
            <Paid order={order} />
          ) : (
            <NotPaid order={order} failedTries={failedTries} hasLeftPayment={hasLeftPayment} />
          )}
        </div>
        <Lines order={order} />
        <p>
          <a href="/">Back to the shop</a>
        </p>
      </section>
    ),
  });
}

function Paid({ order }: { order: Order }) {
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

function NotPaid(props: { order: Order; failedTries: readonly FailedTry[]; hasLeftPayment: boolean }) {
  const { order, failedTries, hasLeftPayment } = props;
  return (
    <>
      <div class="state awaiting" id="order-state" data-state={order.state}>
        {hasLeftPayment ? (
          <p>
            <strong>Not paid.</strong> You came back without paying. The order is kept: go to payment whenever you like.
          </p>
        ) : (
          <p>
            <strong>Awaiting payment.</strong> This page says when the payment is confirmed.
            <noscript> Without JavaScript, load it again to see.</noscript>
          </p>
        )}
      </div>
      {failedTries.length > 0 ? (
        <ul class="failed-tries" aria-label="Tries that did not succeed">
          {failedTries.map((failed) => (
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

function Lines({ order }: { order: Order }) {
  return (
    <table class="lines">
      <caption class="hidden">What was ordered</caption>
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
