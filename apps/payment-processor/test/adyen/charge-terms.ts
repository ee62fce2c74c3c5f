import type { VerifiedCharge } from '../../src/acquirers/acquirer.js';
import type { ScriptedResponse } from './scripted-adyen.js';

export const ATTEMPT_ID = '37ca9c97-d1d1-4c62-89e8-706891a563ed';
export const TERMS = {
  account: { mode: 'test', accountReference: 'ExampleShop' },
  idempotencyKey: ATTEMPT_ID,
  paymentReference: '1ABCDEF23456789XYZ',
  amount: 12_345,
  currencyISOCode: 'ZAR',
} as const;
export const CARD = {
  cardNumber: '4111111111111111',
  cvv: '737',
  holderName: 'S Hopper',
  expiryMonth: 3,
  expiryYear: 2030,
};
export const BROWSER = {
  acceptHeader: 'text/html',
  userAgent: 'Mozilla/5.0',
  language: 'en-ZA',
  screenWidth: 1_280,
  screenHeight: 720,
  colorDepth: 24,
  timeZoneOffsetMinutes: -120,
  javaScriptEnabled: true,
};
export const VERIFIED: VerifiedCharge = {
  ...TERMS,
  verification: { challengeReference: 'earlier-attempt', result: 'X6XtfGC3!Y/+=' },
};
export const payment = (body: object): ScriptedResponse => ({ body: { pspReference: 'JLCMPCQ8HXSKGK82', ...body } });
export const AUTHORISED = payment({ resultCode: 'Authorised', merchantReference: TERMS.paymentReference });
export const APPROVED = { kind: 'approved', acquirerReference: 'JLCMPCQ8HXSKGK82' };
