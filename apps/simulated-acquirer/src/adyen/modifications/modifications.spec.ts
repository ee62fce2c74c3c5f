import { ACCOUNT, newCard, TestEmulator } from '../../../test/running-emulator.js';

const emulator = new TestEmulator();
beforeAll(() => emulator.start());
afterAll(() => emulator.stop());
afterEach(() => expect(emulator.webhookProblems).toEqual([]));

const rand = (value: number) => ({ amount: { currency: 'ZAR', value } });
const last = async (eventCode: string) => (await emulator.received(eventCode)).at(-1);
const count = async (eventCode: string) => (await emulator.received(eventCode)).length;

describe('captures', () => {
  test('a capture is received, and its webhook has the references of the capture and the payment', async () => {
    const pspReference = await emulator.authorise();
    const { status, body } = await emulator.modify(pspReference, 'captures', {
      ...rand(12000),
      reference: 'capture-1',
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      merchantAccount: ACCOUNT,
      paymentPspReference: pspReference,
      pspReference: expect.stringMatching(/^[A-Z0-9]{16}$/) as unknown,
      reference: 'capture-1',
      status: 'received',
      amount: { currency: 'ZAR', value: 12000 },
    });
    expect(await last('CAPTURE')).toMatchObject({
      pspReference: body.pspReference,
      originalReference: pspReference,
      merchantReference: 'capture-1',
      success: 'true',
      reason: '',
      paymentMethod: 'visa',
      amount: { currency: 'ZAR', value: 12000 },
    });
  });

  test('without its own reference, the webhook has the payment’s reference', async () => {
    const reference = emulator.newReference();
    await emulator.capture({ reference });
    expect(await last('CAPTURE')).toMatchObject({ merchantReference: reference });
  });

  test.each([
    ['of more than the authorised amount', 12346, async () => emulator.authorise()],
    ['after another capture', 1, async () => emulator.capture()],
    ['of a refused payment', 1, async () => (await refused()).pspReference!],
  ])('a capture %s fails', async (_case, value, prepare) => {
    const pspReference = await prepare();
    expect((await emulator.modify(pspReference, 'captures', rand(value))).status).toBe(201);
    expect(await last('CAPTURE')).toMatchObject({
      originalReference: pspReference,
      success: 'false',
      reason: 'Insufficient balance on payment',
    });
  });

  test('the card scheme rejects the capture of a card with the name "capture failed"', async () => {
    const pspReference = await emulator.capture({ paymentMethod: newCard({ holderName: 'capture failed' }) });
    const capture = await last('CAPTURE');
    expect(capture).toMatchObject({ originalReference: pspReference, success: 'true' });
    expect(await last('CAPTURE_FAILED')).toMatchObject({
      pspReference: capture?.pspReference,
      originalReference: pspReference,
      success: 'true',
      reason: 'Capture Failed',
    });
    await emulator.modify(pspReference, 'refunds', rand(1));
    expect(await last('REFUND')).toMatchObject({ success: 'false' });
    await emulator.modify(pspReference, 'cancels');
    expect(await last('CANCELLATION')).toMatchObject({ success: 'true' });
  });

  test('the control interface lets a capture fail at once, or after its success', async () => {
    const pspReference = await emulator.authorise();
    await emulator.control('POST', '/modification-failures', { type: 'capture', reason: 'Expired' });
    await emulator.modify(pspReference, 'captures', rand(12345));
    expect(await last('CAPTURE')).toMatchObject({ success: 'false', reason: 'Expired' });
    await emulator.modify(pspReference, 'captures', rand(12345));
    expect(await last('CAPTURE')).toMatchObject({ success: 'true' });
    const path = `/payments/${pspReference}/capture-failed`;
    expect((await emulator.control('POST', path)).status).toBe(200);
    expect(await last('CAPTURE_FAILED')).toMatchObject({ originalReference: pspReference });
    expect((await emulator.control('POST', path)).status).toBe(409);
  });
});

describe('cancellations', () => {
  test('an authorised payment is cancelled once', async () => {
    const pspReference = await emulator.authorise();
    const { status, body } = await emulator.modify(pspReference, 'cancels', { reference: 'cancel-1' });
    expect({ status, state: body.status }).toEqual({ status: 201, state: 'received' });
    expect(await last('CANCELLATION')).toMatchObject({
      pspReference: body.pspReference,
      originalReference: pspReference,
      merchantReference: 'cancel-1',
      success: 'true',
    });
    await emulator.modify(pspReference, 'captures', rand(1));
    expect(await last('CAPTURE')).toMatchObject({ success: 'false' });
    await emulator.modify(pspReference, 'cancels');
    expect(await last('CANCELLATION')).toMatchObject({ success: 'false' });
  });

  test('a captured payment cannot be cancelled', async () => {
    const pspReference = await emulator.capture();
    await emulator.modify(pspReference, 'cancels');
    expect(await last('CANCELLATION')).toMatchObject({ success: 'false' });
    await emulator.modify(pspReference, 'refunds', rand(12345));
    expect(await last('REFUND')).toMatchObject({ success: 'true' });
  });
});

describe('technical cancellations', () => {
  const cancelByReference = (paymentReference: string) =>
    emulator.call('POST', '/cancels', { merchantAccount: ACCOUNT, paymentReference, reference: 'technical-1' });

  test('a payment is cancelled by its reference', async () => {
    const reference = emulator.newReference();
    const pspReference = await emulator.authorise({ reference });
    const { status, body } = await cancelByReference(reference);
    expect(status).toBe(201);
    expect(body).toMatchObject({ paymentReference: reference, reference: 'technical-1', status: 'received' });
    expect(await last('TECHNICAL_CANCEL')).toMatchObject({
      pspReference: body.pspReference,
      originalReference: pspReference,
      merchantReference: reference,
      success: 'true',
    });
    await emulator.modify(pspReference, 'captures', rand(1));
    expect(await last('CAPTURE')).toMatchObject({ success: 'false' });
  });

  test.each([
    ['unknown', async () => emulator.newReference()],
    ['of a refused payment', async () => (await refused())['merchantReference'] as string],
    [
      'of another merchant account',
      async () => {
        const reference = emulator.newReference();
        await emulator.authorise({ reference, merchantAccount: 'OtherAccount' });
        return reference;
      },
    ],
  ])('a reference that is %s is received, and the webhook reports no success', async (_case, prepare) => {
    const reference = await prepare();
    expect((await cancelByReference(reference)).status).toBe(201);
    expect(await last('TECHNICAL_CANCEL')).toMatchObject({ merchantReference: reference, success: 'false' });
  });

  test('the authorised payment of several with the same reference is cancelled', async () => {
    const reference = emulator.newReference();
    const authorised = await emulator.authorise({ reference });
    await emulator.pay({ reference, paymentMethod: newCard({ holderName: 'DECLINED' }) });
    await cancelByReference(reference);
    expect(await last('TECHNICAL_CANCEL')).toMatchObject({ originalReference: authorised, success: 'true' });
  });
});

describe('refunds', () => {
  test('partial refunds are possible until their sum is the captured amount', async () => {
    const pspReference = await emulator.authorise();
    await emulator.modify(pspReference, 'captures', rand(10000));
    const { status, body } = await emulator.modify(pspReference, 'refunds', { ...rand(6000), reference: 'refund-1' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'received', amount: { value: 6000 }, reference: 'refund-1' });
    expect(await last('REFUND')).toMatchObject({
      pspReference: body.pspReference,
      originalReference: pspReference,
      merchantReference: 'refund-1',
      success: 'true',
      amount: { value: 6000 },
    });
    await emulator.modify(pspReference, 'refunds', rand(4001));
    expect(await last('REFUND')).toMatchObject({ success: 'false', reason: 'Insufficient balance on payment' });
    await emulator.modify(pspReference, 'refunds', rand(4000));
    expect(await last('REFUND')).toMatchObject({ success: 'true' });
  });

  test('a payment that is not captured cannot be refunded', async () => {
    await emulator.modify(await emulator.authorise(), 'refunds', rand(1));
    expect(await last('REFUND')).toMatchObject({
      success: 'false',
      reason: "Transaction hasn't been captured, refund not possible",
    });
  });

  test('the card scheme rejects the refund to a card with the name "refund failed"', async () => {
    const pspReference = await emulator.capture({ paymentMethod: newCard({ holderName: 'refund failed' }) });
    const { body } = await emulator.modify(pspReference, 'refunds', rand(12345));
    expect(await last('REFUND')).toMatchObject({ success: 'true' });
    expect(await last('REFUND_FAILED')).toMatchObject({
      pspReference: body.pspReference,
      originalReference: pspReference,
      success: 'true',
      reason: 'Refund Failed',
    });
    await emulator.modify(pspReference, 'refunds', rand(12345));
    expect(await last('REFUND')).toMatchObject({ success: 'true' });
  });

  test.each([
    ['failed', 'REFUND_FAILED'],
    ['reversed', 'REFUNDED_REVERSED'],
  ])('the control interface lets a refund be %s after its success', async (path, eventCode) => {
    const pspReference = await emulator.capture();
    const { body } = await emulator.modify(pspReference, 'refunds', { ...rand(500), reference: 'refund-9' });
    expect((await emulator.control('POST', `/refunds/${body.pspReference}/${path}`)).status).toBe(200);
    expect(await last(eventCode)).toMatchObject({
      pspReference: body.pspReference,
      originalReference: pspReference,
      merchantReference: 'refund-9',
      amount: { value: 500 },
      success: 'true',
    });
    expect((await emulator.control('POST', `/refunds/${body.pspReference}/${path}`)).status).toBe(409);
    expect((await emulator.control('POST', `/refunds/UNKNOWN/${path}`)).status).toBe(404);
  });

  test('the control interface lets the refund of one payment fail at once', async () => {
    const [other, own] = [await emulator.capture(), await emulator.capture()];
    await emulator.control('POST', '/modification-failures', { type: 'refund', paymentPspReference: own });
    await emulator.modify(other, 'refunds', rand(1));
    expect(await last('REFUND')).toMatchObject({ originalReference: other, success: 'true' });
    await emulator.modify(own, 'refunds', rand(1));
    expect(await last('REFUND')).toMatchObject({ originalReference: own, success: 'false' });
  });
});

describe('reversals', () => {
  test('a reversal cancels a payment that is not captured', async () => {
    const pspReference = await emulator.authorise();
    expect((await emulator.modify(pspReference, 'reversals')).status).toBe(201);
    expect(await last('CANCEL_OR_REFUND')).toMatchObject({
      originalReference: pspReference,
      success: 'true',
      additionalData: { 'modification.action': 'cancel' },
    });
    await emulator.modify(pspReference, 'reversals');
    expect(await last('CANCEL_OR_REFUND')).toMatchObject({ success: 'false' });
  });

  test('a reversal refunds the rest of a captured payment', async () => {
    const pspReference = await emulator.capture();
    await emulator.modify(pspReference, 'refunds', rand(345));
    await emulator.modify(pspReference, 'reversals');
    expect(await last('CANCEL_OR_REFUND')).toMatchObject({
      success: 'true',
      amount: { value: 12000 },
      additionalData: { 'modification.action': 'refund' },
    });
    await emulator.modify(pspReference, 'reversals');
    expect(await last('CANCEL_OR_REFUND')).toMatchObject({ success: 'false' });
  });
});

test.each(['captures', 'cancels', 'refunds', 'reversals'])('%s of an unknown payment are rejected', async (path) => {
  const amount = path === 'cancels' || path === 'reversals' ? {} : rand(1);
  const other = await emulator.authorise({ merchantAccount: 'OtherAccount' });
  for (const pspReference of ['UNKNOWN', other]) {
    const { status, body } = await emulator.modify(pspReference, path, amount);
    expect({ status, code: body.errorCode }).toEqual({ status: 422, code: '167' });
  }
});

test.each(['captures', 'refunds'])('%s with another currency or without an amount are rejected', async (path) => {
  const pspReference = await emulator.authorise();
  const before = await count(path === 'captures' ? 'CAPTURE' : 'REFUND');
  const amounts = [{ amount: { currency: 'EUR', value: 1 } }, rand(0), rand(-1), {}];
  const responses = await Promise.all(amounts.map((amount) => emulator.modify(pspReference, path, amount)));
  expect(responses.map(({ status, body }) => [status, body.errorCode])).toEqual([
    [422, '138'],
    [422, '137'],
    [422, '137'],
    [422, '100'],
  ]);
  expect(await count(path === 'captures' ? 'CAPTURE' : 'REFUND')).toBe(before);
});

test('a repeated key captures once', async () => {
  const pspReference = await emulator.authorise();
  const headers = { 'idempotency-key': emulator.newReference() };
  const body = { merchantAccount: ACCOUNT, ...rand(12345) };
  const first = await emulator.call('POST', `/payments/${pspReference}/captures`, body, headers);
  const second = await emulator.call('POST', `/payments/${pspReference}/captures`, body, headers);
  expect(second.body).toEqual(first.body);
  const captures = await emulator.received('CAPTURE');
  expect(captures.filter(({ originalReference }) => originalReference === pspReference)).toHaveLength(1);
});

async function refused() {
  return (await emulator.pay({ paymentMethod: newCard({ holderName: 'DECLINED' }) })).body;
}
