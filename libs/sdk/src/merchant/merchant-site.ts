/** Client of the main API for one site of a merchant, used by its shop, back office and tills. */
import { randomUUID } from 'node:crypto';
import { readText } from '../hosted-payment.js';
import { type ApiRequest, type ApiResponse, createApiError, readResponse } from '../http-exchange.js';
import { type MerchantInvoice, type PaymentNotification, readMerchantInvoice } from './merchant-payment.js';
import { PaymentLookUps } from './payment-look-ups.js';
import { type StreamOptions, streamPayments } from './payment-stream.js';

/**
 * "Create invoice" of the interface specification. Texts have at most 100 characters, unless a field has another limit.
 */
export interface CreateInvoiceRequest {
  /**
   * Your own reference. A request with the same content, including `createdUTCDate`, returns the same invoice. A request
   * with other content replaces the open invoice with this reference.
   */
  externalReference?: string;
  /** Identifier of the till. The till's static code leads to this invoice. */
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
  /** Time of creation at the till, ISO 8601 UTC. For display, and to distinguish two equal sales. */
  createdUTCDate: string;
  originReference?: string;
}

interface CreateInvoiceOptions {
  /** Your own key, 1 to 100 characters. Store it for repeats: the same key returns the same invoice (C7). */
  idempotencyKey?: string;
}

export class MerchantSite extends PaymentLookUps {
  /**
   * Creates an invoice, or replaces the open invoice with the same `externalReference`. Safe to repeat: the client makes
   * up to four attempts after a lost connection, 408, 429, 502, 503 and 504, all with one Idempotency-Key. It does not retry
   * after a 409 `payment.in-progress`: a customer is paying the old invoice, and a payment takes longer than a till
   * should wait. To repeat the call yourself after a lost response, also after a restart, store `idempotencyKey`, or send
   * exactly the same invoice with an `externalReference`. The result is then the invoice of the first call, perhaps
   * `closed`, for at least 72 hours.
   *
   * @throws SvcApiError 400 names every invalid field; 409 `payment.in-progress` while a customer is paying the old
   *   invoice, or `request.idempotency-conflict` if the key was used for another invoice; 410 if the invoice of the key
   *   has expired
   */
  async createInvoice(invoice: CreateInvoiceRequest, options: CreateInvoiceOptions = {}): Promise<MerchantInvoice> {
    const { idempotencyKey = randomUUID() } = options;
    const { headers, ...request } = this.request('POST', '/invoices', invoice);
    const response = await this.http.sendWithRetries(
      { ...request, headers: { ...headers, 'idempotency-key': idempotencyKey } },
      isPaymentInProgress,
    );
    return readResponse(response, readMerchantInvoice);
  }

  /** Returns an invoice. @throws SvcApiError 404 for an unknown invoice; 410 for an expired invoice */
  async invoice(reference: string): Promise<MerchantInvoice> {
    return readResponse(await this.get(`/invoices/${encodeURIComponent(reference)}`), readMerchantInvoice);
  }

  /**
   * The QR code of an invoice as an SVG image.
   *
   * @throws SvcApiError 404 for an unknown invoice; 410 for an expired invoice
   */
  async invoiceQrCode(reference: string): Promise<string> {
    return readImage(await this.get(`/invoices/${encodeURIComponent(reference)}`, 'image/svg+xml'));
  }

  /**
   * Closes the open invoice, so that it cannot be paid. The client does not retry this call. After a lost response,
   * read the invoice to see whether it is closed.
   *
   * @throws SvcApiError 404 if no open invoice has this reference; 409 while it is being paid
   */
  async closeInvoice(externalReference: string): Promise<void> {
    const path = `/invoices?externalReference=${encodeURIComponent(externalReference)}`;
    const response = await this.http.sendOnce(this.request('DELETE', path));
    // The API responds 204. A 200 is the page of a proxy, which does not prove that the invoice is closed.
    if (response.httpStatus !== 204) throw createApiError(response);
  }

  /**
   * The text of a till's static code, which leads to the till's newest open invoice. The code is created if the till
   * has none.
   *
   * @throws SvcApiError 401 for a wrong key
   */
  async tillCode(siteReference: string): Promise<string> {
    const response = await this.http.sendWithRetries(this.request('PUT', tillPath(siteReference)));
    return readResponse(response, (body) => readText(body, 'code'));
  }

  /** A till's static code as an SVG image, for printing. @throws SvcApiError 404 if the till has no code */
  async tillQrCode(siteReference: string): Promise<string> {
    return readImage(await this.get(tillPath(siteReference), 'image/svg+xml'));
  }

  /**
   * Every final payment, refund and change of a dispute of the site, once and in order, as soon as it is final. Reconnects as long as you
   * read. Store the `id` of the last notification that you applied, and pass it as `after` when you restart.
   *
   * @throws SvcApiError 410 if the events following `after` are no longer available: look up the payments instead
   */
  stream(options: StreamOptions = {}): AsyncGenerator<PaymentNotification, void, undefined> {
    return streamPayments(this.http, this.request('GET', '/payments/stream', undefined, 'text/event-stream'), options);
  }

  private get(path: string, accept?: string): Promise<ApiResponse> {
    return this.http.sendWithRetries(this.request('GET', path, undefined, accept));
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

const isPaymentInProgress = ({ body }: ApiResponse): boolean =>
  (body as { code?: unknown } | null | undefined)?.code === 'payment.in-progress';

const tillPath = (siteReference: string): string => `/tills/${encodeURIComponent(siteReference)}/code`;

function readImage(response: ApiResponse): string {
  if (!response.ok) throw createApiError(response);
  return response.text;
}
