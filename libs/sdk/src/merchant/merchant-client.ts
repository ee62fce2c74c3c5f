/** Client of the main API for a merchant's server, back office or till: payments, and the invoices of its sites. */
import { requiredBaseUrl, requiredDigits, requiredText } from '../client-options.js';
import { MalformedPaymentError } from '../hosted-payment.js';
import { HttpExchange, type HttpExchangeOptions, readResponse } from '../http-exchange.js';
import { readRefundOfPayment, type RefundOfPayment } from './merchant-payment.js';
import { MerchantSite } from './merchant-site.js';
import { PaymentLookUps } from './payment-look-ups.js';
import { readSettlement, type Settlement } from './settlement.js';

export interface MerchantClientOptions extends HttpExchangeOptions {
  /**
   * `{base_url}`, for example `https://api.example.com`. It may contain a path, after which `/business` is appended.
   */
  apiUrl: string;
  merchantId: string | number;
  /** The merchant's API key, or the API key of a site for calls about that site only. */
  apiKey: string;
}

/** A refund to create. */
export interface RefundRequest {
  /** Your own key, 1 to 100 characters. Store it for repeats: the same key returns the same refund (C7). */
  idempotencyKey: string;
  /** Cents; all refunds of a payment together may not exceed its processed amount. */
  amount: number;
  /** At most 200 characters, for your own records. It is not sent to the payer or the bank. */
  reason?: string;
}

/** Calls about all sites of a merchant; `site()` returns the calls about one site. */
export class MerchantClient extends PaymentLookUps {
  /** @throws TypeError that names a missing or malformed option */
  constructor(options: MerchantClientOptions) {
    const api = requiredBaseUrl(options.apiUrl, 'apiUrl');
    const merchant = `${api}/business/api/v1/merchants/${requiredDigits(options.merchantId, 'merchantId')}`;
    const headers = { accept: 'application/json', 'x-api-key': requiredText(options.apiKey, 'apiKey') };
    super(new HttpExchange(options), merchant, headers);
  }

  /**
   * Refunds a card payment. Safe to repeat with the same `idempotencyKey`: the client makes up to four attempts after a
   * lost connection, 429, 502, 503, 504, or 409 with `Retry-After`. Check `status`, because a refund that the bank
   * declines is not an error. The stream and the site's webhook report the result of a `pending` refund. With a site's
   * key, only payments of that site can be refunded.
   *
   * @throws SvcApiError 404 for a payment that is not yours; 409 if the key was used for another refund; 422 for more
   *   than the remaining amount, or a payment that cannot be refunded
   */
  async refund(paymentReference: string, { idempotencyKey, ...request }: RefundRequest): Promise<RefundOfPayment> {
    const response = await this.http.sendWithRetries({
      method: 'POST',
      url: this.refundsUrl(paymentReference),
      headers: { ...this.headers, 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
      body: JSON.stringify(request),
    });
    return readResponse(response, readRefundOfPayment);
  }

  /**
   * Your refunds of a payment, the newest first, at most 1 000.
   *
   * @throws SvcApiError 404 for a payment that is not yours
   */
  async refunds(paymentReference: string): Promise<RefundOfPayment[]> {
    const url = this.refundsUrl(paymentReference);
    const response = await this.http.sendWithRetries({ method: 'GET', url, headers: this.headers });
    return readResponse(
      { ...response, body: response.ok ? { refunds: response.body } : response.body },
      ({ refunds }) => {
        if (!Array.isArray(refunds)) throw new MalformedPaymentError('refunds');
        return refunds.map(readRefundOfPayment);
      },
    );
  }

  /**
   * The settlement statement of a day, from the platform's ledger. With a site's key, it is the statement of that site.
   * The statement may change until it is `closed`. The API also returns the list of movements as CSV: see the reference
   * of the API.
   *
   * @param day date in UTC, as in 2026-11-20
   * @throws SvcApiError 400 for an invalid date, or a day in the future
   */
  async settlement(day: string): Promise<Settlement> {
    const url = `${this.base}/settlements/${encodeURIComponent(day)}`;
    return readResponse(await this.http.sendWithRetries({ method: 'GET', url, headers: this.headers }), readSettlement);
  }

  private refundsUrl(paymentReference: string): string {
    return `${this.base}/refunds?svcId=${encodeURIComponent(paymentReference)}`;
  }

  /**
   * Calls about one site of the merchant: payments, the stream of payments, invoices, and codes of tills.
   *
   * @throws TypeError if the id does not consist of digits
   */
  site(siteId: string | number): MerchantSite {
    return new MerchantSite(this.http, `${this.base}/sites/${requiredDigits(siteId, 'siteId')}`, this.headers);
  }
}
