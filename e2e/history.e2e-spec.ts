/**
 * A partner's customer pays an invoice. The payment is in the history as soon as the POST has a response, and the
 * merchant finds the payment shortly after. Every service has its own process.
 */
import { randomUUID } from 'node:crypto';
import type { MerchantPayment, PaymentHistory, PaymentHistoryItem, SinglePayment } from '@svc/contracts';
import { waitUntil } from '@svc/testing';
import { callApi, logIn, onboardPartner, type PartnerHeaders } from './callers/partner.js';
import { callTillApi, createInvoice } from './callers/till.js';
import type { Platform } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

let platform: Platform;
let partner: PartnerHeaders;

beforeAll(async () => {
  platform = await sharedPlatform('distributed');
  // The test has a partner of its own, so that the histories have only the payments of this test.
  partner = await logIn(platform, await onboardPartner(platform));
});

const call = <T>(
  method: 'GET' | 'POST',
  path: string,
  headers: PartnerHeaders,
  body?: object,
): Promise<{ status: number; body: T | undefined }> => callApi<T>(platform, method, path, headers, body);

async function pay(invoiceReference: string, amount: number, customerId: string, cardNumber: string) {
  return call<PaymentHistoryItem>('POST', '/v1/payments', partner, {
    reference: randomUUID(),
    invoiceReference,
    amount,
    customer: { id: customerId, firstName: 'Thandi', lastName: 'Nkosi' },
    paymentMethod: {
      card: {
        cardNumber,
        cvv: '123',
        holderName: 'T Nkosi',
        expiryMonth: 12,
        expiryYear: new Date().getFullYear() + 2,
      },
    },
  });
}

test('a payment whose POST has a response is readable by reference, and is first in the histories of partner and customer', async () => {
  const customers = [randomUUID(), randomUUID()] as const;
  const items: PaymentHistoryItem[] = [];
  for (let count = 0; count < 30; count++) {
    const isDeclined = count % 5 === 4;
    const amount = 1_000 + count;
    const customer = customers[count % 2]!;
    const { reference: invoice } = await createInvoice(platform, { amount });
    const { status, body: item } = await pay(
      invoice,
      amount,
      customer,
      isDeclined ? '4000000000000002' : '4242424242424242',
    );
    // The test reads at once, without waiting for anything.
    const one = await call<SinglePayment>('GET', `/v1/payments/${item!.paymentReference}`, partner);
    const page = await call<PaymentHistory>('GET', `/v1/payments?pageSize=1`, partner);
    const own = await call<PaymentHistory>('GET', `/v1/payments?pageSize=1&customerReference=${customer}`, partner);
    expect([status, item?.status, one.status]).toEqual([201, isDeclined ? 'failed' : 'success', 200]);
    expect(one.body).toMatchObject({
      status: isDeclined ? 2 : 1,
      amount,
      reference: item!.reference,
      errors: item!.errors ?? [],
    });
    expect(page.body?.payments).toEqual([item]);
    expect(own.body?.payments).toEqual([item]);
    items.unshift(item!);
  }

  const all = await call<PaymentHistory>('GET', '/v1/payments', partner);
  expect(all.body).toEqual({ payments: items });
  const otherPartner = await logIn(platform, await onboardPartner(platform));
  expect((await call('GET', '/v1/payments', otherPartner)).status).toBe(204);
  expect(await call('GET', `/v1/payments/${items[0]!.paymentReference}`, otherPartner)).toEqual({
    status: 404,
    body: undefined,
  });

  // The administrator's command rebuilds the history over RabbitMQ. Then generation 2 of the read model serves reads.
  const rebuilt = await platform.svc('admin', 'history', 'rebuild', '--print', 'serving');
  expect([rebuilt.code, rebuilt.output.trim()]).toEqual([0, '2']);
  expect((await call<PaymentHistory>('GET', '/v1/payments', partner)).body).toEqual(all.body);
  // Later payments appear as before.
  const later = await pay(
    (await createInvoice(platform, { amount: 500 })).reference,
    500,
    customers[0],
    '4242424242424242',
  );
  expect((await call<PaymentHistory>('GET', '/v1/payments?pageSize=1', partner)).body?.payments).toEqual([later.body]);
});

test('the merchant finds a partner’s payment by invoice, till’s reference and payment id, also after a rebuild', async () => {
  const { merchant, siteId, apiKey } = platform.site(0, 0);
  const externalReference = randomUUID();
  const { reference: invoice } = await createInvoice(platform, { amount: 700, externalReference });
  const { body: item } = await pay(invoice, 700, randomUUID(), '4242424242424242');
  const lookUps = [
    `/invoices/${invoice}/payments`,
    `/payments?externalReference=${externalReference}`,
    `/payments/${item!.paymentReference}`,
  ];
  const find = async (path: string): Promise<MerchantPayment[]> =>
    (await (await callTillApi(platform, 'GET', path, 'application/json')).json()) as MerchantPayment[];
  await waitUntil('the merchant to find it', 5_000, async () => (await find(lookUps[0]!)).length > 0);
  const expected = [
    {
      ...{ paymentReference: item!.paymentReference, invoiceReference: invoice, siteReference: 'TILL-1', siteId },
      ...{ invoiceExternalReference: externalReference, invoicedAmount: 700, tenderedAmount: 700, status: 1 },
      customer: { firstName: 'Thandi', lastName: 'Nkosi' },
    },
  ];
  for (const lookUp of lookUps) expect(await find(lookUp)).toMatchObject(expected);

  const rebuilt = await platform.svc('admin', 'retrieval', 'rebuild', '--print', 'serving');
  expect([rebuilt.code, rebuilt.output.trim()]).toEqual([0, '2']);
  const merchantPath = `/business/api/v1/merchants/${merchant.merchantId}${lookUps[2]}`;
  const answer = await fetch(`${platform.demo.apiUrl}${merchantPath}`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  expect([answer.status, await answer.json()]).toMatchObject([200, expected]);
});
