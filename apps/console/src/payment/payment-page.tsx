import type { Texts } from '../languages/en/en.js';
import { fill } from '../languages/fill.js';
import { formatAmount } from '../languages/format.js';
import { Notice, pathOf, renderDocument } from '../layout/layout.js';
import type { PaymentDetails } from './find-payment.query.js';
import {
  CustomerCard,
  FormLinks,
  type PaymentMessage,
  type PaymentPage,
  ReceiptCard,
  RefundForm,
} from './payment-forms.js';
import { PaymentHistoryView } from './timeline-view.js';

export function renderPaymentPage(page: PaymentPage): string {
  const { viewer, payment, message } = page;
  const { texts } = viewer;
  const { orderReference: order, currency } = payment;
  const amount = formatAmount(payment.amount, currency, texts);
  const title = fill(order === '' ? texts.payment.title : texts.payment.titleOfOrder, { amount, order });
  return renderDocument({
    title,
    texts,
    viewer,
    current: 'payments',
    children: (
      <>
        <p>
          <a href={`${pathOf(viewer)}/payments`}>{texts.payment.back}</a>
        </p>
        <h1>{title}</h1>
        {message === undefined ? null : <Message {...{ texts, payment, message }} />}
        <FormLinks {...page} />
        <PaymentHistoryView {...page} />
        <div class="columns">
          <CustomerCard {...page} />
          <ReceiptCard {...page} />
          <RefundForm {...page} />
        </div>
      </>
    ),
  });
}

function Message({ texts, payment, message }: { texts: Texts; payment: PaymentDetails; message: PaymentMessage }) {
  const { refund, receipt } = texts.payment;
  const format = (cents: number): string => formatAmount(cents, payment.currency, texts);
  switch (message.kind) {
    case 'refunded': {
      const kind = message.status === 'failed' ? 'problem' : 'done';
      return <Notice kind={kind}>{fill(refund.done[message.status], { amount: format(message.amount) })}</Notice>;
    }
    case 'invalid-amount':
      return <Notice kind="problem">{fill(refund.invalid, { amount: format(message.left) })}</Notice>;
    case 'refused':
      return <Notice kind="problem">{message.text}</Notice>;
    case 'receipt':
      return <Notice kind={message.result === 'sent' ? 'done' : 'problem'}>{receipt.results[message.result]}</Notice>;
    case 'confirmed':
      return <Notice kind="done">{refund.confirmed}</Notice>;
    case 'resent':
      return <Notice kind="done">{texts.payment.resent}</Notice>;
  }
}
