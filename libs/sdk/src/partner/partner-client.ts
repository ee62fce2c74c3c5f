/**
 * Client of the main API for a partner's server. It logs in as the partner's service or as one of the partner's
 * customers.
 */
import { requiredBaseUrl, requiredText } from '../client-options.js';
import { MalformedPaymentError, readText } from '../hosted-payment.js';
import { HttpExchange, type HttpExchangeOptions, readResponse } from '../http-exchange.js';
import { type PartnerCustomer, readPartnerCustomer } from './partner-payment.js';
import { PartnerService } from './partner-service.js';
import { type Login, PartnerSession } from './partner-session.js';

export interface PartnerClientOptions extends HttpExchangeOptions {
  /** `{base_url}`, for example `https://api.example.com`. It may contain a path, after which `/v1` is appended. */
  apiUrl: string;
  /** `x-api-key`: `svc_test_partner_…` or `svc_live_partner_…`. */
  apiKey: string;
  organisationId: string;
  apiToken: string;
}

export interface CustomerCredentials {
  email: string;
  password: string;
}

/** A customer's login. */
export interface CustomerLogin {
  /** Gives access only to the data and payments of this customer. */
  identityToken: string;
  /** Seconds until the token expires. */
  expiresIn: number;
  customer: PartnerCustomer;
}

/**
 * If the bank does not respond, the API responds to a payment after 20 s. A timeout below 20 s would only cause a
 * retry.
 */
const TIMEOUT_MS = 30_000;

export class PartnerClient {
  /** Operations of the partner's service. Logs in at the first call. */
  readonly service: PartnerService;
  private readonly http: HttpExchange;
  private readonly base: string;

  /** @throws TypeError that names a missing or malformed option */
  constructor(private readonly options: PartnerClientOptions) {
    this.base = requiredBaseUrl(options.apiUrl, 'apiUrl');
    for (const name of ['apiKey', 'organisationId', 'apiToken'] as const) requiredText(options[name], name);
    this.http = new HttpExchange({ timeoutMs: TIMEOUT_MS, ...options });
    this.service = new PartnerService(this.http, this.base, options.apiKey, () => this.logInService());
  }

  /**
   * Operations of one customer, limited to that customer's payments and cards. Logs in at the first call, and again
   * before the token expires. For these logins, the password stays in memory.
   *
   * The first call throws SvcApiError 401 for a wrong email or password, and 429 after too many wrong passwords.
   */
  asCustomer(credentials: CustomerCredentials): PartnerSession {
    return new PartnerSession(this.http, this.base, this.options.apiKey, async () => {
      const { identityToken, expiresIn, customer } = await this.logInCustomer(credentials);
      return { identityToken, expiresIn, owner: customer.id };
    });
  }

  /**
   * Logs a customer in, for example to check a password, or to give the token to the customer's app. For calls on
   * behalf of the customer use {@link asCustomer}, which logs in by itself.
   *
   * @throws SvcApiError 401 for a wrong email or password, or a user who is not registered as a customer; 429 after too
   *   many wrong passwords
   */
  async logInCustomer(credentials: CustomerCredentials): Promise<CustomerLogin> {
    const { email, password } = credentials;
    const service = await this.logInService();
    return this.post('/v1/auth/customers/login', { email, password }, service.identityToken, (body) => ({
      ...readToken(body),
      customer: readPartnerCustomer(body['customer']),
    }));
  }

  private async logInService(): Promise<Login> {
    const { organisationId, apiToken } = this.options;
    const token = await this.post('/v1/auth/service/login', { organisationId, apiToken }, undefined, readToken);
    // Lower case, because the platform compares the binding of a card with the organisationId in lower case.
    return { ...token, owner: organisationId.toLowerCase() };
  }

  /** Sends a login request, with retries: a repeated login changes nothing. */
  private async post<T>(
    path: string,
    body: object,
    token: string | undefined,
    read: (body: Record<string, unknown>) => T,
  ): Promise<T> {
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
    return readResponse(response, read);
  }
}

function readToken(body: Record<string, unknown>): Omit<Login, 'owner'> {
  const expiresIn = body['expiresIn'];
  if (typeof expiresIn !== 'number' || !(expiresIn > 0)) throw new MalformedPaymentError('expiresIn');
  return { identityToken: readText(body, 'identityToken'), expiresIn };
}
