/** Tests the routes for tills that send a basket line by line. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { LINE, OTHER_SITE, PRODUCT, SITE, TestTransformer } from '../../test/test-transformer.js';

let pos: TestTransformer;
beforeEach(async () => (pos = await TestTransformer.start()));
afterEach(() => pos.stop());

const UUID = /^[0-9a-f-]{36}$/;

describe('T1: line, total and reset', () => {
  it('respond 200 with the Result envelope; the response to total also contains the code', async () => {
    expect(await pos.sendLine()).toMatchObject({ status: 200, body: { Result: 'OK', Message: '' } });
    const total = await pos.sendTotal(8_950, '17');
    expect(total.status).toBe(200);
    const { code, reference } = pos.openInvoice();
    expect(total.body).toStrictEqual({
      Result: 'OK',
      Message: '',
      InvoiceReference: reference,
      Code: code,
      QrSvgUrl: expect.stringMatching(/^http:\/\/localhost(:80)?\/codes\/[\w-]{22}\.svg$/),
    });
    expect(reference).toMatch(UUID);
    expect((await pos.resetBasket()).body).toStrictEqual({ Result: 'OK', Message: '' });
    expect(pos.platform.openInvoices()).toEqual([]);
  });

  it('create the invoice of the basket', async () => {
    await pos.sendLine();
    await pos.sendLine({
      id: 2,
      itemName: 'Apples',
      itemProductCode: 'AP',
      itemPrice: 129,
      itemQuantity: 0.543,
      totalPrice: 70,
    });
    await pos.sendTotal(9_020, '17');
    expect(pos.openInvoice().body).toEqual({
      externalReference: '17',
      siteReference: 'STORE-1',
      currencyISOCode: 'ZAR',
      amount: 9_020,
      lineItems: [
        { name: 'Rooibos', productCode: 'RB', unitPrice: '4475', quantity: 2 },
        { name: 'Apples', productCode: 'AP', unitPrice: '129', quantity: 0.543 },
      ],
      origin: 'pos-transformer',
      createdUTCDate: '2026-03-01T10:00:00.000Z',
      originReference: pos.openInvoice().keys[0],
    });
  });

  it('make the code available as an image without a key, until the basket is reset', async () => {
    const { body } = await pos.sendTotal(100, '17');
    const path = new URL(body.QrSvgUrl).pathname;
    const image = await pos.call('GET', path);
    expect([image.status, image.headers['content-type']]).toEqual([200, 'image/svg+xml; charset=utf-8']);
    expect(image.body).toContain('<svg ');
    await pos.resetBasket();
    expect((await pos.call('GET', path)).status).toBe(404);
    expect((await pos.call('GET', '/codes/aaaaaaaaaaaaaaaaaaaaaa.svg')).status).toBe(404);
  });

  it('respond to a till that uses HTTP/1.0 without Host, with a URL of the QR code that the till can load', async () => {
    const key = 'a-key-of-the-store';
    await pos.stop();
    pos = await TestTransformer.start({ apiKey: key });
    await pos.transformer.app.listen(0, '127.0.0.1');
    const { port } = new URL(await pos.transformer.app.getUrl());
    const send = async (request: string): Promise<string> => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.write(request);
      return text(socket);
    };
    const body = JSON.stringify({ amount: 100, reference: '17' });
    const reply = await send(
      `POST /v1/sites/${SITE}/invoice/total HTTP/1.0\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    const { QrSvgUrl } = JSON.parse(reply.slice(reply.indexOf('{'))) as { QrSvgUrl: string };
    expect(QrSvgUrl).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${port}/codes/[\\w-]{22}\\.svg$`));
    expect(await send(`GET ${new URL(QrSvgUrl).pathname} HTTP/1.0\r\n\r\n`)).toContain('<svg ');
  });

  it('show each white space and control character of a name as a space, and send it to the platform so', async () => {
    const itemName = 'Rooi\tbos\u0000 Tea\u00a0\u2028\r\nbig';
    expect((await pos.sendLine({ itemName })).body).toEqual({ Result: 'OK', Message: '' });
    expect((await pos.sendTotal(8_950, '17')).body.Result).toBe('OK');
    const Products = [{ ...PRODUCT, ProductName: itemName }];
    expect((await pos.sendBasket('18', 4_475, { Products }, 'TILL-2')).body.Result).toBe('OK');
    const names = pos.platform.invoices.map(({ body }) => (body['lineItems'] as { name: string }[])[0]!.name);
    expect(names).toEqual(['Rooi bos  Tea    big', 'Rooi bos  Tea    big']);
  });

  it.each<[string, Record<string, unknown>]>([
    ['id', { id: '1' }],
    ['id', { id: 1.5 }],
    ['id', { id: undefined }],
    ['itemName', { itemName: 7 }],
    ['itemName', { itemName: 'x'.repeat(201) }],
    ['itemProductCode', { itemProductCode: null }],
    ['itemProductCode', { itemProductCode: 'a\tb' }],
    ['itemPrice', { itemPrice: '100' }],
    ['itemPrice', { itemPrice: -1 }],
    ['itemPrice', { itemPrice: 0.5 }],
    ['itemPrice', { itemPrice: 100_000_000_001 }],
    ['itemQuantity', { itemQuantity: '2' }],
    ['itemQuantity', { itemQuantity: 1_000_001 }],
    ['totalPrice', { totalPrice: true }],
    ['totalPrice', { totalPrice: 1e300 }],
  ])('refuse a line with a wrong %s with 400 and the name of the field: %j', async (field, changes) => {
    const { status, body } = await pos.sendLine(changes);
    expect([status, body.errors.map((error: { field: string }) => error.field)]).toEqual([400, [field]]);
    expect((await pos.call('GET', '/health/ready')).status).toBe(200);
  });

  it.each<[string, unknown]>([
    ['amount', { amount: '100', reference: '17' }],
    ['amount', { amount: 99.5, reference: '17' }],
    ['amount', { amount: -0.5, reference: '17' }],
    ['amount', { reference: '17' }],
    ['reference', { amount: 100, reference: 17 }],
    ['reference', { amount: 100, reference: '' }],
    ['reference', { amount: 100, reference: 'x'.repeat(101) }],
  ])('refuse a total with a wrong %s with 400 and the name of the field: %j', async (field, body) => {
    const reply = await pos.call('POST', `/v1/sites/${SITE}/invoice/total`, body);
    expect([reply.status, reply.body.errors.map((error: { field: string }) => error.field)]).toEqual([400, [field]]);
    expect(pos.platform.requests).toEqual([]);
  });

  it.each([
    ['is invalid JSON', '{"id": '],
    ['is not an object', '[]'],
    ['contains a number that is too large', '{"amount": 1e999, "reference": "17"}'],
    ['contains __proto__', '{"__proto__": {"amount": 1}}'],
  ])('refuse a body that %s with 400', async (_, body) => {
    expect((await pos.call('POST', `/v1/sites/${SITE}/invoice/total`, body)).status).toBe(400);
  });

  it('refuse an unknown site, an invalid header x-till and a body that is too large', async () => {
    expect((await pos.sendLine({}, undefined, 9)).status).toBe(404);
    expect((await pos.call('POST', '/v1/sites/05001x/invoice/reset')).status).toBe(404);
    expect((await pos.sendLine({}, 'x'.repeat(101))).body.errors[0].field).toBe('x-till');
    expect((await pos.sendLine({ itemName: 'x'.repeat(300_000) })).status).toBe(413);
  });
});

describe('T3: the lines of a basket', () => {
  it('are replaced and removed by their id, and may have a negative quantity', async () => {
    await pos.sendLine();
    await pos.sendLine({ id: 2, itemQuantity: -1, totalPrice: -4_475 });
    await pos.sendLine({ id: 3 });
    await pos.sendLine({ id: 1, itemQuantity: 3, totalPrice: 13_425 });
    expect((await pos.sendLine({ id: 3, itemQuantity: 0, totalPrice: 0 })).body).toEqual({ Result: 'OK', Message: '' });
    expect((await pos.sendLine({ id: 8, itemQuantity: 0 })).body.Message).toBe('The basket has no such line.');
    expect((await pos.sendTotal(8_950, '17')).body.Result).toBe('OK');
    const quantities = (pos.openInvoice().body['lineItems'] as { quantity: number }[]).map(({ quantity }) => quantity);
    expect(quantities).toEqual([3, -1]);
  });

  it('are stored with a warning if the total is not price times quantity', async () => {
    expect((await pos.sendLine({ totalPrice: 8_951 })).body).toMatchObject({ Result: 'WARN' });
    expect((await pos.sendTotal(8_951, '17')).body).toMatchObject({ Result: 'OK' });
  });

  it('are at most 500; the 501st line gets a STOP', async () => {
    for (let id = 0; id < 500; id++) await pos.sendLine({ id });
    expect((await pos.sendLine({ id: 500 })).body).toEqual({
      Result: 'STOP',
      Message: 'A basket has at most 500 lines.',
    });
    expect((await pos.sendLine({ id: 499 })).body.Result).toBe('OK');
    await pos.sendTotal(500 * 8_950, '17');
    expect(pos.openInvoice().body['lineItems']).toHaveLength(500);
  });

  it('belong to the till in the header, and to the site', async () => {
    await pos.sendLine({}, 'TILL-1');
    await pos.sendLine({ id: 2 }, 'TILL-2');
    await pos.sendLine({ id: 3 });
    await pos.sendLine({ id: 4 }, 'TILL-1', OTHER_SITE);
    await pos.sendTotal(8_950, '1', 'TILL-1');
    expect(pos.openInvoice()).toMatchObject({
      siteId: SITE,
      body: { siteReference: 'TILL-1', lineItems: [{ quantity: 2 }] },
    });
    await pos.sendTotal(8_950, '2', 'TILL-1', OTHER_SITE);
    expect(pos.platform.openInvoices().map(({ siteId }) => siteId)).toEqual([SITE, OTHER_SITE]);
    expect(pos.platform.requests.map(({ key }) => key)).toEqual(['key-1', 'key-2']);
  });
});

describe('T11: a total request', () => {
  it('creates the invoice with a WARN if its amount differs from the sum of the lines', async () => {
    await pos.sendLine();
    const { body } = await pos.sendTotal(9_000, '17');
    expect(body).toMatchObject({
      Result: 'WARN',
      Message: expect.stringContaining('R 90.00'),
      InvoiceReference: expect.any(String),
    });
    expect(pos.openInvoice().body['amount']).toBe(9_000);
  });

  it('gets an OK for a basket without lines', async () => {
    expect((await pos.sendTotal(9_000, '17')).body.Result).toBe('OK');
    expect(pos.openInvoice().body).not.toHaveProperty('lineItems');
  });

  it.each([0, -8_950])('gets an OK with a message for %d cents, and creates no invoice', async (amount) => {
    expect((await pos.sendTotal(amount, '17')).body).toEqual({
      Result: 'OK',
      Message: 'This basket owes nothing: no code was made.',
    });
    expect(pos.platform.requests).toEqual([]);
  });

  it('closes the invoice of the basket if its amount is 0', async () => {
    await pos.sendTotal(100, '17');
    expect((await pos.sendTotal(0, '17')).body).toEqual({
      Result: 'OK',
      Message: 'This basket owes nothing: no code was made.',
    });
    expect(pos.platform.openInvoices()).toEqual([]);
  });

  it.each([
    ['another amount', 200],
    ['0', 0],
  ])('gets a STOP for %s while a customer is paying, and changes nothing', async (_, amount) => {
    const first = await pos.sendTotal(100, '17');
    const invoice = pos.openInvoice();
    invoice.state = 'reserved';
    const requestCount = pos.platform.requests.length;
    const stopped = await pos.sendTotal(amount, '17');
    expect(stopped.body).toEqual({ Result: 'STOP', Message: expect.stringContaining('A customer is paying') });
    // The call is not retried: a retry would delay this till and the other tills of the site beyond their timeout.
    expect(pos.platform.requests).toHaveLength(requestCount + 1);
    await pos.sendPostponedCalls();
    expect(pos.openInvoice()).toBe(invoice);
    expect((await pos.sendTotal(100, '17')).body).toEqual(first.body);
    await pos.pay(invoice);
    expect((await pos.getPayment('17')).body).toMatchObject({ StatusId: '2', PaidAmount: 100 });
  });

  it('returns the same invoice if it is repeated', async () => {
    await pos.sendLine();
    const first = await pos.sendTotal(8_950, '17');
    pos.clock.advance(60_000);
    expect((await pos.sendTotal(8_950, '17')).body).toEqual(first.body);
    expect(pos.platform.requests).toHaveLength(1);
  });

  it('returns the same invoice until the millisecond before its expiry, and a new invoice from its expiry', async () => {
    pos.platform.invoiceLifetimeMs = 60_000;
    const first = await pos.sendTotal(100, '17');
    pos.clock.advance(59_999);
    expect((await pos.sendTotal(100, '17')).body).toEqual(first.body);
    expect(pos.platform.requests).toHaveLength(1);
    pos.clock.advance(1);
    const renewed = await pos.sendTotal(100, '17');
    expect(pos.platform.invoices).toHaveLength(2);
    expect(renewed.body).toMatchObject({ Result: 'OK', InvoiceReference: pos.openInvoice().reference });
    expect(renewed.body.Code).not.toBe(first.body.Code);
  });

  it('creates one invoice if it is sent twice at the same time, and both responses contain it', async () => {
    const answers = await Promise.all([pos.sendTotal(100, '17'), pos.sendTotal(100, '17')]);
    expect(answers.map(({ body }) => [body.Result, body.InvoiceReference])).toEqual(
      answers.map(() => ['OK', pos.openInvoice().reference]),
    );
    expect(pos.platform.requests).toHaveLength(1);
  });

  it('gets a STOP if the platform refuses it, and does not block the next basket', async () => {
    pos.platform.nextErrors.push({ method: 'POST', status: 400, body: { errors: [{ message: 'amount is odd' }] } });
    expect((await pos.sendTotal(100, '17')).body).toEqual({
      Result: 'STOP',
      Message: expect.stringContaining('amount is odd'),
    });
    expect((await pos.sendTotal(100, '18', 'TILL-2')).body.Result).toBe('OK');
  });

  it('does not replace an earlier total whose call waits if the platform refuses it', async () => {
    pos.platform.nextErrors.push({ method: 'POST', status: 500 });
    expect((await pos.sendTotal(100, '17')).body.Result).toBe('WARN');
    pos.platform.nextErrors.push({ method: 'POST', status: 400, amount: 200, body: { code: 'request.invalid' } });
    expect((await pos.sendTotal(200, '17')).body.Result).toBe('STOP');
    await pos.sendPostponedCalls();
    expect(pos.openInvoice().body['amount']).toBe(100);
  });

  it('gets a STOP for another order until the basket is reset', async () => {
    await pos.sendTotal(100, '17');
    expect((await pos.sendTotal(100, '18')).body).toEqual({
      Result: 'STOP',
      Message: expect.stringContaining('order 17'),
    });
    await pos.resetBasket();
    expect((await pos.sendTotal(100, '18')).body.Result).toBe('OK');
  });

  it('creates an invoice for another order if the basket has neither an invoice nor a payment', async () => {
    await pos.sendLine();
    await pos.sendTotal(0, '17');
    expect((await pos.sendTotal(8_950, '18')).body.Result).toBe('OK');
    expect(pos.openInvoice().body).toMatchObject({ externalReference: '18', amount: 8_950 });
  });

  it('requests no further payment for a paid basket', async () => {
    await pos.sendLine();
    const first = await pos.sendTotal(8_950, '17');
    await pos.pay();
    expect((await pos.sendTotal(8_950, '17')).body).toEqual({
      ...first.body,
      Message: 'This basket has been paid: R 89.50.',
    });
    expect((await pos.sendLine({ id: 2 })).body.Result).toBe('WARN');
    const increased = await pos.sendTotal(17_900, '17');
    expect(increased.body).toEqual({
      Result: 'WARN',
      Message: expect.stringMatching(/R 89\.50 was paid .* now owes R 179\.00/),
    });
    expect(pos.platform.openInvoices()).toEqual([]);
    expect((await pos.resetBasket()).body.Result).toBe('WARN');
  });
});

describe('T5: references', () => {
  it('belong to separate invoices even if they are equal at two tills', async () => {
    const first = await pos.sendTotal(100, '17', 'TILL-1');
    const second = await pos.sendTotal(200, '17', 'TILL-2');
    const open = pos.platform.openInvoices();
    expect(open.map(({ reference }) => reference)).toEqual([first.body.InvoiceReference, second.body.InvoiceReference]);
    expect(open[0]!.body['externalReference']).toBe('17');
    expect(open[1]!.body['externalReference']).toMatch(/^17#/);
    await pos.sendTotal(150, '17', 'TILL-1');
    expect(pos.platform.openInvoices().map(({ body }) => body['amount'])).toEqual([200, 150]);
  });

  it('refer to the newest basket if they are used again', async () => {
    await pos.sendTotal(100, '17');
    await pos.pay();
    await pos.resetBasket();
    expect((await pos.getPayment('17')).body.PaidAmount).toBe(100);
    await pos.sendTotal(200, '17');
    expect((await pos.getPayment('17')).status).toBe(404);
    await pos.pay();
    expect((await pos.getPayment('17')).body.PaidAmount).toBe(200);
    expect(pos.platform.invoices.map(({ body }) => body['externalReference'])).toEqual(['17', '17']);
  });

  it('may be any text; GetPayment accepts only digits, and leading zeros are significant', async () => {
    await pos.sendTotal(100, '0017');
    await pos.pay();
    expect((await pos.getPayment('0017')).status).toBe(200);
    expect((await pos.getPayment('17')).status).toBe(404);
    expect((await pos.sendTotal(100, 'Büro & Söhne #1', 'TILL-2')).body.Result).toBe('OK');
    expect(pos.openInvoice().body['externalReference']).toBe('Büro & Söhne #1');
    await pos.resetBasket('TILL-2');
    expect(pos.platform.openInvoices()).toEqual([]);
  });
});

test('LINE, the line that these tests send, has exactly the fields of the specification', () => {
  expect(Object.keys(LINE)).toEqual(['id', 'itemName', 'itemProductCode', 'itemPrice', 'itemQuantity', 'totalPrice']);
});

it('A9: a web page that a browser in the store opens cannot reset a basket', async () => {
  await pos.sendTotal(100, '17');
  const path = `/v1/sites/${SITE}/invoice/reset`;
  expect((await pos.call('POST', path, undefined, { origin: 'https://evil.example' })).status).toBe(401);
  expect((await pos.call('POST', path, undefined, { 'sec-fetch-site': 'cross-site' })).status).toBe(401);
  expect(pos.platform.openInvoices()).toHaveLength(1);
});
