/** Tests the facade: the routes for tills that send a basket as a whole. */
import { waitUntil } from '@svc/testing';
import { OTHER_SITE, PRODUCT, SITE, TestTransformer } from '../../test/test-transformer.js';
import { BasketRepository } from '../baskets/basket.repository.js';

let pos: TestTransformer;
beforeEach(async () => (pos = await TestTransformer.start()));
afterEach(() => pos.stop());

describe('T1: Basket and BasketClosed', () => {
  it('respond with only Result and Message', async () => {
    expect(await pos.sendBasket('17', 4_475)).toMatchObject({ status: 200, body: { Result: 'OK', Message: '' } });
    expect(Object.keys((await pos.sendBasket('17', 4_475)).body as object)).toEqual(['Result', 'Message']);
    expect((await pos.closeBasket('17', 'Complete')).body).toStrictEqual({ Result: 'OK', Message: '' });
  });

  const validBasket = { MerchantOrderId: '17', TotalToPay: 100, Products: [PRODUCT], BasketDiscounts: [], Tenders: [] };
  it.each<[string, object]>([
    ['MerchantOrderId', { MerchantOrderId: 17 }],
    ['MerchantOrderId', { MerchantOrderId: '' }],
    ['TotalToPay', { TotalToPay: '100' }],
    ['TotalToPay', { TotalToPay: null }],
    ['TotalToPay', { TotalToPay: 99.5 }],
    ['TotalToPay', { TotalToPay: -0.5 }],
    ['Products', { Products: 'none' }],
    ['Products', { Products: [null] }],
    ['Products[0].ProductCode', { Products: [{ ...PRODUCT, ProductCode: 7 }] }],
    ['Products[0].ProductCode', { Products: [{ ...PRODUCT, ProductCode: 'a\nb' }] }],
    ['Products[0].ProductName', { Products: [{ ...PRODUCT, ProductName: 'x'.repeat(201) }] }],
    ['Products[0].ExtraInfo', { Products: [{ ...PRODUCT, ExtraInfo: 'x'.repeat(513) }] }],
    ['Products[0].ActualUnitPrice', { Products: [{ ...PRODUCT, ActualUnitPrice: -1 }] }],
    ['Products[0].OriginalPrice', { Products: [{ ...PRODUCT, OriginalPrice: '5' }] }],
    ['Products[0].DiscountReason', { Products: [{ ...PRODUCT, DiscountReason: {} }] }],
    ['Products[0].DiscountName', { Products: [{ ...PRODUCT, DiscountName: 1 }] }],
    ['Products[0].DiscountCode', { Products: [{ ...PRODUCT, DiscountCode: [] }] }],
    ['Products[1].Quantity', { Products: [PRODUCT, { ...PRODUCT, Quantity: undefined }] }],
    ['Products[0].FullPriced', { Products: [{ ...PRODUCT, FullPriced: 'true' }] }],
    ['BasketDiscounts[0].DiscountValue', { BasketDiscounts: [{ DiscountValue: 1.5 }] }],
    ['Tenders[0].TenderValue', { Tenders: [{ TenderValue: '1' }] }],
    ['Tenders[0].TenderType', { Tenders: [{ TenderType: 1, TenderValue: 1 }] }],
  ])('refuse a wrong %s with 400 and a STOP envelope that names the field', async (field, changes) => {
    const { status, body } = await pos.call('POST', '/Basket', { ...validBasket, ...changes });
    expect([status, Object.keys(body as object), body.Result]).toEqual([400, ['Result', 'Message'], 'STOP']);
    expect(body.Message).toMatch(new RegExp(`${field.replace(/[[\]]/g, '\\$&')} (must|is required)`));
    expect(pos.platform.requests).toEqual([]);
  });

  it('name every wrong field of a request in one response', async () => {
    const { body } = await pos.call('POST', '/Basket', {
      ...validBasket,
      MerchantOrderId: 1,
      TotalToPay: '1',
      Products: [{}],
    });
    for (const field of ['MerchantOrderId', 'TotalToPay', 'Products[0].ActualUnitPrice', 'Products[0].Quantity'])
      expect(body.Message).toContain(field);
  });

  it.each([
    ['/Basket', '{'],
    ['/Basket', '[]'],
    ['/Basket', `{"a":${'['.repeat(30)}${']'.repeat(30)}}`],
    ['/BasketClosed', '{"MerchantOrderId": "17"}'],
    ['/BasketClosed', '{"MerchantOrderId": "17", "OrderStatus": 1}'],
    ['/SvcRefund', '{"SvcId": 1, "RefundAmount": 1}'],
  ])('refuse a malformed body with a STOP envelope: %s %s', async (path, body) => {
    expect(await pos.call('POST', path, body)).toMatchObject({ status: 400, body: { Result: 'STOP' } });
    expect((await pos.call('GET', '/health/ready')).status).toBe(200);
  });

  it('refuse a body of another content type, or a body that is too large, with a STOP envelope', async () => {
    const reply = await pos.call('POST', '/Basket', 'text', { 'content-type': 'application/xml' });
    expect(reply).toMatchObject({ status: 415, body: { Result: 'STOP' } });
    const large = await pos.sendBasket('17', 100, { note: 'x'.repeat(300_000) });
    expect(large).toMatchObject({ status: 413, body: { Result: 'STOP' } });
  });
});

describe('T3: a basket of the facade', () => {
  it('becomes an invoice at the configured site, with its Products as line items', async () => {
    const Products = [
      PRODUCT,
      { ...PRODUCT, ActualUnitPrice: 129, Quantity: 0.543, ProductName: null, ProductCode: 'AP' },
    ];
    await pos.sendBasket('17', 4_545, { Products });
    expect(pos.openInvoice()).toMatchObject({
      siteId: SITE,
      body: {
        externalReference: '17',
        siteReference: 'STORE-1',
        amount: 4_545,
        lineItems: [
          { name: 'Rooibos', productCode: 'RB', unitPrice: '4475', quantity: 1 },
          { productCode: 'AP', unitPrice: '129', quantity: 0.543 },
        ],
      },
    });
  });

  it.each<[string, 'OK' | 'WARN', number, object]>([
    [
      'with the correct sum minus discounts and tenders',
      'OK',
      4_000,
      { BasketDiscounts: [{ DiscountValue: 300 }], Tenders: [{ TenderType: 'Coupon', TenderValue: 175 }] },
    ],
    ['with a wrong sum', 'WARN', 4_475, { BasketDiscounts: [{ DiscountValue: 300 }] }],
    ['with a negative total (a return)', 'OK', -4_475, { Products: [PRODUCT, { ...PRODUCT, Quantity: -2 }] }],
    ['with a product of quantity 0', 'OK', 4_475, { Products: [PRODUCT, { ...PRODUCT, Quantity: 0 }] }],
  ])('%s gets the result %s', async (_, result, total, changes) => {
    const { body } = await pos.sendBasket('17', total, { Products: [PRODUCT], ...changes });
    expect(body.Result).toBe(result);
  });

  it('gets a STOP if it has 501 products', async () => {
    const Products = Array.from({ length: 501 }, () => PRODUCT);
    expect((await pos.sendBasket('17', 100, { Products })).body).toEqual({
      Result: 'STOP',
      Message: 'A basket has at most 500 lines.',
    });
    expect((await pos.sendBasket('17', 500 * 4_475, { Products: Products.slice(1) })).body.Result).toBe('OK');
  });

  it('replaces the basket of the same order, and does not change baskets of other orders', async () => {
    await pos.sendBasket('17', 100);
    await pos.sendBasket('18', 200);
    await pos.sendBasket('17', 300);
    expect(pos.platform.openInvoices().map(({ body }) => body['amount'])).toEqual([200, 300]);
  });

  it('is accepted without the optional lists', async () => {
    const body = { MerchantOrderId: '17', TotalToPay: 100, Products: null };
    expect((await pos.call('POST', '/Basket', body)).status).toBe(200);
  });

  it('is stored with every field of the specification, and no other field', async () => {
    const discount = { DiscountReason: 'Tuesday', DiscountName: 'Pensioner', DiscountCode: 'D1', DiscountValue: 300 };
    const tender = { TenderReference: 'R', TenderType: 'Coupon', TenderExtraInfo: 'x', TenderValue: 175 };
    await pos.sendBasket('17', 4_000, {
      Products: [{ ...PRODUCT, extra: 1 }],
      BasketDiscounts: [{ ...discount, extra: 1 }],
      Tenders: [{ ...tender, extra: 1 }, { TenderValue: 0 }],
    });
    const { TotalRepository } = await import('../baskets/total.repository.js');
    const { app } = pos.transformer;
    const basket = app.get(BasketRepository).findOrder({ siteId: SITE, till: '' }, '17')!;
    expect(app.get(TotalRepository).findCurrent(basket.basketId)!.content.order).toEqual({
      Products: [PRODUCT],
      BasketDiscounts: [discount],
      Tenders: [tender, { TenderValue: 0 }],
    });
  });
});

describe('T12: BasketClosed', () => {
  const basketState = (): unknown =>
    pos.transformer.app.get(BasketRepository).findNewestOrder({ siteId: SITE, till: '' }, '17')?.state;

  it.each(['Complete', 'Void', 'Saved'])('closes the invoice of an unpaid basket (OrderStatus %s)', async (status) => {
    await pos.sendBasket('17', 100);
    expect((await pos.closeBasket('17', status)).body).toEqual({ Result: 'OK', Message: '' });
    expect(pos.platform.openInvoices()).toEqual([]);
    expect((await pos.closeBasket('17', status)).body.Result).toBe('OK');
  });

  it.each(['Paid', 'complete', '', 'constructor'])('gets a STOP for the unknown OrderStatus %j', async (status) => {
    await pos.sendBasket('17', 100);
    expect((await pos.closeBasket('17', status)).body).toEqual({
      Result: 'STOP',
      Message: 'OrderStatus must be Complete, Void or Saved.',
    });
    expect(pos.platform.openInvoices()).toHaveLength(1);
  });

  it('gets a WARN for an unknown order, because another till may still show the code of the order', async () => {
    expect((await pos.closeBasket('17', 'Complete')).body.Result).toBe('WARN');
  });

  it.each(['Complete', 'Void', 'Saved'])(
    'closes the only basket of the order, even from another till (OrderStatus %s, T3)',
    async (status) => {
      await pos.sendBasket('17', 100, {}, 'TILL-1');
      expect((await pos.closeBasket('17', status, 'TILL-2')).body.Result).toBe('OK');
      expect(pos.platform.openInvoices()).toEqual([]);
    },
  );

  it('gets a WARN and changes nothing if two other tills have a basket of the order', async () => {
    await pos.sendBasket('17', 100, {}, 'TILL-1');
    await pos.sendBasket('17', 200, {}, 'TILL-2');
    expect((await pos.closeBasket('17', 'Complete', 'TILL-3')).body.Result).toBe('WARN');
    expect(pos.platform.openInvoices()).toHaveLength(2);
    await pos.closeBasket('17', 'Complete', 'TILL-2');
    expect(pos.platform.openInvoices().map(({ body }) => body['amount'])).toEqual([100]);
    // Only one open basket is left, because a closed basket does not count.
    expect((await pos.closeBasket('17', 'Complete', 'TILL-3')).body.Result).toBe('OK');
    expect(pos.platform.openInvoices()).toEqual([]);
  });

  it('lets another till resume a saved basket, which then belongs to that till', async () => {
    await pos.sendBasket('17', 100, {}, 'TILL-1');
    await pos.closeBasket('17', 'Saved', 'TILL-1');
    await pos.sendBasket('17', 100, {}, 'TILL-2');
    expect(pos.openInvoice().body).toMatchObject({ externalReference: '17', siteReference: 'TILL-2' });
    await pos.sendBasket('17', 150, {}, 'TILL-2');
    expect(pos.openInvoice().body['amount']).toBe(150);
    expect((await pos.closeBasket('17', 'Complete', 'TILL-2')).body.Result).toBe('OK');
    expect(pos.platform.openInvoices()).toEqual([]);
  });

  it('gets an OK for Complete after the payment, and a WARN to refund the payment for Void', async () => {
    await pos.sendBasket('17', 100);
    await pos.pay();
    expect((await pos.closeBasket('17', 'Complete')).body.Result).toBe('OK');
    expect((await pos.invoicePayment('17')).body.ReceiptStatus).toBe('Paid');
    const voided = await pos.closeBasket('17', 'Void');
    expect(voided.body).toEqual({ Result: 'WARN', Message: 'This order was paid: R 1.00. Refund it.' });
    expect((await pos.invoicePayment('17')).body.ReceiptStatus).toBe('Voided');
  });

  it('lets the next Basket request resume a saved order with a new invoice', async () => {
    await pos.sendBasket('17', 100);
    await pos.closeBasket('17', 'Saved');
    expect((await pos.sendBasket('17', 100)).body.Result).toBe('OK');
    expect(pos.openInvoice().body['externalReference']).toBe('17');
    expect(pos.platform.invoices).toHaveLength(2);
    await pos.pay();
    expect((await pos.getPayment('17')).body.StatusId).toBe('2');
  });

  it.each([
    ['Complete', 'complete'],
    ['Void', 'void'],
  ])('closes a saved order (OrderStatus %s)', async (status, state) => {
    await pos.sendBasket('17', 100);
    await pos.closeBasket('17', 'Saved');
    expect((await pos.closeBasket('17', status)).body).toEqual({ Result: 'OK', Message: '' });
    expect(basketState()).toBe(state);
  });

  it('leaves the order saved if the next Basket request gets a STOP', async () => {
    await pos.sendBasket('17', 100);
    await pos.closeBasket('17', 'Saved');
    pos.platform.nextErrors.push({ method: 'POST', status: 400, body: { code: 'request.invalid' } });
    expect((await pos.sendBasket('17', 200)).body.Result).toBe('STOP');
    expect(basketState()).toBe('saved');
    expect((await pos.sendBasket('17', 100)).body.Result).toBe('OK');
    expect(basketState()).toBe('open');
  });

  it('changes nothing if the order is voided', async () => {
    await pos.sendBasket('17', 100);
    await pos.pay();
    await pos.closeBasket('17', 'Void');
    for (const status of ['Complete', 'Saved'])
      expect((await pos.closeBasket('17', status)).body).toEqual({
        Result: 'OK',
        Message: 'This order is already closed.',
      });
    expect((await pos.invoicePayment('17')).body.ReceiptStatus).toBe('Voided');
  });

  it('voids the order, even if a concurrent Basket request gets a STOP', async () => {
    await pos.sendBasket('17', 100);
    await pos.closeBasket('17', 'Saved');
    const { promise: after, resolve: sendRefusal } = Promise.withResolvers<void>();
    const requestCount = pos.platform.requests.length;
    pos.platform.nextErrors.push({ method: 'POST', status: 400, body: { code: 'request.invalid' }, after });
    const resumed = pos.sendBasket('17', 200);
    await waitUntil('the call to the platform', 5_000, async () => pos.platform.requests.length > requestCount);
    const voided = pos.closeBasket('17', 'Void');
    await waitUntil('the voided basket', 5_000, async () => basketState() === 'void');
    sendRefusal();
    await Promise.all([resumed, voided]);
    expect(basketState()).toBe('void');
  });

  it.each([
    ['Complete', { Result: 'OK', Message: 'This basket has just been paid.' }],
    ['Void', { Result: 'WARN', Message: 'This order has just been paid. Refund it.' }],
  ])('reports a payment that the platform has not sent yet (OrderStatus %s)', async (status, answer) => {
    await pos.sendBasket('17', 100);
    pos.platform.nextErrors.push({ method: 'DELETE', status: 409, body: { code: 'payable.paid' } });
    expect((await pos.closeBasket('17', status)).body).toEqual(answer);
  });

  it('gets a WARN while a customer is paying, and closes the invoice if the payment fails', async () => {
    await pos.sendBasket('17', 100);
    const invoice = pos.openInvoice();
    invoice.state = 'reserved';
    expect((await pos.closeBasket('17', 'Void')).body).toEqual({
      Result: 'WARN',
      Message: expect.stringContaining('is paying'),
    });
    invoice.state = 'open';
    await pos.sendPostponedCalls();
    expect(invoice.state).toBe('closed');
  });
});

describe('T12: reset', () => {
  it('gets a WARN while a customer is paying, and does not lose the payment', async () => {
    await pos.sendLine();
    await pos.sendTotal(8_950, '17');
    const invoice = pos.openInvoice();
    invoice.state = 'reserved';
    expect((await pos.resetBasket()).body.Result).toBe('WARN');
    await pos.pay(invoice);
    await pos.sendPostponedCalls();
    expect((await pos.getPayment('17')).body).toMatchObject({ StatusId: '2', PaidAmount: 8_950 });
  });

  it('gets an OK without a basket', async () => {
    expect((await pos.resetBasket()).body.Result).toBe('OK');
  });
});

test('T5: GetPayment searches only one configured site; /v1/invoice/…/payment searches all sites', async () => {
  await pos.sendTotal(100, '17', undefined, OTHER_SITE);
  await pos.pay();
  expect((await pos.getPayment('17')).status).toBe(404);
  expect((await pos.invoicePayment('17')).body).toMatchObject({ MerchantSiteId: OTHER_SITE, PosReference: '17' });
});
