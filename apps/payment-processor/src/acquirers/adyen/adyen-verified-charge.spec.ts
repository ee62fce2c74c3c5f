import { APPROVED, ATTEMPT_ID, AUTHORISED, payment, VERIFIED } from '../../../test/adyen/charge-terms.js';
import { errorResponse, LOST, ScriptedAdyen, type ScriptedResponse } from '../../../test/adyen/scripted-adyen.js';
import type { VerifiedCharge } from '../acquirer.js';

// Each test has a server of its own, because a request whose caller has given up may arrive during the next test.
let adyen: ScriptedAdyen;
beforeEach(async () => {
  adyen = await ScriptedAdyen.start();
});
afterEach(async () => {
  await adyen.stop();
  expect(adyen.takeRequestProblems()).toEqual([]);
});

const chargeVerified = (change: Partial<VerifiedCharge> = {}) =>
  adyen.acquirer.chargeVerified({ ...VERIFIED, ...change }, AbortSignal.timeout(5_000));

describe('a charge after the verification', () => {
  test('submits the result of the page under the key of its own attempt', async () => {
    adyen.respondWith(AUTHORISED);
    expect(await chargeVerified()).toEqual(APPROVED);
    expect(adyen.onlyBody).toEqual({ details: { redirectResult: 'X6XtfGC3!Y/+=' } });
    expect(adyen.requests).toMatchObject([{ path: '/payments/details', headers: { 'idempotency-key': ATTEMPT_ID } }]);
  });

  test.each<[string, ScriptedResponse, object]>([
    [
      '3D Not Authenticated',
      payment({ resultCode: 'Refused', refusalReasonCode: '11' }),
      { reason: 'verification.failed' },
    ],
    [
      'a cancellation',
      payment({ resultCode: 'Cancelled', refusalReasonCode: '15' }),
      { reason: 'verification.failed' },
    ],
    ['a cancellation without a reason', payment({ resultCode: 'Cancelled' }), { reason: 'verification.failed' }],
    [
      'a cancellation for a reason that is not listed',
      payment({ resultCode: 'Cancelled', refusalReasonCode: '999' }),
      { reason: 'verification.failed' },
    ],
    [
      'a cancellation by the payer',
      payment({ resultCode: 'Cancelled', refusalReasonCode: '16' }),
      { reason: 'verification.failed' },
    ],
    [
      'a cancellation because of fraud',
      payment({ resultCode: 'Cancelled', refusalReasonCode: '22' }),
      { reason: 'card.suspected-fraud' },
    ],
    ['a refusal', payment({ resultCode: 'Refused', refusalReasonCode: '12' }), { reason: 'card.insufficient-funds' }],
    ['a refusal for no reason', payment({ resultCode: 'Refused' }), { reason: 'card.declined' }],
    [
      'an unusable result',
      errorResponse(422, '14_006'),
      { reason: 'verification.failed', acquirerReference: ATTEMPT_ID },
    ],
  ])('is declined after %s', async (_, response, outcome) => {
    adyen.respondWith(response);
    expect(await chargeVerified()).toMatchObject({ kind: 'declined', ...outcome });
  });

  test('is unknown after a second redirect', async () => {
    const action = { type: 'redirect', method: 'GET', url: 'https://checkoutshopper-test.adyen.com/' };
    adyen.respondWith(payment({ resultCode: 'RedirectShopper', action }));
    expect(await chargeVerified()).toEqual({ kind: 'unknown', hasResponded: true });
  });

  // The request names no payment, so a payer could return the result of another one.
  test.each([undefined, '1ZZZZZZZZZZZZZZZZZ'])('is unknown if the response names the payment %s', async (reference) => {
    adyen.respondWith(payment({ resultCode: 'Authorised', merchantReference: reference }));
    expect(await chargeVerified()).toEqual({ kind: 'unknown', hasResponded: true });
  });

  test('is not sent without a result, or with an unusable result', async () => {
    const verification = { challengeReference: 'c' };
    expect(await chargeVerified({ verification: { ...verification, result: undefined } })).toEqual({
      kind: 'notAttempted',
      hasResponded: true,
    });
    for (const result of ['', 'x'.repeat(20_001), 'a\u0000b'])
      expect(await chargeVerified({ verification: { ...verification, result } })).toMatchObject({
        kind: 'declined',
        reason: 'verification.failed',
      });
    expect(adyen.requests).toEqual([]);
  });

  test('is repeated after a lost response', async () => {
    adyen.respondWith(LOST, AUTHORISED);
    expect(await chargeVerified()).toEqual(APPROVED);
  });
});
