import { fill } from '../languages/fill.js';
import { formatAmount } from '../languages/format.js';
import { pathOf } from '../layout/layout.js';
import type { ConsolePayment } from '../read-model/console-payment.js';
import { siteName } from '../viewer/sites.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import type { ListedPayment } from './list-payments.query.js';

/** A table of payments. On a phone each row is a block. */
export function PaymentTable({ viewer, payments }: { viewer: MerchantViewer; payments: readonly ListedPayment[] }) {
  const { texts } = viewer;
  const showsSite = viewer.merchant.sites.length > 1;
  return (
    <table class="payments">
      <thead>
        <tr>
          <th scope="col">{texts.payments.time}</th>
          <th scope="col">{texts.payments.order}</th>
          {showsSite ? <th scope="col">{texts.payments.site}</th> : null}
          <th scope="col">{texts.payments.card}</th>
          <th scope="col">{texts.payments.state}</th>
          <th scope="col" class="number">
            {texts.payments.amount}
          </th>
        </tr>
      </thead>
      <tbody>
        {payments.map((payment) => (
          <PaymentRow key={payment.paymentReference} {...{ viewer, payment, showsSite }} />
        ))}
      </tbody>
    </table>
  );
}

interface Row {
  readonly viewer: MerchantViewer;
  readonly payment: ListedPayment;
  readonly showsSite: boolean;
}

function PaymentRow({ viewer, payment, showsSite }: Row) {
  const { texts, clock } = viewer;
  const order = payment.orderReference || payment.paymentReference;
  return (
    <tr>
      <td>
        <time datetime={payment.paymentUTCDate}>{clock.format(payment.paymentUTCDate)}</time>
      </td>
      <td>
        <a class="order" href={`${pathOf(viewer)}/payments/${payment.paymentReference}`}>
          {order}
        </a>
      </td>
      {showsSite ? <td>{siteName(viewer, payment.siteId)}</td> : null}
      <td>{payment.methodLabel || texts.method[payment.method]}</td>
      <td>
        <State {...{ texts, payment }} />
      </td>
      <td class="number">
        {formatAmount(payment.amount, payment.currency, texts)}
        {payment.refundedAmount > 0 && payment.refundedAmount < payment.processedAmount ? (
          <small>
            {fill(texts.payments.refundedPart, {
              amount: formatAmount(payment.refundedAmount, payment.currency, texts),
            })}
          </small>
        ) : null}
      </td>
    </tr>
  );
}

/** The state in a word and with a mark, so that it can be read without colour. */
export function State({
  texts,
  payment,
}: {
  texts: MerchantViewer['texts'];
  payment: ConsolePayment & { refundedAmount: number };
}) {
  const isRefunded =
    payment.state === 'success' && payment.processedAmount > 0 && payment.refundedAmount >= payment.processedAmount;
  const state = isRefunded ? 'refunded' : payment.state;
  return <span class={`state ${state}`}>{texts.state[state]}</span>;
}
