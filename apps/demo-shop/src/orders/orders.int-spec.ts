import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { aPayment, CREDENTIALS, SHOP_URL, startTestShop, type TestShop } from '../../test/shop.js';
import { ShopCredentials } from '../platform/shop-credentials.js';
import { OrderRepository } from './order.repository.js';

describe('an order', () => {
  let shop: TestShop;
  beforeAll(async () => {
    shop = await startTestShop();
  });
  afterAll(() => shop.stop());

  const stateOf = async (orderPath: string): Promise<string | undefined> =>
    /data-state="([a-z-]+)"/.exec((await shop.get(orderPath)).text)?.[1];

  it('is checked out from the shop page with the total that the shop computed, and gets a payment session', async () => {
    const page = await shop.get('/');
    expect(page.status).toBe(200);
    const checkoutId = /name="checkoutId" value="([^"]+)"/.exec(page.text)![1]!;

    const answer = await shop.post('/orders', {
      checkoutId,
      'quantity-karoo-sunrise': '2',
      'quantity-enamel-mug': '1',
      total: '1',
    });

    expect(answer.status).toBe(303);
    const request = shop.gateway.requests.at(-1)!;
    expect(answer.location).toMatch(new RegExp(`^${shop.gateway.url}/pay\\?sessionId=`));
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
      customFields: [
        { key: 'Karoo Sunrise', value: '2 × R 123.45' },
        { key: 'Enamel Mug', value: '1 × R 99.00' },
      ],
    });
  });

  it('is created once when the button is pressed twice, and another order is created for other quantities', async () => {
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
  ])('is refused on a page that states the reason: %j', async (form, reason) => {
    const asked = shop.gateway.requests.length;
    const answer = await shop.post('/orders', form);
    expect(answer.status).toBe(400);
    expect(answer.headers['content-type']).toMatch(/^text\/html/);
    expect(answer.text).toContain(reason);
    expect(shop.gateway.requests).toHaveLength(asked);
  });

  it('still awaits its payment after the return, which proves nothing, and its page refreshes itself', async () => {
    const { orderPath } = await shop.order();
    const orderId = orderPath.split('/')[2];

    const back = await shop.get(`/return?orderId=${orderId}&paymentStatus=Success&paymentReference=0QX5M7Y2K9R4T6WABC`);
    expect(back).toMatchObject({ status: 303, location: orderPath });
    const page = await shop.get(orderPath);
    expect(page.text).toContain('data-state="awaiting-payment"');
    expect(page.text).toContain('data-refresh-seconds="2"');
    expect(page.text).toContain('Awaiting payment.');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(page.headers['content-security-policy']).toContain("script-src 'self'");
    const left = await shop.get(`/cancelled?orderId=${orderId}`);
    expect(left).toMatchObject({ status: 303, location: `${orderPath}?left=payment` });
    const unpaid = await shop.get(left.location!);
    expect(unpaid.text).toContain('You came back without paying.');
    expect(unpaid.text).not.toContain('Awaiting payment');
  });

  it('becomes paid by the verified webhook, and then redirects to no payment page', async () => {
    const order = await shop.order();
    expect((await shop.notify(aPayment(order))).status).toBe(204);

    const page = await shop.get(order.orderPath);
    expect(page.text).toContain('data-state="paid"');
    expect(page.text).toContain('0QX5M7Y2K9R4T6WABC');
    expect(page.text).not.toContain('data-refresh-seconds');
    const asked = shop.gateway.requests.length;
    expect(await shop.post(`${order.orderPath}/pay`)).toMatchObject({ status: 303, location: order.orderPath });
    expect(shop.gateway.requests).toHaveLength(asked);
  });

  it('that is paid creates no further session, and its success is not listed as a failed attempt', async () => {
    const order = await shop.order();
    await shop.notify(aPayment(order, { paymentStatus: 'Failed', paymentReference: '0AAAAAAAAAAAAAAAAA' }));
    await shop.notify(aPayment(order));
    const repository = shop.service.app.get(OrderRepository);
    const paid = (await repository.find(order.orderPath.split('/')[2]!))!;
    expect(paid.state).toBe('paid');
    expect(await repository.beginNextSession(paid, shop.clock.later(60_000))).toEqual(paid);
    expect(await repository.listFailedAttempts(paid.orderId)).toMatchObject([
      { paymentReference: '0AAAAAAAAAAAAAAAAA' },
    ]);
  });

  it('shows a failed attempt and keeps its session for the next one', async () => {
    const order = await shop.order();
    const asked = shop.gateway.requests.length;
    await shop.notify(aPayment(order, { paymentStatus: 'Failed', userMessage: 'The card was declined by the bank.' }));

    expect((await shop.get(order.orderPath)).text).toContain('The card was declined by the bank.');
    expect(await stateOf(order.orderPath)).toBe('awaiting-payment');
    const again = await shop.post(`${order.orderPath}/pay`);
    expect(again.location).toContain(order.sessionId);
    expect(shop.gateway.requests).toHaveLength(asked);
  });

  it('gets a new session after five failed attempts, and after half an hour', async () => {
    const order = await shop.order();
    for (let number = 1; number <= 5; number++) {
      await shop.notify(aPayment(order, { paymentStatus: 'Failed', paymentReference: `0QX5M7Y2K9R4T6WAB${number}` }));
    }
    const [second, secondAgain] = await Promise.all([
      shop.post(`${order.orderPath}/pay`),
      shop.post(`${order.orderPath}/pay`),
    ]);
    expect(second.location).not.toContain(order.sessionId);
    expect(secondAgain.location).toBe(second.location);
    expect(shop.gateway.requests.at(-1)!.body['requestId']).toMatch(/:2$/);

    shop.clock.advance(30 * 60_000);
    const third = await shop.post(`${order.orderPath}/pay`);
    expect(third.location).not.toBe(second.location);
    expect(shop.gateway.requests.at(-1)!.body['requestId']).toMatch(/:3$/);
  });

  it.each(['/orders/00000000-0000-4000-8000-000000000000', '/orders/nonsense', '/return', '/return?orderId=x'])(
    'is not found at %s',
    async (url) => {
      const answer = await shop.get(url);
      expect(answer.status).toBe(404);
      expect(answer.text).toContain('There is no such order.');
    },
  );

  it('gets a 503 until the platform has been seeded, and uses changed keys', async () => {
    await writeFile(shop.credentialsFile, '{"merchants":');
    const checkout = { checkoutId: randomUUID(), 'quantity-enamel-mug': '1' };
    const early = await shop.post('/orders', checkout);
    expect(early.status).toBe(503);
    expect(early.text).toContain('The shop has not been given its keys yet.');

    const [merchant] = CREDENTIALS.merchants;
    const sites = [{ ...merchant!.sites[0]!, apiKey: 'sk_test_replaced' }];
    await writeFile(shop.credentialsFile, JSON.stringify({ merchants: [{ ...merchant, sites }] }));
    expect((await shop.post('/orders', checkout)).status).toBe(303);
    expect(shop.gateway.requests.at(-1)!.headers['x-api-key']).toBe('sk_test_replaced');
    // An unchanged file is not read again.
    const credentials = shop.service.app.get(ShopCredentials);
    expect(await credentials.get()).toBe(await credentials.get());
  });

  it('is kept when the gateway refuses, and the page states that nothing was charged', async () => {
    shop.gateway.refuseWith(400);
    const answer = await shop.post('/orders', { checkoutId: randomUUID(), 'quantity-enamel-mug': '1' });
    expect(answer.status).toBe(500);
    expect(answer.text).toContain('nothing was charged');
    expect(answer.text).not.toContain('refused');
  });
});
