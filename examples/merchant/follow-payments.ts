/**
 * An example of a merchant's back office. It creates an invoice for a till and shows its code. A customer of a partner
 * pays the invoice, and the back office reads the payment from the stream of its site. Start the platform with `./svc
 * up`; the example uses the merchant, the partner and the customers of its demo:
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

// The stream starts with new payments. After a restart, continue after the last processed notification: `stream({ after: id
// })`.
const { promise: opened, resolve: onOpen } = Promise.withResolvers<string>();
const notifications = site.stream({ onOpen, signal: AbortSignal.timeout(60_000) });
const firstNotification = notifications.next();
// Wait until the stream is open. If it fails to open, `firstNotification` is rejected.
await Promise.race([opened, firstNotification]);

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

// A customer scans the code and pays.
const partner = new PartnerClient({ apiUrl: demo.apiUrl, ...demo.partner });
const customer = partner.asCustomer({ email: thandi.email, password: thandi.password });
const card = { cardNumber: '4242424242424242', cvv: '123', holderName: 'T Nkosi', expiryMonth: 12, expiryYear: 2035 };
await customer.pay({ code: invoice.code, amount: invoice.amount, card });

for (let next = await firstNotification; !next.done; next = await notifications.next()) {
  const { type, payment } = next.value;
  if (payment.invoiceReference !== invoice.reference) continue;
  console.log(
    `received: ${type}, ${payment.status}, ${payment.tenderedAmount} cents, ${payment.invoiceExternalReference}`,
  );
  break;
}
await notifications.return();

const [foundPayment] = await site.paymentsOfExternalReference(externalReference);
console.log(`found: ${foundPayment?.status}, ${foundPayment?.tenderedAmount} cents`);
