import { amount, describeBounds, label, nestedList, optional, text, validationErrors } from '../../../test/bounds.js';
import { CreateSessionRequest, CustomField } from './hosted-session.js';

const FIELD = { key: 'Table', value: '7' };
/** A well-formed language tag of 36 characters, one more than allowed. */
const TOO_LONG_LOCALE = 'en-x-12345678-12345678-12345678-1234';
const SESSION = {
  requestId: 'r-1',
  merchantOrderId: 'order-1',
  amount: 12_345,
  currencyISOCode: 'ZAR',
  notificationUrl: 'https://shop.example/notify',
  returnUrl: 'https://shop.example/thanks',
  cancelUrl: 'https://shop.example/cart',
  origin: 'shop.example',
};

// Each field must accept the values at its limits, and reject the values just beyond them.
describeBounds(CustomField, FIELD, { key: label(64), value: label(512) });
describeBounds(CreateSessionRequest, SESSION, {
  requestId: text(100),
  merchantOrderId: text(100),
  amount,
  currencyISOCode: { accepted: ['ZAR'], rejected: [undefined, null, '', 'zar', 'USD', 710, ['ZAR']] },
  notificationUrl: text(2_048),
  returnUrl: text(2_048),
  cancelUrl: text(2_048),
  origin: text(2_048),
  siteName: optional(label(100)),
  customFields: optional(nestedList(20, FIELD, { ...FIELD, value: 7 })),
  // They never fail a request: the gateway shows them only if they are valid.
  lineItems: { accepted: [undefined, null, [], 'x', [7], [{ unitPrice: -1 }]], rejected: [] },
  taxAmount: { accepted: [undefined, null, 0, -1, 'x', {}], rejected: [] },
  shippingAmount: { accepted: [undefined, null, 0, -1, 'x', {}], rejected: [] },
  locale: optional({
    accepted: ['zu', 'zu-ZA', 'EN-za', 'de', TOO_LONG_LOCALE.slice(0, 35)],
    rejected: [
      '',
      ' ',
      'z',
      'zu_ZA',
      'zu ZA',
      'zu-',
      'zu,en',
      '*',
      'english language',
      'zu\n',
      7,
      true,
      {},
      ['zu'],
      TOO_LONG_LOCALE,
    ],
  }),
});

test('each error message names the field and its limit', () => {
  const problems = validationErrors(CreateSessionRequest, {
    ...SESSION,
    requestId: '',
    amount: 0,
    currencyISOCode: 'USD',
  });
  expect(problems).toEqual({
    requestId: { isText: 'requestId must be text of 1 to 100 characters without control characters' },
    amount: { isAmountInCents: 'amount must be a whole number of cents from 1 to 100000000000' },
    currencyISOCode: { equals: 'currencyISOCode must be ZAR, the only supported currency' },
  });
});

test('the error of a custom field names the path of the wrong value', () => {
  const problems = validationErrors(CreateSessionRequest, { ...SESSION, customFields: [FIELD, { key: 'x' }] });
  expect(Object.keys(problems)).toEqual(['customFields.1.value']);
});
