import {
  MAX_EMAIL_LENGTH,
  MAX_UNCONFIRMED_REFUND_CENTS,
  type ReceiptOptions,
  type RefundStatus,
  type SentReceipt,
} from '@svc/contracts';
import { fill } from '../languages/fill.js';
import { formatAmount } from '../languages/format.js';
import { PostForm } from '../layout/form-elements.js';
import { pathOf } from '../layout/layout.js';
import type { PaymentHistory } from './timeline-view.js';

export type PaymentMessage =
  | { readonly kind: 'refunded'; readonly status: RefundStatus; readonly amount: number }
  | { readonly kind: 'invalid-amount'; readonly left: number }
  | { readonly kind: 'refused'; readonly text: string }
  | { readonly kind: 'receipt'; readonly result: SentReceipt['result'] }
  | { readonly kind: 'resent' | 'confirmed' };

export interface PaymentPage extends PaymentHistory {
  readonly message: PaymentMessage | undefined;
  /** Undefined if the payment has no receipt that the person may use. */
  readonly receipt: ReceiptOptions | undefined;
  readonly showsCustomer: boolean;
  /** Cents that the person may still give back. */
  readonly refundable: number;
  /** Cents that a person with a higher role may still give back. */
  readonly unrefunded: number;
  /** Texts in the fields of the refund. */
  readonly refundFields: { readonly amount: string; readonly reason: string };
  /** Idempotency key of the forms. */
  readonly formKey: string;
}

/** The name of the customer, after the person has asked for it. */
export function CustomerCard({ viewer, payment, showsCustomer }: PaymentPage) {
  const { customer } = viewer.texts.payment;
  if (payment.customerName === '' || !viewer.can('customers.read', payment.siteId)) return null;
  return (
    <section class="card form">
      <h2>{customer.title}</h2>
      {showsCustomer ? (
        <p role="status">{payment.customerName}</p>
      ) : (
        <PostForm viewer={viewer} action={`${pathOf(viewer)}/payments/${payment.paymentReference}/customer`}>
          <p class="small">{customer.note}</p>
          <button class="second">{customer.show}</button>
        </PostForm>
      )}
    </section>
  );
}

/** Links to the forms below the history. Only a phone shows them, where the forms are some screens below. */
export function FormLinks(page: PaymentPage) {
  const { receipt, refund } = page.viewer.texts.payment;
  return (
    <p class="jumps">
      {hasReceipt(page.receipt) ? <a href="#receipt">{receipt.title}</a> : null}
      {page.refundable > 0 ? <a href="#refund">{refund.title}</a> : null}
    </p>
  );
}

const hasReceipt = (receipt: ReceiptOptions | undefined): receipt is ReceiptOptions =>
  receipt !== undefined && (receipt.pageUrl !== undefined || receipt.canMail);

const mayRefund = ({ viewer, payment }: PaymentPage): boolean =>
  viewer.can('refunds.create', payment.siteId) && payment.state === 'success' && payment.method === 'Card';

/** The receipt, to print and to send. */
export function ReceiptCard({ viewer, payment, receipt, formKey, message }: PaymentPage) {
  const words = viewer.texts.payment.receipt;
  if (!hasReceipt(receipt)) return null;
  const isInvalid = message?.kind === 'receipt' && message.result === 'invalid';
  return (
    <section class="card form" id="receipt">
      <h2>{words.title}</h2>
      {receipt.pageUrl === undefined ? null : (
        <p>
          <a href={receipt.pageUrl} target="_blank" rel="noopener noreferrer">
            {words.print}
          </a>
        </p>
      )}
      {receipt.canMail ? (
        <PostForm viewer={viewer} action={`${pathOf(viewer)}/payments/${payment.paymentReference}/receipts`}>
          <input type="hidden" name="key" value={formKey} />
          <label>
            {words.email}
            <input
              type="email"
              name="email"
              required
              maxlength={MAX_EMAIL_LENGTH}
              autocomplete="off"
              aria-invalid={isInvalid ? 'true' : undefined}
            />
          </label>
          <p class="small">{words.note}</p>
          <button class="second">{words.send}</button>
        </PostForm>
      ) : null}
    </section>
  );
}

export function RefundForm(page: PaymentPage) {
  const { viewer, payment, refundable, unrefunded, refundFields, formKey } = page;
  const { texts } = viewer;
  const { refund } = texts.payment;
  if (!mayRefund(page)) return null;
  const format = (cents: number): string => formatAmount(cents, payment.currency, texts);
  return (
    <section class="card form" id="refund">
      <h2>{refund.title}</h2>
      {refundable === 0 ? (
        <p>{unrefunded === 0 ? refund.none : fill(refund.limitReached, { all: format(unrefunded) })}</p>
      ) : (
        <PostForm viewer={viewer} action={`${pathOf(viewer)}/payments/${payment.paymentReference}/refunds`}>
          <p>
            {fill(refundable < unrefunded ? refund.limited : refund.left, {
              amount: format(refundable),
              all: format(unrefunded),
            })}
          </p>
          <input type="hidden" name="key" value={formKey} />
          <label>
            {refund.amount}
            <input
              name="amount"
              inputmode="decimal"
              required
              value={refundFields.amount}
              maxlength={20}
              aria-invalid={page.message?.kind === 'invalid-amount' ? 'true' : undefined}
            />
          </label>
          <label>
            {refund.reason}
            <input name="reason" maxlength={200} value={refundFields.reason} />
          </label>
          <p class="small">
            {refund.confirm}
            {refundable > MAX_UNCONFIRMED_REFUND_CENTS
              ? ` ${fill(refund.needsConfirmation, { amount: format(MAX_UNCONFIRMED_REFUND_CENTS) })}`
              : null}
          </p>
          <button class="danger">{refund.submit}</button>
        </PostForm>
      )}
    </section>
  );
}
