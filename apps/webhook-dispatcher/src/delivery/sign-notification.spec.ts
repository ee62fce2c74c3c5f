import type { NotificationFields, PaymentNotification } from '@svc/contracts';
import { Webhook } from 'standardwebhooks';
import type { NotificationContent } from '../notifications/notification.js';
import { notificationSignature, signNotification } from './sign-notification.js';

const API_KEY = `svc_test_site_${'A'.repeat(43)}`;
const SECRETS = [7, 9].map((byte) => `whsec_${Buffer.alloc(24, byte).toString('base64')}`);
const WEBHOOK_ID = '01956f3e-0000-7000-8000-000000000001';
const SENT_AT = new Date('2026-03-01T10:00:00.789Z');

const succeeded: NotificationFields = {
  sessionId: '0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2f',
  amount: 12_345,
  currencyISOCode: 'ZAR',
  merchantOrderId: 'order|42 é',
  paymentReference: '1H2J3K4M5N6P7Q8R9S',
  paymentStatus: 'Success',
  paymentUTCDate: '2026-03-01T09:59:58.123Z',
  status: 'Success',
};
const failed: NotificationFields = {
  ...succeeded,
  paymentStatus: 'Failed',
  userMessage: 'The card was declined by the bank.',
};

// Computed with Python's hashlib and hmac.
const SIGNATURE_OF_SUCCEEDED = '0b9820e9ef75bed8debf77ddcaf2224c7389f85aa13625ac8cd85483cbb79545';
const SIGNATURE_OF_FAILED = 'c215f22f1e240b239d150b5d075a9eecdf2b07e7ad9ab082eae3f2326220485c';
const HEADER_SIGNATURES = [
  'v1,GjFe7i7Kd/tIGhxXEOOaFJHDVAtjTTe3cQ9D5phDXEM=',
  'v1,YM5Nqof+g1zkee3nGjGbjG2mTBREcLSKFB9ItgGg3L0=',
];

const sessionContent = (fields: NotificationFields): NotificationContent => ({
  recipient: 'session',
  type: 'payment',
  apiVersion: 'v3.1',
  fields,
});

describe('the signature inside the body', () => {
  it('is the SHA-256 of the API key and eight fields, joined by vertical bars', () => {
    expect(notificationSignature(succeeded, API_KEY)).toBe(SIGNATURE_OF_SUCCEEDED);
    expect(notificationSignature(failed, API_KEY)).toBe(SIGNATURE_OF_FAILED);
  });
});

describe('the request of a session’s notification', () => {
  const signed = signNotification(
    WEBHOOK_ID,
    sessionContent(succeeded),
    { apiKey: API_KEY, webhookSecrets: SECRETS },
    SENT_AT,
  );

  it('has the signature first, and then the fields in their order', () => {
    expect(Object.keys(JSON.parse(signed.body) as object)).toEqual([
      'signature',
      'sessionId',
      'amount',
      'currencyISOCode',
      'merchantOrderId',
      'paymentReference',
      'paymentStatus',
      'paymentUTCDate',
      'status',
    ]);
  });

  it('contains the message for the payer if the payment has failed', () => {
    const body = JSON.parse(
      signNotification(WEBHOOK_ID, sessionContent(failed), { apiKey: API_KEY, webhookSecrets: SECRETS }, SENT_AT).body,
    ) as unknown;
    expect(body).toEqual({ signature: SIGNATURE_OF_FAILED, ...failed });
  });

  it('has the Standard Webhooks headers, with one signature for each secret', () => {
    expect(signed.headers).toEqual({
      'content-type': 'application/json',
      'user-agent': 'Svc-Webhooks/1',
      'webhook-id': WEBHOOK_ID,
      'webhook-timestamp': '1772359200',
      'webhook-signature': HEADER_SIGNATURES.join(' '),
    });
  });

  it('is accepted by the standardwebhooks library with each secret, and rejected when a byte is changed', () => {
    jest.spyOn(Date, 'now').mockReturnValue(SENT_AT.getTime());
    for (const secret of SECRETS) {
      expect(new Webhook(secret).verify(signed.body, signed.headers)).toEqual(JSON.parse(signed.body));
      expect(() => new Webhook(secret).verify(signed.body.replace('12345', '12346'), signed.headers)).toThrow(
        'No matching signature',
      );
    }
    jest.restoreAllMocks();
  });
});

describe('the request of a site’s notification (M6)', () => {
  const notification: PaymentNotification = {
    type: 'refund',
    invoiceReference: '0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2f',
    invoiceExternalReference: 'INV-7',
    currencyISOCode: 'ZAR',
    invoicedAmount: 12_345,
    paymentReference: '1H2J3K4M5N6P7Q8R9S',
    paymentUTCDate: '2026-03-01T09:59:58.123Z',
    tipAmount: 500,
    tenderedAmount: 12_845,
    siteReference: 'TILL-1',
    status: 2,
    vouchers: [{ merchantLiable: true, amount: 1_000 }],
    customer: { firstName: 'Thandi', lastName: 'Nkosi' },
    siteId: 71,
    refund: {
      refundReference: WEBHOOK_ID,
      amount: 12_845,
      status: 'succeeded',
      createdUTCDate: '2026-03-01T09:59:59.000Z',
    },
  };
  const keys = { apiKey: null, webhookSecrets: SECRETS };
  const { body, headers } = signNotification(
    WEBHOOK_ID,
    { recipient: 'site', type: 'refund', apiVersion: null, fields: notification },
    keys,
    SENT_AT,
  );

  it('has the whole notification as its body, and the signature only in the headers', () => {
    expect(JSON.parse(body)).toEqual(notification);
    jest.spyOn(Date, 'now').mockReturnValue(SENT_AT.getTime());
    for (const secret of SECRETS) expect(new Webhook(secret).verify(body, headers)).toEqual(notification);
    jest.restoreAllMocks();
  });
});

test('a session’s notification cannot be signed without an API key', () => {
  const keys = { apiKey: null, webhookSecrets: SECRETS };
  expect(() => signNotification(WEBHOOK_ID, sessionContent(succeeded), keys, SENT_AT)).toThrow('API key');
});
