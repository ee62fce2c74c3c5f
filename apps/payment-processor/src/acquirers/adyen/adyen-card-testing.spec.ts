/** Requests and refusals that matter for the limits against card testing (P11). */
import { AUTHORISED, payment, TERMS } from '../../../test/adyen/charge-terms.js';
import { ScriptedAdyen } from '../../../test/adyen/scripted-adyen.js';
import type { CardCharge } from '../acquirer.js';

let adyen: ScriptedAdyen;
beforeAll(async () => {
  adyen = await ScriptedAdyen.start();
});
afterAll(() => adyen.stop());
afterEach(() => expect(adyen.takeRequestProblems()).toEqual([]));

const CHARGE: CardCharge = {
  ...TERMS,
  card: { cardNumber: '4111111111111111', cvv: '737', holderName: 'S Hopper', expiryMonth: 3, expiryYear: 2030 },
  bankReturnUrl: 'https://pay.example/returned/1',
  pageOrigin: 'https://pay.example',
  payer: {},
};
const charge = (change: Partial<CardCharge> = {}) =>
  adyen.acquirer.charge({ ...CHARGE, ...change }, AbortSignal.timeout(5_000));

test.each([
  [true, { threeDSRequestData: { nativeThreeDS: 'disabled' }, attemptAuthentication: 'always' }],
  [false, { threeDSRequestData: { nativeThreeDS: 'disabled' } }],
])(
  '3D Secure is always attempted while the site is under attack: %s',
  async (forceVerification, authenticationData) => {
    adyen.respondWith(AUTHORISED);
    await charge({ forceVerification });
    expect(adyen.onlyBody).toMatchObject({ authenticationData });
    expect((adyen.onlyBody as { authenticationData: object }).authenticationData).toEqual(authenticationData);
  },
);

test.each([
  ['a blocked card', { refusalReasonCode: '5' }],
  ['the fee for retries', { refusalReasonCode: '46' }],
  ['the advice not to try again', { additionalData: { merchantAdviceCode: '03 : Do not try again' } }],
  [
    'the advice that the payment was cancelled',
    { additionalData: { merchantAdviceCode: '21 : Payment Cancellation' } },
  ],
  ['a card to pick up', { additionalData: { refusalReasonRaw: '04 : Pick up card' } }],
  ['a lost card', { additionalData: { refusalReasonRaw: '41 : Lost card, Pickup' } }],
  ['a stolen card', { additionalData: { refusalReasonRaw: '43 : Stolen card, Pickup' } }],
])('a refusal with %s must not be tried again', async (_, fields) => {
  adyen.respondWith(payment({ resultCode: 'Refused', refusalReasonCode: '2', ...fields }));
  expect(await charge()).toMatchObject({ kind: 'declined', mustNotRetry: true });
});

test.each([
  ['no further information', {}],
  ['an expiry date that may be mistyped', { refusalReasonCode: '6' }],
  ['a CVV that may be mistyped', { refusalReasonCode: '24' }],
  ['too little money', { refusalReasonCode: '12', additionalData: { refusalReasonRaw: '51 : Insufficient funds' } }],
  ['the advice to try again later', { additionalData: { merchantAdviceCode: '02 : Try again later' } }],
  ['an amount that begins like a code', { additionalData: { refusalReasonRaw: '041' } }],
  ['fields that are no texts', { additionalData: { merchantAdviceCode: 3, refusalReasonRaw: null } }],
])('a refusal with %s may be tried again', async (_, fields) => {
  adyen.respondWith(payment({ resultCode: 'Refused', refusalReasonCode: '2', ...fields }));
  expect(await charge()).not.toHaveProperty('mustNotRetry');
});
