import { readFileSync } from 'node:fs';
import { ACCOUNT, newCard, TestEmulator } from '../../../test/running-emulator.js';
import { ACQUIRER_RESULTS } from '../interface/refusal-reasons.js';

const emulator = new TestEmulator();
beforeAll(() => emulator.start());
afterAll(() => emulator.stop());
afterEach(() => expect(emulator.webhookProblems).toEqual([]));

const PSP_REFERENCE = /^[A-Z0-9]{16}$/;

test('a payment is authorised, and reported by an AUTHORISATION webhook', async () => {
  const request = emulator.paymentRequest();
  const { status, body } = await emulator.call('POST', '/payments', request);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    resultCode: 'Authorised',
    merchantReference: request['reference'],
    amount: { currency: 'ZAR', value: 12345 },
    paymentMethod: { brand: 'visa', type: 'scheme' },
    additionalData: { cardSummary: '1111', cardBin: '411111', expiryDate: '3/2030', refusalReasonRaw: 'AUTHORISED' },
  });
  expect(body.pspReference).toMatch(PSP_REFERENCE);
  const authCode = body.additionalData?.['authCode'];
  expect((await emulator.received('AUTHORISATION')).at(-1)).toMatchObject({
    pspReference: body.pspReference,
    merchantReference: request['reference'],
    merchantAccountCode: ACCOUNT,
    success: 'true',
    reason: `${authCode}:1111:3/2030`,
    operations: ['CANCEL', 'CAPTURE', 'REFUND'],
    amount: { currency: 'ZAR', value: 12345 },
    paymentMethod: 'visa',
    eventDate: '2026-03-01T11:00:00+01:00',
  });
});

test.each(ACQUIRER_RESULTS.filter(({ refusalReason }) => refusalReason !== ''))(
  'the holder’s name $holderName and the code $code cause $resultCode: $refusalReason',
  async ({ holderName, code, resultCode, refusalReason }) => {
    const expected = { resultCode, refusalReason, refusalReasonCode: code };
    const byName = await emulator.pay({ paymentMethod: newCard({ holderName }) });
    expect(byName.body).toMatchObject(expected);
    expect(byName.body.additionalData).not.toHaveProperty('authCode');
    const byCode = await emulator.pay({ additionalData: { RequestedTestAcquirerResponseCode: code } });
    expect(byCode.body).toMatchObject(expected);
  },
);

test('a refused payment is reported by a webhook without success', async () => {
  const { body } = await emulator.pay({ paymentMethod: newCard({ holderName: 'NOT_ENOUGH_BALANCE : 51 : Funds' }) });
  expect((await emulator.received('AUTHORISATION')).at(-1)).toMatchObject({
    pspReference: body.pspReference,
    success: 'false',
    reason: 'Not enough balance',
  });
});

test('a payment with the trigger PENDING is received, and not reported', async () => {
  const { body } = await emulator.pay({ paymentMethod: newCard({ holderName: 'PENDING' }) });
  expect(body.resultCode).toBe('Received');
  expect((await emulator.received()).map(({ pspReference }) => pspReference)).not.toContain(body.pspReference);
});

test.each([
  ['a test card with a wrong security code', { cvc: '736' }, '2'],
  ['a test card with another expiry date', { expiryYear: '2031' }, '2'],
  ['another card that has expired', { number: '4242424242424242', expiryMonth: '02', expiryYear: '2026' }, '6'],
])('%s is refused', async (_case, card, refusalReasonCode) => {
  const { body } = await emulator.pay({ paymentMethod: newCard(card) });
  expect(body).toMatchObject({ resultCode: 'Refused', refusalReasonCode });
});

test('every other card with a valid check digit is authorised, and in its last month too', async () => {
  const card = newCard({ number: '4242424242424242', expiryMonth: '3', expiryYear: '2026', cvc: '123' });
  expect((await emulator.pay({ paymentMethod: card })).body.resultCode).toBe('Authorised');
});

test('a payment without manual capture is captured at once, so that it can be refunded', async () => {
  const pspReference = await emulator.authorise({ additionalData: {} });
  await emulator.modify(pspReference, 'refunds', { amount: { currency: 'ZAR', value: 1 } });
  expect((await emulator.received('REFUND')).at(-1)).toMatchObject({ success: 'true' });
});

const without = (field: string): Record<string, unknown> => ({ [field]: undefined });
test.each([
  ['no amount', without('amount'), 422, '100'],
  ['no reference', without('reference'), 422, '130'],
  ['an empty reference', { reference: '' }, 422, '130'],
  ['a reference of 81 characters', { reference: 'x'.repeat(81) }, 422, '130'],
  ['no return URL', without('returnUrl'), 422, '14_030'],
  ['no payment method', without('paymentMethod'), 422, '14_002'],
  ['no merchant account', without('merchantAccount'), 403, '901'],
  ['an unknown merchant account', { merchantAccount: 'Nobody' }, 403, '901'],
  ['an unknown field', { colour: 'red' }, 400, '702'],
  ['an amount as text', { amount: { currency: 'ZAR', value: '1' } }, 400, '702'],
  ['a negative amount', { amount: { currency: 'ZAR', value: -1 } }, 422, '137'],
  ['an incomplete browser', { browserInfo: { userAgent: 'x' } }, 422, '14_002'],
  ['an unknown interaction', { shopperInteraction: 'Letter' }, 400, '702'],
  ['a wrong check digit', { paymentMethod: newCard({ number: '4111111111111112' }) }, 422, '101'],
  ['no card number', { paymentMethod: newCard({ number: undefined }) }, 422, '14_002'],
  ['a security code of two digits', { paymentMethod: newCard({ cvc: '73' }) }, 422, '103'],
  ['a thirteenth month', { paymentMethod: newCard({ expiryMonth: '13' }) }, 422, '129'],
  ['a gift card', { paymentMethod: newCard({ type: 'giftcard' }) }, 500, '905'],
  ['a token without a shopper', { paymentMethod: { type: 'scheme', storedPaymentMethodId: 'X' } }, 422, '14_002'],
  ['a card to store without a shopper', { storePaymentMethod: true }, 422, '14_002'],
])('a payment with %s is rejected', async (_case, changes, status, errorCode) => {
  const { body, headers, ...response } = await emulator.pay(changes, { 'idempotency-key': emulator.newReference() });
  expect(response.status).toBe(status);
  expect(body).toMatchObject({ status, errorCode });
  expect(headers.has('idempotency-key')).toBe(status === 422);
});

test.each(['{', '', 'null', '[]'])('the body %j is rejected', async (text) => {
  const { status, body } = await emulator.call('POST', '/payments', text, { 'content-type': 'application/json' });
  expect({ status, code: body.errorCode }).toEqual({ status: 400, code: '702' });
});

test.each(['wrong', ''])('a request with the API key "%s" is not authorised', async (key) => {
  const { status, body } = await emulator.pay({}, { 'x-api-key': key });
  expect(status).toBe(401);
  expect(body).toEqual({
    status: 401,
    errorCode: '000',
    message: 'HTTP Status Response - Unauthorized',
    errorType: 'security',
  });
});

test('the emulator stores no card number and no security code', async () => {
  await emulator.pay({ paymentMethod: newCard({ number: '5555555555554444', cvc: '737' }) });
  const stored = readFileSync(emulator.storePath, 'utf8');
  expect(stored).toContain('555555');
  expect(stored).not.toMatch(/5555555555554444|"737"/);
});

describe('stored payment methods', () => {
  const SHOPPER = 'shopper-1';
  const QUERY = `?merchantAccount=${ACCOUNT}&shopperReference=${SHOPPER}`;
  const store = (card = newCard()) =>
    emulator.call('POST', '/storedPaymentMethods', {
      merchantAccount: ACCOUNT,
      shopperReference: SHOPPER,
      recurringProcessingModel: 'CardOnFile',
      paymentMethod: card,
    });
  const payWith = (storedPaymentMethodId: string | undefined, changes = {}) =>
    emulator.pay({
      paymentMethod: { type: 'scheme', storedPaymentMethodId },
      shopperReference: SHOPPER,
      shopperInteraction: 'ContAuth',
      recurringProcessingModel: 'CardOnFile',
      ...changes,
    });

  test('a stored card pays until it is deleted', async () => {
    const stored = await store();
    expect(stored.status).toBe(201);
    expect(stored.body).toMatchObject({
      type: 'scheme',
      brand: 'visa',
      lastFour: '1111',
      expiryMonth: '03',
      expiryYear: '2030',
      holderName: 'Nomsa Dlamini',
      shopperReference: SHOPPER,
    });
    const { id } = stored.body;
    expect((await payWith(id)).body).toMatchObject({
      resultCode: 'Authorised',
      additionalData: { 'tokenization.storedPaymentMethodId': id },
    });
    const listed = await emulator.call('GET', `/storedPaymentMethods${QUERY}`);
    expect(listed.body['storedPaymentMethods']).toContainEqual(stored.body);

    expect((await emulator.call('DELETE', `/storedPaymentMethods/${id}${QUERY}`)).status).toBe(204);
    expect((await payWith(id)).body).toMatchObject({ status: 422, errorCode: '803' });
    expect((await emulator.call('DELETE', `/storedPaymentMethods/${id}${QUERY}`)).body.errorCode).toBe('803');
  });

  test('the name of a stored card triggers the result of its payments', async () => {
    const { body } = await store(newCard({ holderName: 'CARD_EXPIRED' }));
    expect((await payWith(body.id)).body).toMatchObject({ resultCode: 'Refused', refusalReasonCode: '6' });
  });

  test.each([
    ['another shopper', { shopperReference: 'shopper-2' }],
    ['another merchant account', { merchantAccount: 'OtherAccount' }],
  ])('a token of %s is not found', async (_case, changes) => {
    const { body } = await store();
    expect((await payWith(body.id, changes)).body.errorCode).toBe('803');
    const query = new URLSearchParams({ merchantAccount: ACCOUNT, shopperReference: SHOPPER, ...changes });
    const deleted = await emulator.call('DELETE', `/storedPaymentMethods/${body.id}?${query.toString()}`);
    expect(deleted.body.errorCode).toBe('803');
  });

  test('a payment can store its card', async () => {
    const { body } = await emulator.pay({
      storePaymentMethod: true,
      shopperReference: SHOPPER,
      shopperInteraction: 'Ecommerce',
      recurringProcessingModel: 'CardOnFile',
    });
    const id = body.additionalData?.['tokenization.storedPaymentMethodId'];
    expect(body.additionalData).toMatchObject({
      'tokenization.store.operationType': 'created',
      'tokenization.shopperReference': SHOPPER,
    });
    expect((await payWith(id)).body.resultCode).toBe('Authorised');
    expect((await emulator.received('AUTHORISATION')).at(-1)?.additionalData).toMatchObject({
      'tokenization.storedPaymentMethodId': id,
    });
  });

  test('a deletion may have the content type of a body', async () => {
    const { body } = await store();
    const path = `/storedPaymentMethods/${body.id}${QUERY}`;
    const headers = { 'content-type': 'application/json' };
    expect((await emulator.call('DELETE', path, undefined, headers)).status).toBe(204);
  });

  test.each([
    ['no shopper', `?merchantAccount=${ACCOUNT}`, 422],
    ['no merchant account', `?shopperReference=${SHOPPER}`, 403],
  ])('a deletion with %s is rejected', async (_case, query, status) => {
    expect((await emulator.call('DELETE', `/storedPaymentMethods/X${query}`)).status).toBe(status);
  });
});
