/** The three look-ups of the specification's "Merchant payment retrieval", for a merchant or for one of its sites. */
import { MalformedPaymentError } from '../hosted-payment.js';
import { type HttpExchange, readAnswer } from '../http-exchange.js';
import { type MerchantPayment, readMerchantPayment } from './merchant-payment.js';

/**
 * Final payments, newest first, including failed ones (M1, M2). The limit is five calls a second for each key, with bursts of 20
 * (M4). Each throws SvcApiError: 401 for a wrong key, 403 for the key of another merchant or site, 429 above the limit.
 */
export class PaymentLookUps {
  constructor(
    protected readonly http: HttpExchange,
    protected readonly base: string,
    protected readonly headers: Readonly<Record<string, string>>,
  ) {}

  /** Of the last 24 hours, by the platform's invoice reference; for hosted payments the sessionId. */
  paymentsOfInvoice(invoiceReference: string): Promise<MerchantPayment[]> {
    return this.find(`/invoices/${encodeURIComponent(invoiceReference)}/payments`);
  }

  /** Of the last 24 hours, by your own reference: an invoice's externalReference, a session's merchantOrderId. */
  paymentsOfExternalReference(externalReference: string): Promise<MerchantPayment[]> {
    return this.find(`/payments?externalReference=${encodeURIComponent(externalReference)}`);
  }

  /** Of the last three months; undefined if you have no such payment. */
  async payment(paymentReference: string): Promise<MerchantPayment | undefined> {
    const [payment] = await this.find(`/payments/${encodeURIComponent(paymentReference)}`);
    return payment;
  }

  private async find(path: string): Promise<MerchantPayment[]> {
    const answer = await this.http.repeatably({ method: 'GET', url: `${this.base}${path}`, headers: this.headers });
    return readAnswer({ ...answer, body: answer.ok ? { payments: answer.body } : answer.body }, ({ payments }) => {
      if (!Array.isArray(payments)) throw new MalformedPaymentError('payments');
      return payments.map(readMerchantPayment);
    });
  }
}
