/** A partner's customer pays an invoice, and the payment is in the history when the answer is there; every service a process. */
import { randomUUID } from 'node:crypto';
import type { PaymentHistory, PaymentHistoryItem, SinglePayment } from '@svc/contracts';
import { callApi, logIn, onboardPartner, type PartnerHeaders } from './partner.js';
import type { Platform } from './platform.js';
import { newInvoice } from './till.js';
import { sharedPlatform } from './shared-platform.js';

let platform: Platform;
let partner: PartnerHeaders;

beforeAll(async () => {
  platform = await sharedPlatform('distributed');
  // Of its own, for it has all that the history says.
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

test('thirty payments, each read back by its reference and at the top of both histories the moment its POST has answered', async () => {
  const customers = [randomUUID(), randomUUID()] as const;
  const made: PaymentHistoryItem[] = [];
  for (let count = 0; count < 30; count++) {
    const declined = count % 5 === 4;
    const amount = 1_000 + count;
    const customer = customers[count % 2]!;
    const { reference: invoice } = await newInvoice(platform, { amount });
    const { status, body: item } = await pay(
      invoice,
      amount,
      customer,
      declined ? '4000000000000002' : '4242424242424242',
    );
    // At once: nothing here waits for anything.
    const one = await call<SinglePayment>('GET', `/v1/payments/${item!.paymentReference}`, partner);
    const page = await call<PaymentHistory>('GET', `/v1/payments?pageSize=1`, partner);
    const own = await call<PaymentHistory>('GET', `/v1/payments?pageSize=1&customerReference=${customer}`, partner);
    expect([status, item?.status, one.status]).toEqual([201, declined ? 'failed' : 'success', 200]);
    expect(one.body).toMatchObject({
      status: declined ? 2 : 1,
      amount,
      reference: item!.reference,
      errors: item!.errors ?? [],
    });
    expect(page.body?.payments).toEqual([item]);
    expect(own.body?.payments).toEqual([item]);
    made.unshift(item!);
  }

  const all = await call<PaymentHistory>('GET', '/v1/payments', partner);
  expect(all.body).toEqual({ payments: made });
  const stranger = await logIn(platform, await onboardPartner(platform));
  expect((await call('GET', '/v1/payments', stranger)).status).toBe(204);
  expect(await call('GET', `/v1/payments/${made[0]!.paymentReference}`, stranger)).toEqual({
    status: 404,
    body: undefined,
  });

  // Built anew over RabbitMQ by the command that an administrator has.
  const rebuilt = await platform.svc('admin', 'history', 'rebuild', '--print', 'serving');
  expect([rebuilt.code, rebuilt.output.trim()]).toEqual([0, '2']);
  expect((await call<PaymentHistory>('GET', '/v1/payments', partner)).body).toEqual(all.body);
  // What comes after it is there as before.
  const later = await pay(
    (await newInvoice(platform, { amount: 500 })).reference,
    500,
    customers[0],
    '4242424242424242',
  );
  expect((await call<PaymentHistory>('GET', '/v1/payments?pageSize=1', partner)).body?.payments).toEqual([later.body]);
});
