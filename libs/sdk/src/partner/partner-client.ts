/**
 * Client of the main API for a partner's server. It logs in as the partner's service or as one of the partner's
 * customers.
 */
import { requiredBaseUrl, requiredText } from '../client-options.js';
import { MalformedPaymentError, readObject, readText } from '../hosted-payment.js';
import { createApiError, HttpExchange, type HttpExchangeOptions } from '../http-exchange.js';
import { type Login, PartnerSession, type PayRequest, type ServicePayRequest } from './partner-session.js';

export interface PartnerClientOptions extends HttpExchangeOptions {
  /** `{base_url}`, for example `https://api.example.com`. It may contain a path, after which `/v1` is appended. */
  apiUrl: string;
  /** `x-api-key`: `svc_test_partner_…` or `svc_live_partner_…`. */
  apiKey: string;
  organisationId: string;
  apiToken: string;
}

/**
 * If the bank does not respond, the API responds to a payment after 20 s. A timeout below 20 s would only cause a
 * retry.
 */
const TIMEOUT_MS = 30_000;

export class PartnerClient {
  /** Operations of the partner's service. Logs in at the first call. */
  readonly service: PartnerSession<ServicePayRequest>;
  private readonly http: HttpExchange;
  private readonly base: string;

  /** @throws TypeError that names a missing or malformed option */
  constructor(private readonly options: PartnerClientOptions) {
    this.base = requiredBaseUrl(options.apiUrl, 'apiUrl');
    for (const name of ['apiKey', 'organisationId', 'apiToken'] as const) requiredText(options[name], name);
    this.http = new HttpExchange({ timeoutMs: TIMEOUT_MS, ...options });
    this.service = this.session(() => this.logInService());
  }

  /**
   * Operations of one customer, limited to that customer's payments and cards. Logs in at the first call, and again
   * before the token expires. For these logins, the password stays in memory.
   *
   * The first call throws SvcApiError 401 for a wrong email or password, and 429 after too many wrong passwords.
   */
  asCustomer(credentials: { email: string; password: string }): PartnerSession {
    return this.session(async () => {
      const { identityToken } = await this.logInService();
      const body = await this.post('/v1/auth/customers/login', credentials, identityToken);
      return { ...readLogin(body), owner: readText(readObject(body['customer'], 'customer'), 'id') };
    });
  }

  private async logInService(): Promise<Login> {
    const { organisationId, apiToken } = this.options;
    const body = await this.post('/v1/auth/service/login', { organisationId, apiToken });
    // Lower case, because the platform compares the binding of a card with the organisationId in lower case.
    return { ...readLogin(body), owner: organisationId.toLowerCase() };
  }

  private session<Request extends PayRequest>(logIn: () => Promise<Login>): PartnerSession<Request> {
    return new PartnerSession(this.http, this.base, this.options.apiKey, logIn);
  }

  /** Sends a login request, with retries: a repeated login changes nothing. */
  private async post(path: string, body: object, token?: string): Promise<Record<string, unknown>> {
    const response = await this.http.sendWithRetries({
      method: 'POST',
      url: `${this.base}${path}`,
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        'x-api-key': this.options.apiKey,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw createApiError(response);
    return readObject(response.body, 'body');
  }
}

function readLogin(body: Record<string, unknown>): Omit<Login, 'owner'> {
  const expiresIn = body['expiresIn'];
  if (typeof expiresIn !== 'number' || !(expiresIn > 0)) throw new MalformedPaymentError('expiresIn');
  return { identityToken: readText(body, 'identityToken'), expiresIn };
}
