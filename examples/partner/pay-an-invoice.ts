/**
 * A complete partner's server: a till shows a code, a customer of the partner pays it with a card that is stored for the next
 * time, and the payment is in the history. Runs against `./svc up`, with the demo's partner, customers and merchant:
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

// The till of a shop, which does not know the partner: an invoice of R 89.50, and the text of its QR code.
const code = await newInvoice(8_950);

// The customer's app shows the scanned invoice before the payment.
const customer = partner.asCustomer({ email: thandi.email, password: thandi.password });
const { merchant: shop, invoice } = await customer.decode(code);
console.log(
  `scanned: ${String(shop['merchantName'])}, ${String(invoice['amount'])} cents, ${String(invoice['state'])}`,
);

// Pay with a card and store it. The number is encrypted before it leaves this process.
const card = await customer.storeCard({
  cardNumber: '4242424242424242',
  holderName: 'Thandi Nkosi',
  expiryMonth: 12,
  expiryYear: new Date().getFullYear() + 2,
});
console.log(`stored: ${card.cardMask} (${card.brand})`);

const paid = await customer.pay({ code, amount: Number(invoice['amount']), cardToken: card.token });
console.log(`paid: ${paid.status}, ${paid.processedAmount} cents`);

// Repeating the reference, for example after a lost answer, returns the same payment.
const again = await customer.pay({
  reference: paid.reference,
  code,
  amount: Number(invoice['amount']),
  cardToken: card.token,
});
console.log(`repeated: ${again.paymentReference === paid.paymentReference ? 'the same payment' : 'ANOTHER PAYMENT'}`);

// A declined card is a failed payment, not an error.
const declined = await customer.pay({
  code: await newInvoice(1_000),
  amount: 1_000,
  card: { cardNumber: '4000000000000002', cvv: '123', holderName: 'Thandi Nkosi', expiryMonth: 12, expiryYear: 2030 },
});
console.log(`declined: ${declined.status}, error ${declined.errors[0]?.errorReference}`);

// The partner's server reads the payments of all its customers, the newest first.
for await (const payment of partner.service.history({ pageSize: 10 })) {
  console.log(`history: ${payment.status}, ${payment.paymentMethodDescription}, ${payment.customer.id}`);
  if (payment.paymentReference === paid.paymentReference) break;
}

await customer.deleteCard(card.token);
console.log('deleted');

async function newInvoice(amount: number): Promise<string> {
  const path = `/business/api/v1/merchants/${merchant!.merchantId}/sites/${site!.siteId}/invoices`;
  const answer = await fetch(`${demo.apiUrl}${path}`, {
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
  if (!answer.ok) throw new Error(`The till was answered ${answer.status}: ${await answer.text()}`);
  return answer.text();
}
