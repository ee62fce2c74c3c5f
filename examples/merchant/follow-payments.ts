/**
 * A complete back office of a merchant: creates an invoice for a till, shows its code, and reads the payment from the stream
 * as soon as a customer of a partner has made it. Runs against `./svc up`, with the demo's merchant, partner and customers:
 *
 *     node examples/merchant/follow-payments.ts
 */
import { readFileSync } from 'node:fs';
import { MerchantClient, PartnerClient } from '@svc/sdk';

interface Demo {
  readonly apiUrl: string;
  readonly partner: { readonly organisationId: string; readonly apiKey: string; readonly apiToken: string };
  readonly customers: readonly { readonly email: string; readonly password: string }[];
  readonly merchants: readonly {
    readonly merchantId: number;
    readonly sites: readonly { readonly siteId: number; readonly apiKey: string }[];
  }[];
}

const demo = JSON.parse(readFileSync(`${process.env['SVC_DATA_DIR'] ?? '.data'}/demo.json`, 'utf8')) as Demo;
const [merchant] = demo.merchants;
const [shop] = merchant?.sites ?? [];
const [thandi] = demo.customers;
if (!merchant || !shop || !thandi) throw new Error('demo.json has no merchant, or no customer: ./svc up creates it');

const site = new MerchantClient({
  apiUrl: demo.apiUrl,
  merchantId: merchant.merchantId,
  apiKey: shop.apiKey,
}).site(shop.siteId);

// From now on. After a restart, continue after the last applied notice: `stream({ after: id })`.
const { promise: opened, resolve: onOpen } = Promise.withResolvers<string>();
const notices = site.stream({ onOpen, signal: AbortSignal.timeout(60_000) });
const first = notices.next();
// Wait until the stream is open, or fails.
await Promise.race([opened, first]);

const externalReference = `ORDER-${Date.now()}`;
const invoice = await site.createInvoice({
  externalReference,
  siteReference: 'TILL-1',
  currencyISOCode: 'ZAR',
  amount: 12_500,
  lineItems: [{ name: 'Karoo Sunrise, 1 kg', sku: 'COFFEE-1', unitPrice: 12_500 }],
  origin: 'Example back office',
  createdUTCDate: new Date().toISOString(),
});
console.log(`invoice: ${invoice.amount} cents, ${invoice.state}`);
console.log(`its QR code: ${(await site.invoiceQrCode(invoice.reference)).length > 0 ? 'an SVG image' : 'MISSING'}`);
console.log(`the till's own code: ${await site.tillCode('TILL-1')}`);

// A customer scans it and pays.
const partner = new PartnerClient({ apiUrl: demo.apiUrl, ...demo.partner });
const customer = partner.asCustomer({ email: thandi.email, password: thandi.password });
const card = { cardNumber: '4242424242424242', cvv: '123', holderName: 'T Nkosi', expiryMonth: 12, expiryYear: 2035 };
await customer.pay({ code: invoice.code, amount: invoice.amount, card });

for (let next = await first; !next.done; next = await notices.next()) {
  const { type, payment } = next.value;
  if (payment.invoiceReference !== invoice.reference) continue;
  console.log(`told: ${type}, ${payment.status}, ${payment.tenderedAmount} cents, ${payment.invoiceExternalReference}`);
  break;
}
await notices.return();

const [found] = await site.paymentsOfExternalReference(externalReference);
console.log(`found: ${found?.status}, ${found?.tenderedAmount} cents`);
