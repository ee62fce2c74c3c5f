import { buildPayment, startTestShop, type TestShop } from '../../test/shop.js';

const OTHER_SECRET = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;

describe('POST /webhooks/svc', () => {
  let shop: TestShop;
  beforeAll(async () => {
    shop = await startTestShop();
  });
  afterAll(() => shop.stop());

  const isPaid = async (orderPath: string): Promise<boolean> =>
    (await shop.get(orderPath)).text.includes('data-state="paid"');

  it('applies a webhook once, also if it is delivered several times', async () => {
    const order = await shop.createOrder();
    const deliveries = await Promise.all(
      [1, 2, 3].map(() => shop.sendWebhook(buildPayment(order), { webhookId: 'msg_1' })),
    );

    expect(deliveries.map(({ status }) => status)).toEqual([204, 204, 204]);
    expect(await isPaid(order.orderPath)).toBe(true);
    const rows = await shop.dataSource.query<unknown[]>(`SELECT 1 FROM received_webhooks WHERE webhook_id = 'msg_1'`);
    expect(rows).toHaveLength(1);
  });

  it('stores the first successful payment of an order, and ignores later successes and failures', async () => {
    const order = await shop.createOrder();
    await shop.sendWebhook(buildPayment(order, { paymentReference: '0AAAAAAAAAAAAAAAAA' }));
    await shop.sendWebhook(buildPayment(order, { paymentReference: '0BBBBBBBBBBBBBBBBB' }));
    await shop.sendWebhook(buildPayment(order, { paymentReference: '0CCCCCCCCCCCCCCCCC', paymentStatus: 'Failed' }));

    const page = (await shop.get(order.orderPath)).text;
    expect(page).toContain('0AAAAAAAAAAAAAAAAA');
    expect(page).not.toContain('0BBBBBBBBBBBBBBBBB');
    expect(page).toContain('data-state="paid"');
  });

  it.each([
    ['another secret', { secret: OTHER_SECRET }, 'No signature matches'],
    ['a changed body', { tamper: (body: string) => body.replace('12345', '12346') }, 'No signature matches'],
    ['other white space', { tamper: (body: string) => `${body} ` }, 'No signature matches'],
    ['an old signature', { signedAt: new Date('2026-03-01T09:54:00.000Z') }, 'signed too long ago'],
    ['a signature from the future', { signedAt: new Date('2026-03-01T10:06:00.000Z') }, 'in the future'],
  ])('rejects a webhook with %s', async (_, options, reason) => {
    const order = await shop.createOrder();
    const { status, text } = await shop.sendWebhook(buildPayment(order), options);
    expect([status, text]).toEqual([400, expect.stringContaining(reason)]);
    expect(await isPaid(order.orderPath)).toBe(false);
  });

  it.each([
    ['another amount', { amount: 12_344 }, 400, 'amount is not the order'],
    ['another currency', { currencyISOCode: 'USD' }, 400, 'currency is not the order'],
    ['an unknown order number', { merchantOrderId: 'ORDER-999999' }, 404, 'There is no such order'],
    ['a malformed order number', { merchantOrderId: '../1' }, 404, 'There is no such order'],
  ])(
    'rejects a correctly signed webhook with %s, and does not mark the order as paid',
    async (_, changes, status, reason) => {
      const order = await shop.createOrder();
      const response = await shop.sendWebhook(buildPayment(order, changes));
      expect([response.status, response.text]).toEqual([status, expect.stringContaining(reason)]);
      expect(await isPaid(order.orderPath)).toBe(false);
    },
  );

  it('rejects a webhook without a signature, and a webhook without a body', async () => {
    const reason = expect.stringContaining('The header webhook-id is missing');
    const unsigned = await shop.post('/webhooks/svc', { paid: 'yes' });
    expect([unsigned.status, unsigned.text]).toEqual([400, reason]);
    const empty = await shop.service.app.inject({ method: 'POST', url: '/webhooks/svc' });
    expect([empty.statusCode, empty.body]).toEqual([400, reason]);
  });
});
