/**
 * What a partner's server, or one of its customers, does with an identity token. The token is got when it is needed and
 * renewed a minute before it ends; card data is encrypted here, before it leaves this process (P8).
 */
import { randomUUID } from 'node:crypto';
import { type CardData, type CardEncryptionKey, type CardToStore, encryptCard } from '../card/card.js';
import { MalformedPaymentError, readObject, readText } from '../hosted-payment.js';
import { type ApiAnswer, type ApiRequest, describeFailure, type HttpExchange, readAnswer } from '../http-exchange.js';
import { type PartnerCard, type PartnerPayment, readPartnerCard, readPartnerPayment } from './partner-payment.js';

/** What a customer pays with; whose token it is says who pays. */
export interface PayRequest {
  /** UUID; made where it is left out. Keep it for a repeat: the same one is the same payment, charged once (C7). */
  reference?: string;
  /**
   * Text of the code that was scanned. Either this or `invoiceReference`, which is the surer one where you have decoded the
   * code: a till's static code may stand for another basket of the same price by now.
   */
  code?: string;
  invoiceReference?: string;
  /** Cents, tip not included. */
  amount: number;
  /** Cents. */
  tipAmount?: number;
  orderReference?: string;
  /** In clear: it is encrypted before it is sent. Or `cardToken`, of a stored one. */
  card?: CardData;
  cardToken?: string;
  /** Where the bank leads the payer back to. */
  returnUrl?: string;
}

/** What the partner itself pays with, for one of its customers. */
export interface ServicePayRequest extends PayRequest {
  /** Who pays, `id` of 1 to 100 characters as you call the customer. */
  customer: { id: string; firstName?: string; lastName?: string };
  /** Claims that need a grant of the merchant. */
  vouchers?: readonly { merchantLiable: boolean; amount: number }[];
  /** Paid elsewhere; needs a grant of the merchant. */
  external?: { type: string; status: 'success' | 'failed'; reference: string };
}

export interface HistoryQuery {
  /** Only this customer's. */
  customerReference?: string;
  /** Payments fetched at once, 1 to 50; 50 when left out. */
  pageSize?: number;
}

/** A token and whom it speaks for. */
export interface Login {
  readonly identityToken: string;
  /** Seconds. */
  readonly expiresIn: number;
  /** What a card is bound to: the customerReference, or the organisationId. */
  readonly owner: string;
}

/** How long before its end a token is renewed. */
const RENEW_BEFORE_MS = 60_000;
/** How long an encrypted card is good for; it is used at once. */
const CARD_LIFETIME_MS = 600_000;
const KEY_KEPT_MS = 60_000;

export class PartnerSession<Request extends PayRequest = PayRequest> {
  private login: { readonly until: number; readonly running: Promise<Login> } | undefined;
  private key: { readonly until: number; readonly value: CardEncryptionKey } | undefined;

  constructor(
    private readonly http: HttpExchange,
    private readonly base: string,
    private readonly apiKey: string,
    private readonly logIn: () => Promise<Login>,
    private readonly now: () => number,
  ) {}

  /**
   * Pays. Safe to repeat with the same `reference`, and repeated here after a lost connection, 429, 502, 503, 504, or 409
   * with `Retry-After`: at most four tries. Look at `status`: a declined payment is no error, one with
   * `verificationRequired` goes on at its `verificationUrl`, one still `processing` is in the history when it is final.
   *
   * @throws SvcApiError when it was refused before anything was charged; `errors[].errorReference` says why
   */
  async pay(request: Request): Promise<PartnerPayment> {
    const given: PayRequest & Partial<ServicePayRequest> = request;
    const { card, cardToken, external, code, reference = randomUUID(), ...rest } = given;
    const method = await this.methodOf({ card, cardToken }, reference);
    const body = {
      ...rest,
      reference,
      ...(code === undefined ? {} : { code: Buffer.from(code).toString('base64') }),
      ...(external ? { paymentMethod: { external } } : method ? { paymentMethod: { card: method } } : {}),
    };
    return readAnswer(await this.call('POST', '/v1/payments', body, true), readPartnerPayment);
  }

  /** Stores a card; its CVV is not needed, and kept nowhere. */
  async storeCard(card: CardToStore): Promise<PartnerCard> {
    const { cardNumber, holderName, expiryMonth, expiryYear } = card;
    const { owner } = await this.token();
    const encryptedCard = await this.encrypt({ cardNumber, holderName, expiryMonth, expiryYear }, owner);
    return readAnswer(await this.call('POST', '/v1/cards', { encryptedCard }, false), readPartnerCard);
  }

  /** @throws SvcApiError 404 when there is none, or it is somebody else's */
  async deleteCard(token: string): Promise<void> {
    const answer = await this.call('DELETE', `/v1/cards/${encodeURIComponent(token)}`, undefined, false);
    if (!answer.ok) throw describeFailure(answer);
  }

  /** What a code stands for, as the service decodes it: `{ merchant, invoice }`. */
  async decode(code: string): Promise<{ merchant: Record<string, unknown>; invoice: Record<string, unknown> }> {
    const path = `/v1/codes/${Buffer.from(code).toString('base64url')}`;
    return readAnswer(await this.call('GET', path, undefined, true), (body) => ({
      merchant: readObject(body['merchant'], 'merchant'),
      invoice: readObject(body['invoice'], 'invoice'),
    }));
  }

  /**
   * Every payment, the newest first, fetched page by page as it is asked for. Payments made meanwhile shift the pages, so
   * one may come twice: it has the same `paymentReference`.
   */
  async *history(query: HistoryQuery = {}): AsyncGenerator<PartnerPayment, void, undefined> {
    const parameters = new URLSearchParams({ page: '1' });
    if (query.pageSize !== undefined) parameters.set('pageSize', String(query.pageSize));
    if (query.customerReference !== undefined) parameters.set('customerReference', query.customerReference);
    let path: string | undefined = `/v1/payments?${parameters.toString()}`;
    while (path !== undefined) {
      const answer: ApiAnswer = await this.call('GET', path, undefined, true);
      if (answer.httpStatus === 204) return;
      const page: { payments: PartnerPayment[]; next: string | undefined } = readAnswer(answer, readPage);
      yield* page.payments;
      path = page.next;
    }
  }

  private async methodOf(
    { card, cardToken }: { card: CardData | undefined; cardToken: string | undefined },
    reference: string,
  ): Promise<object | undefined> {
    if (cardToken !== undefined) return { token: cardToken };
    if (!card) return undefined;
    const { owner } = await this.token();
    return { encryptedCard: await this.encrypt(card, `${owner}.${reference}`) };
  }

  private async encrypt(card: CardData | CardToStore, sessionId: string): Promise<string> {
    const expiresAt = new Date(this.now() + CARD_LIFETIME_MS).toISOString();
    return encryptCard({ card, binding: { sessionId, try: 1, expiresAt }, publicJwk: await this.encryptionKey() });
  }

  private async encryptionKey(): Promise<CardEncryptionKey> {
    if (this.key && this.now() < this.key.until) return this.key.value;
    const answer = await this.call('GET', '/v1/cards/encryption-key', undefined, true);
    const value = readAnswer(answer, (body) => ({ ...body, kid: readText(body, 'kid') }));
    this.key = { until: this.now() + KEY_KEPT_MS, value };
    return value;
  }

  private async call(
    method: ApiRequest['method'],
    path: string,
    body: object | undefined,
    isRepeatable: boolean,
  ): Promise<ApiAnswer> {
    const send = async (): Promise<ApiAnswer> => {
      const { identityToken } = await this.token();
      const request: ApiRequest = {
        method,
        url: `${this.base}${path}`,
        headers: {
          accept: 'application/json',
          'x-api-key': this.apiKey,
          authorization: `Bearer ${identityToken}`,
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      };
      return isRepeatable ? this.http.repeatably(request) : this.http.once(request);
    };
    const answer = await send();
    // Withdrawn before its time, or this machine's clock is wrong: nothing was done yet, so a new token may try once.
    if (answer.httpStatus !== 401) return answer;
    this.login = undefined;
    return send();
  }

  /** However many calls need one at once, one login is made. */
  private async token(): Promise<Login> {
    if (this.login && this.now() < this.login.until) return this.login.running;
    const running = this.logIn();
    // Until it is known how long it lasts: for as long as the login takes.
    const login = { until: Number.POSITIVE_INFINITY, running };
    this.login = login;
    try {
      const known = await running;
      if (this.login === login) this.login = { until: this.now() + known.expiresIn * 1000 - RENEW_BEFORE_MS, running };
      return known;
    } catch (error) {
      if (this.login === login) this.login = undefined;
      throw error;
    }
  }
}

function readPage(body: Record<string, unknown>): { payments: PartnerPayment[]; next: string | undefined } {
  const { payments, nextPage } = body;
  if (!Array.isArray(payments)) throw new MalformedPaymentError('payments');
  // A link anywhere else would take key and token there.
  if (nextPage !== undefined && !(typeof nextPage === 'string' && nextPage.startsWith('/v1/payments?')))
    throw new MalformedPaymentError('nextPage');
  return { payments: payments.map(readPartnerPayment), next: nextPage };
}
