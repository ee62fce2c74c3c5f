/** One site of a merchant, for its shop, back office and tills. */
import { readText } from '../hosted-payment.js';
import { type ApiAnswer, type ApiRequest, describeFailure, readAnswer } from '../http-exchange.js';
import { type MerchantInvoice, type PaymentNotice, readMerchantInvoice } from './merchant-payment.js';
import { PaymentLookUps } from './payment-look-ups.js';
import { type StreamOptions, streamPayments } from './payment-stream.js';

/** "Create invoice" of the interface specification. Text of at most 100 characters, unless it says otherwise. */
export interface CreateInvoiceRequest {
  /**
   * Your own reference. If the site has an open invoice with it, the same content returns that invoice, other content replaces
   * it.
   */
  externalReference?: string;
  /** The till: its static code shows this invoice. */
  siteReference: string;
  currencyISOCode: 'ZAR';
  /** Integer cents, 1 to 100 000 000 000. */
  amount: number;
  /** At most 500. */
  lineItems?: readonly {
    /** At most 200 characters. */
    name?: string;
    /** productCode, sku or both are required. */
    productCode?: string;
    sku?: string;
    /** Cents of one unit. */
    unitPrice: string | number;
    /** At most 10. */
    categories?: readonly string[];
    /** Default 1; -1 000 000 to 1 000 000, not 0; fractional for weighed goods, negative for returns. */
    quantity?: number;
  }[];
  /** Creator of the invoice, e.g. the till's software. */
  origin: string;
  /** ISO 8601 UTC; only shown. */
  createdUTCDate: string;
  originReference?: string;
}

export class MerchantSite extends PaymentLookUps {
  /**
   * Creates an invoice, or replaces the open one with the same `externalReference`. With an `externalReference` the client
   * retries after a lost connection, 429, 502, 503 and 504; without one, each request would create another invoice. It does not
   * retry while a customer pays the invoice to be replaced: that takes longer than a till should wait.
   *
   * @throws SvcApiError 400
   * names every invalid field; 409 `payment.in-progress` while the invoice to be replaced is being paid
   */
  async createInvoice(invoice: CreateInvoiceRequest): Promise<MerchantInvoice> {
    const request = this.request('POST', '/invoices', invoice);
    const answer =
      invoice.externalReference === undefined
        ? await this.http.once(request)
        : await this.http.repeatably(request, isPaymentInProgress);
    return readAnswer(answer, readMerchantInvoice);
  }

  /** @throws SvcApiError 404 when there is none; 410 when it has expired */
  async invoice(reference: string): Promise<MerchantInvoice> {
    return readAnswer(await this.get(`/invoices/${encodeURIComponent(reference)}`), readMerchantInvoice);
  }

  /** The QR code of an invoice as an SVG image, for a screen or a printer. @throws SvcApiError 404, or 410 when it has expired */
  async invoiceQrCode(reference: string): Promise<string> {
    return imageOf(await this.get(`/invoices/${encodeURIComponent(reference)}`, 'image/svg+xml'));
  }

  /**
   * Closes the open invoice, so that it cannot be paid. Not retried: after a lost response, check the invoice before you decide.
   *
   * @throws SvcApiError 404 when no open invoice has this reference; 409 while it is being paid
   */
  async closeInvoice(externalReference: string): Promise<void> {
    const path = `/invoices?externalReference=${encodeURIComponent(externalReference)}`;
    const answer = await this.http.once(this.request('DELETE', path));
    // An error page of a proxy does not prove that the invoice is closed.
    if (answer.httpStatus !== 204) throw describeFailure(answer);
  }

  /**
   * The text of a till's static code, created if necessary. It leads to the till's newest open invoice.
   *
   * @throws SvcApiError 401 for a wrong key
   */
  async tillCode(siteReference: string): Promise<string> {
    const answer = await this.http.repeatably(this.request('PUT', tillPath(siteReference)));
    return readAnswer(answer, (body) => readText(body, 'code'));
  }

  /** A till's static code as an SVG image, to be printed. @throws SvcApiError 404 for a till that has none yet */
  async tillQrCode(siteReference: string): Promise<string> {
    return imageOf(await this.get(tillPath(siteReference), 'image/svg+xml'));
  }

  /**
   * Every final payment and refund of the site, once and in order, as they happen; reconnects for as long as you read. Store the
   * `id` of the last one that you applied, and continue `after` it when you restart.
   *
   * @throws SvcApiError 410 when the events
   * after `after` are no longer available: look up the payments instead
   */
  stream(options: StreamOptions = {}): AsyncGenerator<PaymentNotice, void, undefined> {
    return streamPayments(this.http, this.request('GET', '/payments/stream', undefined, 'text/event-stream'), options);
  }

  private get(path: string, accept?: string): Promise<ApiAnswer> {
    return this.http.repeatably(this.request('GET', path, undefined, accept));
  }

  private request(method: ApiRequest['method'], path: string, body?: object, accept = 'application/json'): ApiRequest {
    const headers = { ...this.headers, accept };
    return {
      method,
      url: `${this.base}${path}`,
      headers: body ? { ...headers, 'content-type': 'application/json' } : headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    };
  }
}

const isPaymentInProgress = ({ body }: ApiAnswer): boolean =>
  (body as { code?: unknown } | null | undefined)?.code === 'payment.in-progress';

const tillPath = (siteReference: string): string => `/tills/${encodeURIComponent(siteReference)}/code`;

function imageOf(answer: ApiAnswer): string {
  if (!answer.ok) throw describeFailure(answer);
  return answer.text;
}
