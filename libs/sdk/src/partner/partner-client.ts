/** Client of the main API for a partner's server: logins for itself and its customers, and their operations. */
import { baseAddress, requiredText } from '../client-options.js';
import { MalformedPaymentError, readObject, readText } from '../hosted-payment.js';
import { describeFailure, HttpExchange, type HttpExchangeOptions } from '../http-exchange.js';
import { type Login, PartnerSession, type PayRequest, type ServicePayRequest } from './partner-session.js';

export interface PartnerClientOptions extends HttpExchangeOptions {
  /** `{base_url}`, for example `https://api.example.com`; a path before `/v1` is kept. */
  apiUrl: string;
  /** `x-api-key`: `svc_test_partner_…` or `svc_live_partner_…`. */
  apiKey: string;
  organisationId: string;
  apiToken: string;
  /** Milliseconds since 1970; a test sets it. */
  now?: () => number;
}

/** A payment whose bank does not respond gets a response after 20 s; a shorter timeout would only cause a retry. */
const TIMEOUT_MS = 30_000;

export class PartnerClient {
  /** Operations of the partner's server itself. Logs in at first use. */
  readonly service: PartnerSession<ServicePayRequest>;
  private readonly http: HttpExchange;
  private readonly base: string;
  private readonly now: () => number;

  /** @throws TypeError that names a missing or malformed option */
  constructor(private readonly options: PartnerClientOptions) {
    this.base = baseAddress(options.apiUrl, 'apiUrl');
    for (const name of ['apiKey', 'organisationId', 'apiToken'] as const) requiredText(options[name], name);
    this.http = new HttpExchange({ timeoutMs: TIMEOUT_MS, ...options });
    this.now = options.now ?? Date.now;
    this.service = this.session(() => this.logInService());
  }

  /**
   * Operations of one customer, limited to that customer's payments and cards. Logs in at first use, and again before the token
   * expires, so it keeps the password in memory.
   *
   * @throws SvcApiError, at the first call, 401 for a wrong email or password, 429 after too many of them
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
    // In the platform's form, because cards are bound to it.
    return { ...readLogin(body), owner: organisationId.toLowerCase() };
  }

  private session<Request extends PayRequest>(logIn: () => Promise<Login>): PartnerSession<Request> {
    return new PartnerSession(this.http, this.base, this.options.apiKey, logIn, this.now);
  }

  /** Logins change nothing, so they may be repeated. */
  private async post(path: string, body: object, token?: string): Promise<Record<string, unknown>> {
    const answer = await this.http.repeatably({
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
    if (!answer.ok) throw describeFailure(answer);
    return readObject(answer.body, 'body');
  }
}

function readLogin(body: Record<string, unknown>): Omit<Login, 'owner'> {
  const expiresIn = body['expiresIn'];
  if (typeof expiresIn !== 'number' || !(expiresIn > 0)) throw new MalformedPaymentError('expiresIn');
  return { identityToken: readText(body, 'identityToken'), expiresIn };
}
