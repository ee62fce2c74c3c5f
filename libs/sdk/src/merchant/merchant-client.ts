/** Client of the main API for a merchant's server, back office or till: payments, and the invoices of its sites. */
import { requiredBaseUrl, requiredDigits, requiredText } from '../client-options.js';
import { type ApiResponse, HttpExchange, type HttpExchangeOptions, readList, readResponse } from '../http-exchange.js';
import {
  type DisputeOfPayment,
  type MerchantPayment,
  readDisputeOfPayment,
  readMerchantPayment,
  readRefundOfPayment,
  type RefundOfPayment,
} from './merchant-payment.js';
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

/** Limits the time of the payments in a search. */
export interface SearchOptions {
  /** Included. A `Date`, a day in UTC as in 2026-11-20, or a time in UTC. Default: three calendar months ago. */
  from?: string | Date;
  /** A day is included, a time is not. Default: now. */
  to?: string | Date;
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
   * lost connection, 408, 429, 502, 503, 504, or 409 with `Retry-After`. Check `status`, because a refund that the bank
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
    return this.list(this.refundsUrl(paymentReference), 'refunds', readRefundOfPayment);
  }

  /**
   * The disputes of a payment, the newest first, at most 1 000. You respond to a dispute in the acquirer's customer
   * area, until `respondByUTCDate`.
   *
   * @throws SvcApiError 404 for a payment that is not yours
   */
  async disputes(paymentReference: string): Promise<DisputeOfPayment[]> {
    const url = `${this.base}/disputes?svcId=${encodeURIComponent(paymentReference)}`;
    return this.list(url, 'disputes', readDisputeOfPayment);
  }

  /**
   * All final payments of an order in the last three months, newest first, fetched page by page: by your own reference,
   * which is the merchantOrderId of a session or the externalReference of an invoice. With a site's key, only payments of
   * that site. The limit of the look-ups applies to each page.
   *
   * @throws SvcApiError 400 for an empty or too long orderId, or an invalid time
   */
  async *searchPayments(
    orderId: string,
    { from, to }: SearchOptions = {},
  ): AsyncGenerator<MerchantPayment, void, undefined> {
    const query = new URLSearchParams({ orderId });
    if (from !== undefined) query.set('from', from instanceof Date ? from.toISOString() : from);
    if (to !== undefined) query.set('to', to instanceof Date ? to.toISOString() : to);
    let url: string | undefined = `${this.base}/payment-search?${query.toString()}`;
    while (url !== undefined) {
      const response: ApiResponse = await this.http.sendWithRetries({ method: 'GET', url, headers: this.headers });
      yield* readList(response, 'payments', readMerchantPayment);
      url = nextPageUrl(response);
    }
  }

  /**
   * The settlement statement of a day, or of several days, from the platform's ledger. With a site's key, it is the
   * statement of that site. The statement may change until its status is `final`. The API also returns the list of
   * movements as CSV: see the reference of the API.
   *
   * @param from date in your time zone, as in 2026-11-20
   * @param to the last day, at most 366 days with `from`; by default one day
   * @throws SvcApiError 400 for an invalid date, a day in the future, or too many days
   */
  async settlement(from: string, to: string = from): Promise<Settlement> {
    const url = `${this.base}/settlements?${new URLSearchParams({ from, to }).toString()}`;
    return readResponse(await this.http.sendWithRetries({ method: 'GET', url, headers: this.headers }), readSettlement);
  }

  private async list<Item>(url: string, name: string, read: (value: unknown) => Item): Promise<Item[]> {
    return readList(await this.http.sendWithRetries({ method: 'GET', url, headers: this.headers }), name, read);
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

/** The URL of the next page in the header `Link` (RFC 8288), or undefined on the last page. */
function nextPageUrl({ headers, url }: ApiResponse): string | undefined {
  const link = /^<([^<>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
  if (link === undefined || !URL.canParse(link, url)) return undefined;
  const [next, current] = [new URL(link, url), new URL(url)];
  // A link to another host or path would send the API key there.
  return next.origin === current.origin && next.pathname === current.pathname ? next.href : undefined;
}
