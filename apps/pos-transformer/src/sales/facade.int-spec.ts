import { waitUntil } from '@svc/testing';
import { OTHER_SITE, PRODUCT, SITE, TestTransformer } from '../../test/test-transformer.js';
import { BasketRepository } from '../baskets/basket.repository.js';

let pos: TestTransformer;
beforeEach(async () => (pos = await TestTransformer.start()));
afterEach(() => pos.stop());

describe('T1: Basket and BasketClosed', () => {
  it('answer with only Result and Message', async () => {
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
    ['Products[0].ProductName', { Products: [{ ...PRODUCT, ProductName: 'a\nb' }] }],
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
  ])('a wrong %s is a 400 with a STOP envelope that names it', async (field, changes) => {
    const { status, body } = await pos.call('POST', '/Basket', { ...validBasket, ...changes });
    expect([status, Object.keys(body as object), body.Result]).toEqual([400, ['Result', 'Message'], 'STOP']);
    expect(body.Message).toMatch(new RegExp(`${field.replace(/[[\]]/g, '\\$&')} (must|is required)`));
    expect(pos.platform.requests).toEqual([]);
  });

  it('every wrong field is named at once', async () => {
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
  ])('%s refuses %s with a STOP envelope', async (path, body) => {
    expect(await pos.call('POST', path, body)).toMatchObject({ status: 400, body: { Result: 'STOP' } });
    expect((await pos.call('GET', '/health/ready')).status).toBe(200);
  });

  it('a body of another type, or too large, is a STOP envelope', async () => {
    const reply = await pos.call('POST', '/Basket', 'text', { 'content-type': 'application/xml' });
    expect(reply).toMatchObject({ status: 415, body: { Result: 'STOP' } });
    const large = await pos.sendBasket('17', 100, { note: 'x'.repeat(300_000) });
    expect(large).toMatchObject({ status: 413, body: { Result: 'STOP' } });
  });
});

describe('T3: a basket of the facade', () => {
  it('becomes an invoice at the site of the facade, with its Products as line items', async () => {
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

  it.each<[string, object, number, string]>([
    [
      'less discounts and tenders',
      { BasketDiscounts: [{ DiscountValue: 300 }], Tenders: [{ TenderType: 'Coupon', TenderValue: 175 }] },
      4_000,
      'OK',
    ],
    ['with another sum', { BasketDiscounts: [{ DiscountValue: 300 }] }, 4_475, 'WARN'],
    ['with a return', { Products: [PRODUCT, { ...PRODUCT, Quantity: -2 }] }, -4_475, 'OK'],
    ['of a product that is no line', { Products: [PRODUCT, { ...PRODUCT, Quantity: 0 }] }, 4_475, 'OK'],
  ])('%s', async (_, changes, total, result) => {
    const { body } = await pos.sendBasket('17', total, { Products: [PRODUCT], ...changes });
    expect(body.Result).toBe(result);
  });

  it('of 501 products is a STOP', async () => {
    const Products = Array.from({ length: 501 }, () => PRODUCT);
    expect((await pos.sendBasket('17', 100, { Products })).body).toEqual({
      Result: 'STOP',
      Message: 'A basket has at most 500 lines.',
    });
    expect((await pos.sendBasket('17', 500 * 4_475, { Products: Products.slice(1) })).body.Result).toBe('OK');
  });

  it('replaces the basket of the same order, and leaves those of others', async () => {
    await pos.sendBasket('17', 100);
    await pos.sendBasket('18', 200);
    await pos.sendBasket('17', 300);
    expect(pos.platform.openInvoices().map(({ body }) => body['amount'])).toEqual([200, 300]);
  });

  it('without the optional lists is accepted', async () => {
    const body = { MerchantOrderId: '17', TotalToPay: 100, Products: null };
    expect((await pos.call('POST', '/Basket', body)).status).toBe(200);
  });

  it('stores every field of the specification, and no other', async () => {
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

  it.each(['Complete', 'Void', 'Saved'])('%s of an unpaid basket closes its invoice', async (status) => {
    await pos.sendBasket('17', 100);
    expect((await pos.closeBasket('17', status)).body).toEqual({ Result: 'OK', Message: '' });
    expect(pos.platform.openInvoices()).toEqual([]);
    expect((await pos.closeBasket('17', status)).body.Result).toBe('OK');
  });

  it.each(['Paid', 'complete', '', 'constructor'])('another OrderStatus is a STOP: %j', async (status) => {
    await pos.sendBasket('17', 100);
    expect((await pos.closeBasket('17', status)).body).toEqual({
      Result: 'STOP',
      Message: 'OrderStatus must be Complete, Void or Saved.',
    });
    expect(pos.platform.openInvoices()).toHaveLength(1);
  });

  it('of an unknown order is a WARN, because a code may be open; reset without a basket is OK', async () => {
    expect((await pos.closeBasket('17', 'Complete')).body.Result).toBe('WARN');
    expect((await pos.resetBasket()).body.Result).toBe('OK');
  });

  it.each(['Complete', 'Void', 'Saved'])(
    '%s at another till closes the only basket of the order (T3)',
    async (status) => {
      await pos.sendBasket('17', 100, {}, 'TILL-1');
      expect((await pos.closeBasket('17', status, 'TILL-2')).body.Result).toBe('OK');
      expect(pos.platform.openInvoices()).toEqual([]);
    },
  );

  it('at a third till, of an order that two tills have, is a WARN that changes nothing', async () => {
    await pos.sendBasket('17', 100, {}, 'TILL-1');
    await pos.sendBasket('17', 200, {}, 'TILL-2');
    expect((await pos.closeBasket('17', 'Complete', 'TILL-3')).body.Result).toBe('WARN');
    expect(pos.platform.openInvoices()).toHaveLength(2);
    await pos.closeBasket('17', 'Complete', 'TILL-2');
    expect(pos.platform.openInvoices().map(({ body }) => body['amount'])).toEqual([100]);
    // One open basket is left: the closed one does not count.
    expect((await pos.closeBasket('17', 'Complete', 'TILL-3')).body.Result).toBe('OK');
    expect(pos.platform.openInvoices()).toEqual([]);
  });

  it('Saved is resumed by another till, which then owns the basket', async () => {
    await pos.sendBasket('17', 100, {}, 'TILL-1');
    await pos.closeBasket('17', 'Saved', 'TILL-1');
    await pos.sendBasket('17', 100, {}, 'TILL-2');
    expect(pos.openInvoice().body).toMatchObject({ externalReference: '17', siteReference: 'TILL-2' });
    await pos.sendBasket('17', 150, {}, 'TILL-2');
    expect(pos.openInvoice().body['amount']).toBe(150);
    expect((await pos.closeBasket('17', 'Complete', 'TILL-2')).body.Result).toBe('OK');
    expect(pos.platform.openInvoices()).toEqual([]);
  });

  it('Complete after the payment is OK, Void is a WARN to refund it', async () => {
    await pos.sendBasket('17', 100);
    await pos.pay();
    expect((await pos.closeBasket('17', 'Complete')).body.Result).toBe('OK');
    expect((await pos.invoicePayment('17')).body.ReceiptStatus).toBe('Paid');
    const voided = await pos.closeBasket('17', 'Void');
    expect(voided.body).toEqual({ Result: 'WARN', Message: 'This order was paid: R 1.00. Refund it.' });
    expect((await pos.invoicePayment('17')).body.ReceiptStatus).toBe('Voided');
  });

  it('Saved is resumed by the next Basket of the order, on a new invoice', async () => {
    await pos.sendBasket('17', 100);
    await pos.closeBasket('17', 'Saved');
    expect((await pos.sendBasket('17', 100)).body.Result).toBe('OK');
    expect(pos.openInvoice().body['externalReference']).toBe('17');
    expect(pos.platform.invoices).toHaveLength(2);
    await pos.pay();
    expect((await pos.getPayment('17')).body.StatusId).toBe('2');
  });

  it('Saved stays saved when the next Basket of the order is a STOP', async () => {
    await pos.sendBasket('17', 100);
    await pos.closeBasket('17', 'Saved');
    pos.platform.nextErrors.push({ method: 'POST', status: 400, body: { code: 'request.invalid' } });
    expect((await pos.sendBasket('17', 200)).body.Result).toBe('STOP');
    expect(basketState()).toBe('saved');
    expect((await pos.sendBasket('17', 100)).body.Result).toBe('OK');
    expect(basketState()).toBe('open');
  });

  it('of a closed order changes nothing, except Void', async () => {
    await pos.sendBasket('17', 100);
    await pos.pay();
    await pos.closeBasket('17', 'Void');
    for (const status of ['Complete', 'Saved'])
      expect((await pos.closeBasket('17', status)).body).toEqual({ Result: 'OK', Message: 'This order is already closed.' });
    expect((await pos.invoicePayment('17')).body.ReceiptStatus).toBe('Voided');
  });

  it('Saved is not restored by a STOP of the next Basket if the order was voided meanwhile', async () => {
    await pos.sendBasket('17', 100);
    await pos.closeBasket('17', 'Saved');
    const { promise: after, resolve: refuse } = Promise.withResolvers<void>();
    const sent = pos.platform.requests.length;
    pos.platform.nextErrors.push({ method: 'POST', status: 400, body: { code: 'request.invalid' }, after });
    const resumed = pos.sendBasket('17', 200);
    await waitUntil('the call', 5_000, async () => pos.platform.requests.length > sent);
    const voided = pos.closeBasket('17', 'Void');
    await waitUntil('the closure', 5_000, async () => basketState() === 'void');
    refuse();
    await Promise.all([resumed, voided]);
    expect(basketState()).toBe('void');
  });

  it('while a customer pays is a WARN, and the invoice is closed if the payment fails', async () => {
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

  it('while a customer pays does not lose the payment', async () => {
    await pos.sendLine();
    await pos.sendTotal(8_950, '17');
    const invoice = pos.openInvoice();
    invoice.state = 'reserved';
    expect((await pos.resetBasket()).body.Result).toBe('WARN');
    await pos.pay(invoice);
    await pos.sendPostponedCalls();
    expect((await pos.getPayment('17')).body).toMatchObject({ StatusId: '2', PaidAmount: 8_950 });
  });
});

test('T5: GetPayment searches the facade’s site, the invoice path all sites', async () => {
  await pos.sendTotal(100, '17', undefined, OTHER_SITE);
  await pos.pay();
  expect((await pos.getPayment('17')).status).toBe(404);
  expect((await pos.invoicePayment('17')).body).toMatchObject({ MerchantSiteId: OTHER_SITE, PosReference: '17' });
});
