import { Webhook } from 'standardwebhooks';
import { recordApiTime } from '../clock-error.js';
import {
  assertExpectedPayment,
  verifySiteWebhook,
  verifyWebhook,
  type VerifyWebhookInput,
  WebhookVerificationError,
} from './verify-webhook.js';

// Computed with `openssl dgst -sha256 -mac HMAC` over "<id>.<timestamp>.<body>", not with the code under test.
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const rawBody =
  '{"signature":"55d3c0d1","sessionId":"0198f2c4-7a3b-7c11-9d2e-5b6a7c8d9e0f","amount":12345,' +
  '"currencyISOCode":"ZAR","merchantOrderId":"order-1001","paymentReference":"1VQ5K3P0ABCDEFGHJK",' +
  '"paymentStatus":"Success","paymentUTCDate":"2026-11-20T18:03:36.123Z","status":"Success"}';
const headers = {
  'webhook-id': '0198f2c4-0000-7000-8000-000000000001',
  'webhook-timestamp': '1795197816',
  'webhook-signature': 'v1,M0yKzN7rjqRHekUOB9YhAnnAEEYAwUIWgQLuvaDs2EU=',
};
const now = new Date('2026-11-20T18:03:40.000Z');
const validInput = { headers, rawBody, secret, now };
const otherSecret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';

function errorCode(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.code;
    throw error;
  }
  return 'accepted';
}
const verify = (change: Partial<VerifyWebhookInput>) => errorCode(() => verifyWebhook({ ...validInput, ...change }));

function signBody(body: string | Buffer): VerifyWebhookInput {
  const signature = new Webhook(secret).sign(headers['webhook-id'], new Date(1795197816000), body);
  return { ...validInput, rawBody: body, headers: { ...headers, 'webhook-signature': signature } };
}

describe('verifyWebhook', () => {
  it('accepts the fixed test vector as text or bytes, and returns the notification', () => {
    const notification = verifyWebhook(validInput);
    expect(notification).toMatchObject({ amount: 12345, paymentStatus: 'Success', status: 'Success' });
    expect(verifyWebhook({ ...validInput, rawBody: Buffer.from(rawBody) })).toEqual(notification);
    expect(verifyWebhook({ ...validInput, rawBody: new Uint8Array(Buffer.from(rawBody)) })).toEqual(notification);
  });

  it('accepts the signature of the Standard Webhooks test vector, but not its body', () => {
    const publishedVector = {
      rawBody: '{"test": 2432232314}',
      headers: {
        'Webhook-Id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'Webhook-Timestamp': '1614265330',
        'Webhook-Signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      },
      now: new Date(1614265330000),
    };
    expect(verify(publishedVector)).toBe('bad-body');
    expect(verify({ ...publishedVector, rawBody: '{"test": 2432232315}' })).toBe('bad-signature');
  });

  it('accepts headers as a Headers object, as strings and as lists of one string', () => {
    expect(verify({ headers: new Headers(headers) })).toBe('accepted');
    expect(verify({ headers: { ...headers, 'webhook-id': [headers['webhook-id']] } })).toBe('accepted');
    expect(verify({ headers: { ...headers, 'webhook-id': [headers['webhook-id'], 'other'] } })).toBe('bad-headers');
  });

  it('refuses a changed body, id, time or secret, and a body that was parsed and serialised again', () => {
    expect(verify({ rawBody: rawBody.replace('12345', '12344') })).toBe('bad-signature');
    expect(verify({ rawBody: JSON.stringify(JSON.parse(rawBody), null, 1) })).toBe('bad-signature');
    expect(verify({ headers: { ...headers, 'webhook-id': 'x' } })).toBe('bad-signature');
    expect(verify({ headers: { ...headers, 'webhook-timestamp': '1795197817' } })).toBe('bad-signature');
    expect(verify({ secret: otherSecret })).toBe('bad-signature');
  });

  it('accepts a webhook during a rotation, if one of several secrets or one of several signatures matches', () => {
    const { secret: _one, ...withoutSecret } = validInput;
    expect(errorCode(() => verifyWebhook({ ...withoutSecret, secrets: [otherSecret, secret] }))).toBe('accepted');
    const twoSignatures = `v1,AAAA ${headers['webhook-signature']}`;
    expect(verify({ headers: { ...headers, 'webhook-signature': twoSignatures } })).toBe('accepted');
    const otherVersion = headers['webhook-signature'].replace('v1,', 'v2,');
    expect(verify({ headers: { ...headers, 'webhook-signature': otherVersion } })).toBe('bad-signature');
  });

  it('accepts a signing time up to 300 s from the given time, or up to the given tolerance', () => {
    const verifyAfter = (seconds: number) => verify({ now: new Date((1795197816 + seconds) * 1000) });
    expect([verifyAfter(300), verifyAfter(-300)]).toEqual(['accepted', 'accepted']);
    expect([verifyAfter(301), verifyAfter(-301)]).toEqual(['too-old', 'too-new']);
    expect(verify({ now: new Date(1795197826000), toleranceSeconds: 5 })).toBe('too-old');
  });

  it('refuses every webhook if the tolerance or the given time is not a number', () => {
    expect(verify({ toleranceSeconds: Number('a setting that is missing') })).toBe('too-old');
    expect(verify({ now: new Date('no date') })).toBe('too-old');
  });

  it.each([
    ['webhook-id', ''],
    ['webhook-timestamp', '1795197816abc'],
    ['webhook-timestamp', '-1'],
    ['webhook-signature', undefined],
    ['webhook-signature', 'v1,'.padEnd(5000, 'A')],
  ])('refuses the header %s with the value %p', (name, value) => {
    expect(verify({ headers: { ...headers, [name]: value } })).toBe('bad-headers');
  });

  it('refuses a malformed, empty or missing secret as bad-secret', () => {
    expect(verify({ secret: 'whsec_%%%' })).toBe('bad-secret');
    expect(verify({ secret: '' })).toBe('bad-secret');
    expect(errorCode(() => verifyWebhook({ headers, rawBody, now }))).toBe('bad-secret');
  });

  it('converts numeric enumerations to text', () => {
    const body = rawBody.replace('"paymentStatus":"Success"', '"paymentStatus":2,"userMessage":"Declined"');
    const withNumbers = signBody(body.replace('"status":"Success"', '"status":1'));
    expect(verifyWebhook(withNumbers)).toMatchObject({
      paymentStatus: 'Failed',
      status: 'Success',
      userMessage: 'Declined',
    });
  });

  it.each([
    ['12345', '"12345"'],
    ['12345', '123.45'],
    ['12345', '-1'],
    ['"Success","paymentUTCDate"', '3,"paymentUTCDate"'],
    ['"Success","paymentUTCDate"', '"success","paymentUTCDate"'],
    ['"order-1001"', '1001'],
    ['"signature":"55d3c0d1",', ''],
  ])('refuses a signed body in which %s was replaced by %j', (from, to) => {
    expect(errorCode(() => verifyWebhook(signBody(rawBody.replace(from, to))))).toBe('bad-body');
  });

  it('refuses a body that is not UTF-8, not JSON, too large or already parsed', () => {
    // The library replaces invalid UTF-8 by the replacement character, and would check the signature of the changed
    // text. Therefore the strict decoder must run first.
    expect(errorCode(() => verifyWebhook(signBody(Buffer.from([0x22, 0xff, 0x22]))))).toBe('bad-body');
    expect(errorCode(() => verifyWebhook(signBody('not json')))).toBe('bad-body');
    expect(verify({ rawBody: ' '.repeat(256 * 1024 + 1) })).toBe('bad-body');
    expect(verify({ rawBody: JSON.parse(rawBody) as never })).toBe('bad-body');
  });

  it('checks at most sixteen signatures', () => {
    const signaturesAfter = (count: number) => `${'v1,AAAA '.repeat(count)}${headers['webhook-signature']}`;
    expect(verify({ headers: { ...headers, 'webhook-signature': signaturesAfter(15) } })).toBe('accepted');
    expect(verify({ headers: { ...headers, 'webhook-signature': signaturesAfter(16) } })).toBe('bad-signature');
  });

  it('throws an error with the name WebhookVerificationError', () => {
    expect(() => verifyWebhook({ ...validInput, rawBody: '{}' })).toThrow(
      expect.objectContaining({ name: 'WebhookVerificationError' }),
    );
  });

  it('compares the payment with the expected order, amount and currency', () => {
    const expected = { merchantOrderId: 'order-1001', amount: 12345, currencyISOCode: 'ZAR' };
    expect(verify({ expected })).toBe('accepted');
    expect(verify({ expected: { ...expected, merchantOrderId: 'order-1002' } })).toBe('unexpected-order');
    expect(verify({ expected: { ...expected, amount: 12346 } })).toBe('unexpected-amount');
    expect(verify({ expected: { ...expected, currencyISOCode: 'USD' } })).toBe('unexpected-currency');
    const withoutAmount = { ...expected, amount: 0 };
    expect(errorCode(() => assertExpectedPayment(verifyWebhook(validInput), withoutAmount))).toBe('unexpected-amount');
  });

  it.each([
    [{}, /^expected\.amount is missing/],
    [{ amountCents: 12345, currencyISOCode: 'ZAR' }, /^expected\.amount is missing/],
    [{ amount: 12345, currency: 'ZAR' }, /^expected\.currencyISOCode is missing/],
  ])('fails if the order has no amount or no currency: %j', (expected, message) => {
    const check = () => assertExpectedPayment(verifyWebhook(validInput), expected as never);
    expect(check).toThrow(TypeError);
    expect(check).toThrow(message);
  });
});

const ORDER = { amount: 12345, currencyISOCode: 'ZAR' };

describe('the message of an error', () => {
  function catchError(change: Partial<VerifyWebhookInput>): { message: string; cause?: unknown } {
    try {
      verifyWebhook({ ...validInput, ...change });
    } catch (error) {
      if (error instanceof WebhookVerificationError) return error;
      throw error;
    }
    throw new Error('The webhook was accepted.');
  }
  const difference = 's from the present time, of which 300 s are accepted';
  const clock = `${difference}. Is the clock of this server right?`;
  const [ahead, behind] = [
    `${difference}. Its signature is right: either the clock of this server is ahead by this difference, or an old request was repeated`,
    `${difference}. Its signature is right, so the clock of this server is behind by this difference: set it to the right time`,
  ];
  const [late, early] = [new Date(1795198117000), new Date(1795197505000)];

  it.each<[Partial<VerifyWebhookInput>, string]>([
    [
      { secret: otherSecret },
      'No signature matches the body and the secret. Pass the body as it was received, before any JSON parser, and the secret of the site and mode',
    ],
    [{ expected: { ...ORDER, merchantOrderId: 'x' } }, 'The payment is for another order'],
    [{ expected: { ...ORDER, amount: 1 } }, "The payment's amount is not the order's"],
    [{ expected: { ...ORDER, currencyISOCode: 'USD' } }, "The payment's currency is not the order's"],
    [
      { rawBody: {} as never },
      'rawBody must be the bytes as received, not a parsed object: read the body before any JSON parser does',
    ],
    [{ rawBody: ' '.repeat(256 * 1024 + 1) }, 'The body is too large'],
    [{ headers: {} }, 'The header webhook-id is missing or unreadable'],
    [{ headers: { ...headers, 'webhook-timestamp': 'x' } }, 'webhook-timestamp is not a time'],
    [{ now: late }, `The webhook was signed too long ago: 301 ${ahead}`],
    [{ now: early }, `The webhook was signed in the future: 311 ${behind}`],
    [{ now: late, secret: otherSecret }, `The webhook was signed too long ago: 301 ${clock}`],
    [{ now: early, secret: otherSecret }, `The webhook was signed in the future: 311 ${clock}`],
    [{ now: early, secret: 'whsec_%' }, `The webhook was signed in the future: 311 ${clock}`],
    [{ secrets: [], secret: undefined as never }, 'No webhook secret was given: check the setting that it comes from'],
  ])('for %j explains the reason', (change, message) => {
    expect(catchError(change).message).toBe(message);
  });

  it('says how wrong the clock of this machine is, if the API has responded', () => {
    jest.useFakeTimers({ now: new Date('2026-11-20T20:03:36Z') });
    recordApiTime(Date.parse('2026-11-20T18:03:36Z'));
    const present = { now: undefined as never, secret: otherSecret };
    expect(catchError(present).message).toBe(
      `The webhook was signed too long ago: 7200 ${difference}. The clock of this machine is 2 hours ahead of the server's (header Date): set it to the right time`,
    );
    // The time that the caller passes is not the time of the machine.
    expect(catchError({ now: late }).message).toContain(ahead);
    recordApiTime(Date.now());
    expect(catchError(present).message).toContain(clock);
    jest.useRealTimers();
  });

  it.each<[Partial<VerifyWebhookInput>, string]>([
    [{ rawBody: Buffer.from([0xff]) }, 'The body is not UTF-8'],
    [
      { secret: 'whsec_%%%' },
      'A webhook secret is not whsec_ and base64: copy the complete secret, as shown at its creation',
    ],
    [signBody('not json'), 'The body is not JSON'],
  ])('for %j contains the cause', (change, message) => {
    const error = catchError(change);
    expect(error).toMatchObject({ message, cause: expect.any(Error) });
  });
});

describe('the bounds of a webhook', () => {
  it('allow a body of 256 KiB, and a header of 4096 characters', () => {
    expect(verify({ rawBody: ' '.repeat(256 * 1024) })).toBe('bad-signature');
    const signature = `${headers['webhook-signature']} `.padEnd(4_096, 'A');
    expect(verify({ headers: { ...headers, 'webhook-signature': signature } })).toBe('accepted');
    expect(verify({ headers: { ...headers, 'webhook-signature': `${signature}A` } })).toBe('bad-headers');
  });

  it('do not remove a byte order mark, which would change the signed bytes', () => {
    expect(verify({ rawBody: Buffer.from(`\uFEFF${rawBody}`) })).toBe('bad-signature');
  });

  it('are those of the system clock, if no time is given', () => {
    const [signedAt, body] = [new Date(), Buffer.from(rawBody)];
    const signed = {
      ...headers,
      'webhook-timestamp': String(Math.floor(signedAt.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(headers['webhook-id'], signedAt, body),
    };
    expect(errorCode(() => verifyWebhook({ headers: signed, rawBody, secret }))).toBe('accepted');
  });

  it('compare the order only if it is given', () => {
    expect(verify({ expected: ORDER })).toBe('accepted');
    expect(verify({ expected: { ...ORDER, merchantOrderId: 'order-1001' } })).toBe('accepted');
  });
});

describe('verifySiteWebhook', () => {
  const payment = {
    invoiceReference: 'i-1',
    invoiceExternalReference: 'ORDER-1',
    currencyISOCode: 'ZAR',
    invoicedAmount: 12_345,
    paymentReference: '1VQ5K3P0ABCDEFGHJK',
    paymentUTCDate: '2026-11-20T18:03:36.123Z',
    tipAmount: 0,
    tenderedAmount: 12_345,
    siteReference: 'TILL-1',
    status: 2,
    vouchers: [],
    customer: { firstName: '', lastName: '' },
    siteId: 5001,
  };
  const refund = {
    refundReference: 'f-1',
    amount: 12_345,
    status: 'succeeded',
    createdUTCDate: payment.paymentUTCDate,
  };
  const [id, expectedPayment] = [headers['webhook-id'], { ...payment, status: 'Failed' }];
  const verifyNotification = (body: object) => verifySiteWebhook(signBody(JSON.stringify(body)));

  it('returns a payment, a refund or a dispute, with the id of the notification', () => {
    expect(verifyNotification({ ...payment, type: 'payment' })).toEqual({
      id,
      type: 'payment',
      payment: expectedPayment,
    });
    expect(verifyNotification({ ...payment, type: 'refund', refund })).toEqual({
      id,
      type: 'refund',
      payment: expectedPayment,
      refund,
    });
    const dispute = {
      ...{ disputeReference: 'd-1', stage: 'won', amount: 12_345, reason: '' },
      createdUTCDate: payment.paymentUTCDate,
    };
    expect(verifyNotification({ ...payment, type: 'dispute', dispute })).toEqual({
      ...{ id, type: 'dispute', payment: expectedPayment, dispute },
    });
  });

  it('returns undefined for an unknown type of a later release', () =>
    expect(verifyNotification({ type: 'settlement' })).toBeUndefined());

  it.each([
    ['another secret', { secret: otherSecret }, 'bad-signature'],
    ['a changed byte', { rawBody: JSON.stringify({ ...payment, type: 'payment', siteId: 5002 }) }, 'bad-signature'],
    ['an old time', { now: new Date('2026-11-21T18:03:40.000Z') }, 'too-old'],
  ])('refuses %s', (_, change, code) => {
    const request = signBody(JSON.stringify({ ...payment, type: 'payment' }));
    expect(errorCode(() => verifySiteWebhook(request))).toBe('accepted');
    expect(errorCode(() => verifySiteWebhook({ ...request, ...change }))).toBe(code);
  });

  it('refuses the notification of a session, which has other fields', () =>
    expect(errorCode(() => verifySiteWebhook(validInput))).toBe('bad-body'));
});
