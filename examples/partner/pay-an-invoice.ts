/**
 * An example of a partner's server. A till shows the code of an invoice. A customer of the partner stores a card and
 * pays the invoice with it. Then the partner reads the payment from the history. Start the platform with `./svc up`;
 * the example uses the partner, the customers and the merchant of its demo:
 *
 *     node examples/partner/pay-an-invoice.ts
 */
import { readFileSync } from 'node:fs';
import { PartnerClient } from '@svc/sdk';

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
const [site] = merchant?.sites ?? [];
const [thandi] = demo.customers;
if (!merchant || !site || !thandi) throw new Error('demo.json has no merchant, or no customer: ./svc up creates it');

const partner = new PartnerClient({ apiUrl: demo.apiUrl, ...demo.partner });

// The till of a shop creates an invoice of R 89.50. `code` is the text of its QR code.
const code = await createInvoice(8_950);

// The customer's app shows the scanned invoice before the payment.
const customer = partner.asCustomer({ email: thandi.email, password: thandi.password });
const { merchant: shop, invoice } = await customer.decode(code);
console.log(
  `scanned: ${String(shop['merchantName'])}, ${String(invoice['amount'])} cents, ${String(invoice['state'])}`,
);

// Store a card. The number is encrypted before it leaves this process.
const card = await customer.storeCard({
  cardNumber: '4242424242424242',
  holderName: 'Thandi Nkosi',
  expiryMonth: 12,
  expiryYear: new Date().getFullYear() + 2,
});
console.log(`stored: ${card.cardMask} (${card.brand})`);

const payment = await customer.pay({ code, amount: Number(invoice['amount']), cardToken: card.token });
console.log(`paid: ${payment.status}, ${payment.processedAmount} cents`);

// A repeated request with the same reference, for example after a lost response, returns the same payment.
const repeated = await customer.pay({
  reference: payment.reference,
  code,
  amount: Number(invoice['amount']),
  cardToken: card.token,
});
console.log(
  `repeated: ${repeated.paymentReference === payment.paymentReference ? 'the same payment' : 'ANOTHER PAYMENT'}`,
);

// A declined card is a failed payment, not an error.
const declined = await customer.pay({
  code: await createInvoice(1_000),
  amount: 1_000,
  card: { cardNumber: '4000000000000002', cvv: '123', holderName: 'Thandi Nkosi', expiryMonth: 12, expiryYear: 2030 },
});
console.log(`declined: ${declined.status}, error ${declined.errors[0]?.errorReference}`);

// The partner's server reads the payments of all its customers, the newest first.
for await (const entry of partner.service.history({ pageSize: 10 })) {
  console.log(`history: ${entry.status}, ${entry.paymentMethodDescription}, ${entry.customer.id}`);
  if (entry.paymentReference === payment.paymentReference) break;
}

await customer.deleteCard(card.token);
console.log('deleted');

async function createInvoice(amount: number): Promise<string> {
  const path = `/business/api/v1/merchants/${merchant!.merchantId}/sites/${site!.siteId}/invoices`;
  const response = await fetch(`${demo.apiUrl}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': site!.apiKey, accept: 'text/plain', 'content-type': 'application/json' },
    body: JSON.stringify({
      siteReference: 'TILL-1',
      currencyISOCode: 'ZAR',
      amount,
      origin: 'Example till',
      createdUTCDate: new Date().toISOString(),
    }),
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok)
    throw new Error(`The till could not create the invoice: ${response.status} ${await response.text()}`);
  return response.text();
}
