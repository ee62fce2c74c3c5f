import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { buildPayment, CREDENTIALS, SHOP_URL, startTestShop, type TestShop } from '../../test/shop.js';
import { ShopCredentials } from '../platform/shop-credentials.js';
import { OrderRepository } from './order.repository.js';

describe('an order', () => {
  let shop: TestShop;
  beforeAll(async () => {
    shop = await startTestShop();
  });
  afterAll(() => shop.stop());

  const readOrderState = async (orderPath: string): Promise<string | undefined> =>
    /data-state="([a-z-]+)"/.exec((await shop.get(orderPath)).text)?.[1];

  it('is created by a checkout, with the total that the shop computed and with a payment session', async () => {
    const page = await shop.get('/');
    expect(page.status).toBe(200);
    const checkoutId = /name="checkoutId" value="([^"]+)"/.exec(page.text)![1]!;

    const response = await shop.post('/orders', {
      checkoutId,
      'quantity-karoo-sunrise': '2',
      'quantity-enamel-mug': '1',
      total: '1',
    });

    expect(response.status).toBe(303);
    const request = shop.gateway.requests.at(-1)!;
    expect(response.location).toMatch(new RegExp(`^${shop.gateway.url}/pay\\?sessionId=`));
    expect(request.path).toBe('/api/v3.1/sessions');
    expect(request.headers).toMatchObject({ merchantid: '1001', merchantsiteid: '5001', 'x-api-key': 'sk_test_key' });
    const orderId = new URL(String(request.body['returnUrl'])).searchParams.get('orderId');
    expect(request.body).toEqual({
      requestId: `${orderId}:1`,
      merchantOrderId: expect.stringMatching(/^ORDER-\d+$/),
      amount: 2 * 12_345 + 9_900,
      currencyISOCode: 'ZAR',
      notificationUrl: `${SHOP_URL}/webhooks/svc`,
      returnUrl: `${SHOP_URL}/return?orderId=${orderId}`,
      cancelUrl: `${SHOP_URL}/cancelled?orderId=${orderId}`,
      origin: '127.0.0.1:7302',
      lineItems: [
        { name: 'Karoo Sunrise', productCode: 'karoo-sunrise', quantity: 2, unitPrice: 12_345 },
        { name: 'Enamel Mug', productCode: 'enamel-mug', quantity: 1, unitPrice: 9_900 },
      ],
      taxAmount: 4_512,
    });
  });

  it('is created once for each choice of quantities, even if the customer presses the button twice', async () => {
    const checkoutId = randomUUID();
    const [first, second] = await Promise.all([
      shop.post('/orders', { checkoutId, 'quantity-fynbos-decaf': '1' }),
      shop.post('/orders', { checkoutId, 'quantity-fynbos-decaf': '1' }),
    ]);
    const third = await shop.post('/orders', { checkoutId, 'quantity-fynbos-decaf': '2' });

    expect(first.status).toBe(303);
    expect(second.location).toBe(first.location);
    expect(third.location).not.toBe(first.location);
  });

  it.each([
    [{}, 'Open the shop again'],
    [{ checkoutId: randomUUID() }, 'Choose something first'],
    [{ checkoutId: randomUUID(), 'quantity-enamel-mug': '-1' }, 'Choose 0 to 20 of Enamel Mug'],
    [{ checkoutId: randomUUID(), 'quantity-enamel-mug': '21' }, 'Choose 0 to 20 of Enamel Mug'],
    [{ checkoutId: randomUUID(), 'quantity-enamel-mug': '1e1' }, 'Choose 0 to 20 of Enamel Mug'],
  ])('is not created from the form %j, and the page contains the reason', async (form, reason) => {
    const requestCount = shop.gateway.requests.length;
    const response = await shop.post('/orders', form);
    expect(response.status).toBe(400);
    expect(response.headers['content-type']).toMatch(/^text\/html/);
    expect(response.text).toContain(reason);
    expect(shop.gateway.requests).toHaveLength(requestCount);
  });

  it('still awaits its payment after the customer returned, and its page refreshes automatically', async () => {
    const { orderPath } = await shop.createOrder();
    const orderId = orderPath.split('/')[2];

    const returnResponse = await shop.get(
      `/return?orderId=${orderId}&paymentStatus=Success&paymentReference=0QX5M7Y2K9R4T6WABC`,
    );
    expect(returnResponse).toMatchObject({ status: 303, location: orderPath });
    const page = await shop.get(orderPath);
    expect(page.text).toContain('data-state="awaiting-payment"');
    expect(page.text).toContain('data-refresh-seconds="2"');
    expect(page.text).toContain('Awaiting payment.');
    const cancelResponse = await shop.get(`/cancelled?orderId=${orderId}`);
    expect(cancelResponse).toMatchObject({ status: 303, location: `${orderPath}?left=payment` });
    const unpaid = await shop.get(cancelResponse.location!);
    expect(unpaid.text).toContain('You came back without paying.');
    expect(unpaid.text).not.toContain('Awaiting payment');
  });

  it('becomes paid by a verified webhook, and no longer redirects to a payment page', async () => {
    const order = await shop.createOrder();
    expect((await shop.sendWebhook(buildPayment(order))).status).toBe(204);

    const page = await shop.get(order.orderPath);
    expect(page.text).toContain('data-state="paid"');
    expect(page.text).toContain('0QX5M7Y2K9R4T6WABC');
    expect(page.text).not.toContain('data-refresh-seconds');
    const requestCount = shop.gateway.requests.length;
    expect(await shop.post(`${order.orderPath}/pay`)).toMatchObject({ status: 303, location: order.orderPath });
    expect(shop.gateway.requests).toHaveLength(requestCount);
  });

  it('gets no further session after it was paid, and lists only its failed attempt', async () => {
    const order = await shop.createOrder();
    await shop.sendWebhook(buildPayment(order, { paymentStatus: 'Failed', paymentReference: '0AAAAAAAAAAAAAAAAA' }));
    await shop.sendWebhook(buildPayment(order));
    const repository = shop.service.app.get(OrderRepository);
    const paid = (await repository.find(order.orderPath.split('/')[2]!))!;
    expect(paid.state).toBe('paid');
    expect(await repository.beginNextSession(paid, shop.clock.later(60_000))).toEqual(paid);
    expect(await repository.listFailedPayments(paid.orderId)).toMatchObject([
      { paymentReference: '0AAAAAAAAAAAAAAAAA' },
    ]);
  });

  it('does not store a session of an earlier number that is created after the next session was begun', async () => {
    const { orderPath } = await shop.createOrder();
    const repository = shop.service.app.get(OrderRepository);
    const first = (await repository.find(orderPath.split('/')[2]!))!;
    const next = await repository.beginNextSession(first, shop.clock.later(60_000));
    await repository.setSession(first, { sessionId: randomUUID(), redirectUrl: 'https://late.example/' });
    expect(await repository.find(first.orderId)).toEqual(next);
  });

  it('shows a failed attempt, and uses the same session for the next attempt', async () => {
    const order = await shop.createOrder();
    const requestCount = shop.gateway.requests.length;
    await shop.sendWebhook(
      buildPayment(order, { paymentStatus: 'Failed', userMessage: 'The card was declined by the bank.' }),
    );

    expect((await shop.get(order.orderPath)).text).toContain('The card was declined by the bank.');
    expect(await readOrderState(order.orderPath)).toBe('awaiting-payment');
    const payAgain = await shop.post(`${order.orderPath}/pay`);
    expect(payAgain.location).toContain(order.sessionId);
    expect(shop.gateway.requests).toHaveLength(requestCount);
  });

  it('gets a new session after five failed payments, and after 30 minutes', async () => {
    const order = await shop.createOrder();
    for (let number = 1; number <= 5; number++) {
      await shop.sendWebhook(
        buildPayment(order, { paymentStatus: 'Failed', paymentReference: `0QX5M7Y2K9R4T6WAB${number}` }),
      );
    }
    const [second, secondRepeated] = await Promise.all([
      shop.post(`${order.orderPath}/pay`),
      shop.post(`${order.orderPath}/pay`),
    ]);
    expect(second.location).not.toContain(order.sessionId);
    expect(secondRepeated.location).toBe(second.location);
    expect(shop.gateway.requests.at(-1)!.body['requestId']).toMatch(/:2$/);

    shop.clock.advance(30 * 60_000);
    const third = await shop.post(`${order.orderPath}/pay`);
    expect(third.location).not.toBe(second.location);
    expect(shop.gateway.requests.at(-1)!.body['requestId']).toMatch(/:3$/);
  });

  it.each(['/orders/00000000-0000-4000-8000-000000000000', '/orders/nonsense', '/return', '/return?orderId=x'])(
    'is not found at %s',
    async (url) => {
      const response = await shop.get(url);
      expect(response.status).toBe(404);
      expect(response.text).toContain('There is no such order.');
    },
  );

  it('can be created as soon as the credentials file is complete; until then the response is a 503', async () => {
    await writeFile(shop.credentialsFile, '{"merchants":');
    const checkout = { checkoutId: randomUUID(), 'quantity-enamel-mug': '1' };
    const earlyResponse = await shop.post('/orders', checkout);
    expect(earlyResponse.status).toBe(503);
    expect(earlyResponse.text).toContain('The shop has not been given its keys yet.');

    const [merchant] = CREDENTIALS.merchants;
    const sites = [{ ...merchant!.sites[0]!, apiKey: 'sk_test_replaced' }];
    await writeFile(shop.credentialsFile, JSON.stringify({ merchants: [{ ...merchant, sites }] }));
    expect((await shop.post('/orders', checkout)).status).toBe(303);
    expect(shop.gateway.requests.at(-1)!.headers['x-api-key']).toBe('sk_test_replaced');
    // The shop does not read an unchanged file again.
    const credentials = shop.service.app.get(ShopCredentials);
    expect(await credentials.get()).toBe(await credentials.get());
  });

  it('shows the payer that nothing was charged if the gateway rejects its session', async () => {
    shop.gateway.rejectWith(400);
    const response = await shop.post('/orders', { checkoutId: randomUUID(), 'quantity-enamel-mug': '1' });
    expect(response.status).toBe(500);
    expect(response.text).toContain('nothing was charged');
    expect(response.text).not.toContain('refused');
  });
});
