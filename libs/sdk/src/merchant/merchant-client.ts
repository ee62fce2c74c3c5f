/** The main API as a merchant's server, back office or till calls it: its payments, and the invoices of its sites. */
import { baseAddress, requiredDigits, requiredText } from '../client-options.js';
import { HttpExchange, type HttpExchangeOptions, readAnswer } from '../http-exchange.js';
import { MalformedPaymentError } from '../hosted-payment.js';
import { readRefundOfPayment, type RefundOfPayment } from './merchant-payment.js';
import { MerchantSite } from './merchant-site.js';
import { PaymentLookUps } from './payment-look-ups.js';
import { readSettlement, type Settlement } from './settlement.js';

export interface MerchantClientOptions extends HttpExchangeOptions {
  /** `{base_url}`, for example `https://api.example.com`; a path before `/business` is kept. */
  apiUrl: string;
  merchantId: string | number;
  /** The merchant's key; a site's, for that site alone. */
  apiKey: string;
}

/** What is to be given back of a payment. */
export interface RefundRequest {
  /** 1 to 100 characters, of your own making. Keep it for a repeat: the same one is the same refund, made once (C7). */
  idempotencyKey: string;
  /** Cents; all refunds of a payment together at most what was processed. */
  amount: number;
  /** At most 200 characters, for your own records. */
  reason?: string;
}

/** All sites of a merchant. */
export class MerchantClient extends PaymentLookUps {
  /** @throws TypeError that names the option which is missing or malformed */
  constructor(options: MerchantClientOptions) {
    const api = baseAddress(options.apiUrl, 'apiUrl');
    const merchant = `${api}/business/api/v1/merchants/${requiredDigits(options.merchantId, 'merchantId')}`;
    const headers = { accept: 'application/json', 'x-api-key': requiredText(options.apiKey, 'apiKey') };
    super(new HttpExchange(options), merchant, headers);
  }

  /**
   * Gives money of a card payment back. Safe to repeat with the same `idempotencyKey`, and repeated here after a lost
   * connection, 429, 502, 503, 504, or 409 with `Retry-After`: at most four tries. Look at `status`: a refund that the bank
   * declines is no error, one that is still `pending` ends later; the stream and the site's webhook tell it. With a
   * site's key only payments of that site are found.
   *
   * @throws SvcApiError 404 for a payment that is not yours; 409 when the key was used for another refund; 422 for more than is
   * left, or a payment of which nothing can be given back
   */
  async refund(paymentReference: string, { idempotencyKey, ...request }: RefundRequest): Promise<RefundOfPayment> {
    const answer = await this.http.repeatably({
      method: 'POST',
      url: this.refundsUrl(paymentReference),
      headers: { ...this.headers, 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
      body: JSON.stringify(request),
    });
    return readAnswer(answer, readRefundOfPayment);
  }

  /** Your refunds of a payment, the newest first, at most 1 000. @throws SvcApiError 404 for a payment that is not yours */
  async refunds(paymentReference: string): Promise<RefundOfPayment[]> {
    const url = this.refundsUrl(paymentReference);
    const answer = await this.http.repeatably({ method: 'GET', url, headers: this.headers });
    return readAnswer({ ...answer, body: answer.ok ? { refunds: answer.body } : answer.body }, ({ refunds }) => {
      if (!Array.isArray(refunds)) throw new MalformedPaymentError('refunds');
      return refunds.map(readRefundOfPayment);
    });
  }

  /**
   * What you are owed for a day, from the service's ledger; with a site's key, of that site. `day` is a date in UTC, as in
   * 2026-11-20; while it is not `closed` more may come. Each movement by itself is there as CSV: see the README.
   *
   * @throws SvcApiError 400 for what is no date, or a day that has not begun
   */
  async settlement(day: string): Promise<Settlement> {
    const url = `${this.base}/settlements/${encodeURIComponent(day)}`;
    return readAnswer(await this.http.repeatably({ method: 'GET', url, headers: this.headers }), readSettlement);
  }

  private refundsUrl(paymentReference: string): string {
    return `${this.base}/refunds?svcId=${encodeURIComponent(paymentReference)}`;
  }

  /** One of its sites: its payments, their stream, its invoices and its tills' codes. @throws TypeError for what is not digits */
  site(siteId: string | number): MerchantSite {
    return new MerchantSite(this.http, `${this.base}/sites/${requiredDigits(siteId, 'siteId')}`, this.headers);
  }
}
