import 'reflect-metadata';
import { CreateSessionRequest } from '@svc/contracts';
import { IsString } from 'class-validator';
import { findMisspelledFields } from './misspelled-fields.js';

class Body {
  @IsString()
  tip: string;

  @IsString()
  origin: string;
}

test.each([
  ['orderId', 'merchantOrderId'],
  ['merchant_order_id', 'merchantOrderId'],
  ['MerchantOrderID', 'merchantOrderId'],
  ['merchantOrdreId', 'merchantOrderId'],
  ['currency', 'currencyISOCode'],
  ['currencyIsoCode', 'currencyISOCode'],
  ['curencyISOCode', 'currencyISOCode'],
  ['webhookUrl', 'notificationUrl'],
  ['notificationURL', 'notificationUrl'],
  ['successUrl', 'returnUrl'],
  ['returnUri', 'returnUrl'],
  ['language', 'locale'],
  ['local', 'locale'],
  ['metadata', 'customFields'],
  ['customField', 'customFields'],
  ['amounts', 'amount'],
  ['idempotency_key', 'requestId'],
])('the field %s looks like %s', (field, meant) => {
  expect(findMisspelledFields(CreateSessionRequest, { [field]: 1 })).toEqual([{ field, meant }]);
});

test.each(['merchantOrderId', 'x', '', 'colour', 'description', 'origins-of-the-world', 'tipp', 'constructor'])(
  'the field %j does not look like another field',
  (field) => expect(findMisspelledFields(CreateSessionRequest, { [field]: 1 })).toEqual([]),
);

test('a short name must be equal, a longer name may differ in one character', () => {
  expect(findMisspelledFields(Body, { tap: 1, TIP: 1, orgin: 1, orgn: 1 })).toEqual([
    { field: 'TIP', meant: 'tip' },
    { field: 'orgin', meant: 'origin' },
  ]);
});

test('a name of over 40 characters is not compared, and at most ten fields are returned', () => {
  const padded = `merchantOrderId${'_'.repeat(25)}`;
  expect(findMisspelledFields(CreateSessionRequest, { [padded]: 1 })).toEqual([
    { field: padded, meant: 'merchantOrderId' },
  ]);
  expect(findMisspelledFields(CreateSessionRequest, { [`${padded}_`]: 1 })).toEqual([]);
  const many = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`amount${'_'.repeat(i + 1)}`, 1]));
  expect(findMisspelledFields(CreateSessionRequest, many)).toHaveLength(10);
});

test.each([undefined, null, 'orderId', ['orderId'], 7])('a body that is no object has no fields: %j', (body) => {
  expect(findMisspelledFields(CreateSessionRequest, body)).toEqual([]);
});
