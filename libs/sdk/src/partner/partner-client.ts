/** The main API as a partner's server calls it: logins for itself and for its customers, and what they may do then. */
import { baseAddress, requiredText } from '../client-options.js';
import { describeFailure, HttpExchange, type HttpExchangeOptions } from '../http-exchange.js';
import { MalformedPaymentError, readObject, readText } from '../hosted-payment.js';
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

/** A payment whose bank is silent is answered after 20 s; a try that gave up before would only be repeated. */
const TIMEOUT_MS = 30_000;

export class PartnerClient {
  /** What the partner's server does by itself. Logged in when it is first used. */
  readonly service: PartnerSession<ServicePayRequest>;
  private readonly http: HttpExchange;
  private readonly base: string;
  private readonly now: () => number;

  /** @throws TypeError that names the option which is missing or malformed */
  constructor(private readonly options: PartnerClientOptions) {
    this.base = baseAddress(options.apiUrl, 'apiUrl');
    for (const name of ['apiKey', 'organisationId', 'apiToken'] as const) requiredText(options[name], name);
    this.http = new HttpExchange({ timeoutMs: TIMEOUT_MS, ...options });
    this.now = options.now ?? Date.now;
    this.service = this.session(() => this.logInService());
  }

  /**
   * What one of its customers does, who sees and pays only their own. Logged in when it is first used, and again before the
   * token ends: so it keeps the password for as long as it lives.
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
    // As the service writes it: cards are bound to it.
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
