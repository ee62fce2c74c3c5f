/** The main API as a merchant's server, back office or till calls it: its payments, and the invoices of its sites. */
import { HttpExchange, type HttpExchangeOptions } from './http-exchange.js';
import { MerchantSite } from './merchant-site.js';
import { PaymentLookUps } from './payment-look-ups.js';

export interface MerchantClientOptions extends HttpExchangeOptions {
  /** `{base_url}`, for example `https://api.example.com`; a path before `/business` is kept. */
  apiUrl: string;
  merchantId: string | number;
  /** The merchant's key; a site's, for that site alone. */
  apiKey: string;
}

/** All sites of a merchant. */
export class MerchantClient extends PaymentLookUps {
  /** @throws TypeError for an apiUrl that is no http(s) address, or a merchantId that is not digits */
  constructor(options: MerchantClientOptions) {
    const api = new URL(options.apiUrl);
    if (api.protocol !== 'https:' && api.protocol !== 'http:') throw new TypeError('apiUrl must be an http(s) address');
    const merchant = `${api.origin}${api.pathname.replace(/\/+$/, '')}/business/api/v1/merchants/${digits(options.merchantId, 'merchantId')}`;
    super(new HttpExchange(options), merchant, { accept: 'application/json', 'x-api-key': options.apiKey });
  }

  /** One of its sites: its payments, their stream, its invoices and its tills' codes. @throws TypeError for what is not digits */
  site(siteId: string | number): MerchantSite {
    return new MerchantSite(this.http, `${this.base}/sites/${digits(siteId, 'siteId')}`, this.headers);
  }
}

/** `..` or an empty text would silently be another resource. */
function digits(value: string | number, name: string): string {
  if (!/^\d{1,16}$/.test(String(value))) throw new TypeError(`${name} must be digits`);
  return String(value);
}
