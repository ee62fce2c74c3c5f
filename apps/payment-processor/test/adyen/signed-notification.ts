import { createHmac } from 'node:crypto';

/** Adyen's published example of a signed item (its documentation, page "Verify HMAC signatures"). */
export const PUBLISHED_KEY = '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056';
export const PUBLISHED_ITEM = {
  additionalData: { hmacSignature: 'coqCmt/IZ4E3CzPvMY8zTjQVL5hYJUiBRg8UU+iCWo0=' },
  amount: { value: 1_130, currency: 'EUR' },
  pspReference: '7914073381342284',
  eventCode: 'AUTHORISATION',
  eventDate: '2019-05-06T17:15:34.121+02:00',
  merchantAccountCode: 'TestMerchant',
  operations: ['CANCEL', 'CAPTURE', 'REFUND'],
  merchantReference: 'TestPayment-1407325143704',
  paymentMethod: 'visa',
  success: 'true',
};
/** The example of the tests of `@adyen/api-library` (hmacValidator.spec.ts). */
export const LIBRARY_KEY = 'DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00';
export const LIBRARY_ITEM = {
  pspReference: 'pspReference',
  originalReference: 'originalReference',
  merchantAccountCode: 'merchantAccount',
  merchantReference: 'reference',
  amount: { currency: 'EUR', value: 1_000 },
  eventCode: 'CAPTURE',
  eventDate: '1970-01-01T00:00:00.000Z',
  paymentMethod: 'VISA',
  reason: 'reason',
  success: 'true',
  additionalData: { hmacSignature: 'xhpHvYq2u2Np0rstbZ6QjLGu7JWhvf7Iwaa6EviJSX0=' },
};

export function notificationOf(items: readonly unknown[], live: unknown = 'false'): string {
  return JSON.stringify({
    live,
    notificationItems: items.map((item) => ({ NotificationRequestItem: item })),
  });
}

type Item = Omit<typeof LIBRARY_ITEM, 'additionalData'>;

/** Signs an item as Adyen does. */
export function sign(item: Item, key: string): Item & { additionalData: { hmacSignature: string } } {
  const { pspReference, originalReference, merchantAccountCode, merchantReference, amount, eventCode, success } = item;
  const fields = [pspReference, originalReference, merchantAccountCode, merchantReference, amount.value];
  const text = [...fields, amount.currency, eventCode, success].join(':');
  const hmacSignature = createHmac('sha256', Buffer.from(key, 'hex')).update(text).digest('base64');
  return { ...item, additionalData: { hmacSignature } };
}
