/** The three look-ups of the specification's "Merchant payment retrieval", for a merchant or for one of its sites. */
import { type HttpExchange, readList } from '../http-exchange.js';
import { type MerchantPayment, readMerchantPayment } from './merchant-payment.js';

/**
 * Look-ups of final payments, including failed ones, newest first (M1, M2). The limit is five calls a second for each
 * key, with bursts of 20 (M4). Each method throws SvcApiError: 401 for a wrong key, 403 for the key of another merchant
 * or site, 429 above the limit.
 */
export class PaymentLookUps {
  constructor(
    protected readonly http: HttpExchange,
    protected readonly base: string,
    protected readonly headers: Readonly<Record<string, string>>,
  ) {}

  /**
   * Payments of the last 24 hours with this invoice reference of the platform. The reference of a hosted payment is its
   * sessionId.
   */
  paymentsOfInvoice(invoiceReference: string): Promise<MerchantPayment[]> {
    return this.find(`/invoices/${encodeURIComponent(invoiceReference)}/payments`);
  }

  /**
   * Payments of the last 24 hours with your own reference: the externalReference of an invoice, or the merchantOrderId
   * of a session.
   */
  paymentsOfExternalReference(externalReference: string): Promise<MerchantPayment[]> {
    return this.find(`/payments?externalReference=${encodeURIComponent(externalReference)}`);
  }

  /** The payment with this reference. Undefined if you have no such payment in the last three months. */
  async payment(paymentReference: string): Promise<MerchantPayment | undefined> {
    const [payment] = await this.find(`/payments/${encodeURIComponent(paymentReference)}`);
    return payment;
  }

  private async find(path: string): Promise<MerchantPayment[]> {
    const response = await this.http.sendWithRetries({
      method: 'GET',
      url: `${this.base}${path}`,
      headers: this.headers,
    });
    return readList(response, 'payments', readMerchantPayment);
  }
}
