import { type MakePaymentRequest, MAX_AMOUNT_CENTS, type MerchantFeatures } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import {
  addRegisteredName,
  checkChosenAmounts,
  checkTerms,
  computeFingerprint,
  type Payer,
  type PaymentTerms,
  resolveCustomer,
} from './payment-terms.js';

const SERVICE: Payer = { organisationId: 'o-1', customerReference: undefined };
const CUSTOMER_REFERENCE = '0b6c3f4e-6f2a-7c3b-9d1e-7a8b9c0d1e2f';
const CUSTOMER: Payer = { organisationId: 'o-1', customerReference: CUSTOMER_REFERENCE };
const CARD = { card: { token: 't' } };
const EXTERNAL = { external: { type: 'EFT', status: 'success', reference: 'x' } } as const;
const voucher = (amount: number) => ({ merchantLiable: true, amount });

const buildRequest = (change: object = {}): MakePaymentRequest => ({
  reference: 'r',
  code: 'c',
  amount: 100,
  paymentMethod: CARD,
  ...change,
});

const catchDomainError = (
  checkRequest: () => unknown,
): { code: string; fields: readonly object[]; message: string } | undefined => {
  try {
    checkRequest();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  return undefined;
};

describe('the customer of a payment', () => {
  it('is the customer of the token', () => {
    expect(resolveCustomer(CUSTOMER, buildRequest())).toEqual({ id: CUSTOMER_REFERENCE, firstName: '', lastName: '' });
    const inCapitals = CUSTOMER_REFERENCE.toUpperCase();
    const requestWithName = buildRequest({ customer: { id: inCapitals, firstName: 'Ada', lastName: 'L' } });
    expect(resolveCustomer(CUSTOMER, requestWithName)).toEqual({ id: inCapitals, firstName: 'Ada', lastName: 'L' });
  });

  it('is the unchanged customer of the request if the token is a service token', () => {
    expect(resolveCustomer(SERVICE, buildRequest({ customer: { id: 'C-9', firstName: null } }))).toEqual({
      id: 'C-9',
      firstName: '',
      lastName: '',
    });
  });
});

test('a request with a service token must contain a customer', () => {
  expect(() => resolveCustomer(SERVICE, buildRequest())).toThrow('names no customer');
});

describe('the terms of a merchant', () => {
  const grant = (change: object) => ({ organisationId: 'o-1', vouchers: false, externalPayments: false, ...change });
  const checkRequest = (
    change: object,
    features: MerchantFeatures = {},
    grants: PaymentTerms['grants'] = [],
    minimumAmount = 1,
  ) =>
    catchDomainError(() => checkTerms(SERVICE, buildRequest(change), { amount: 100, features, minimumAmount, grants }));
  const vouchers = { vouchers: [voucher(1)] };
  const external = { paymentMethod: EXTERNAL };

  it.each([
    [vouchers, []],
    [vouchers, [grant({ externalPayments: true })]],
    [vouchers, [grant({ organisationId: 'o-2', vouchers: true })]],
    [external, []],
    [external, [grant({ vouchers: true })]],
    [external, [grant({ organisationId: 'o-2', externalPayments: true })]],
  ])('reject %j with the grants %j', (change, grants) => {
    expect(checkRequest(change, {}, grants)).toMatchObject({
      code: 'credentials.forbidden',
      message: 'This merchant has not granted that to your organisation.',
    });
  });

  it('allow everything that was granted to this organisation', () => {
    const grants = [grant({ organisationId: 'o-2' }), grant({ vouchers: true, externalPayments: true })];
    expect(checkRequest({ ...vouchers, ...external }, {}, grants)).toBeUndefined();
    expect(checkRequest({ vouchers: [] })).toBeUndefined();
    expect(checkRequest({ ...vouchers, paymentMethod: undefined }, {}, grants)).toBeUndefined();
  });

  it('require the amount of the payable, unless the amount is editable', () => {
    expect(checkRequest({ amount: 99 })?.code).toBe('payable.mismatch');
    expect(checkRequest({ amount: 99 }, { amount: {} })?.code).toBe('payable.mismatch');
    expect(checkRequest({ amount: 99 }, { amount: { editable: false } })?.code).toBe('payable.mismatch');
    expect(checkRequest({ amount: 101 }, { amount: { editable: true } })).toBeUndefined();
    expect(checkRequest({ amount: 100 }, { amount: { editable: true } })).toBeUndefined();
  });

  it.each([
    [50, 49, 'payable.mismatch'],
    [50, 50, undefined],
    [50, 101, undefined],
    // The invoice is below the minimum, so it can only be paid in full.
    [500, 99, 'payable.mismatch'],
    [500, 100, undefined],
    [500, 101, undefined],
  ])('(minimum %d, invoice of 100, amount %d) return the error %s', (minimumAmount, amount, error) => {
    expect(checkRequest({ amount }, { amount: { editable: true } }, [], minimumAmount)?.code).toBe(error);
  });

  it.each([
    // Ten times the invoice of 100 cents, unless the merchant has a maximum.
    [undefined, 1_000, undefined],
    [undefined, 1_001, 'payable.mismatch'],
    [1_001, 1_001, undefined],
    [1_001, 1_002, 'payable.mismatch'],
    [150, 150, undefined],
    [150, 151, 'payable.mismatch'],
    // The invoice is above the maximum, so it can still be paid in full.
    [50, 100, undefined],
    [50, 101, 'payable.mismatch'],
  ])('(maximum %p, invoice of 100, amount %d) return the error %s', (maximumAmount, amount, error) => {
    const terms = {
      amount: 100,
      features: { amount: { editable: true } },
      minimumAmount: 1,
      maximumAmount,
      grants: [],
    };
    expect(catchDomainError(() => checkTerms(SERVICE, buildRequest({ amount }), terms))?.code).toBe(error);
  });

  it('allow a tip up to the amount of the payable, whatever amount the payer chose', () => {
    const features = { amount: { editable: true }, tip: { enabled: true } };
    expect(checkRequest({ amount: 1, tipAmount: 100 }, features)).toBeUndefined();
    expect(checkRequest({ amount: 100, tipAmount: 101 }, features)?.code).toBe('payable.mismatch');
    expect(checkRequest({ amount: 500, tipAmount: 101 }, features)?.code).toBe('payable.mismatch');
  });

  const tipProblem = { field: 'tipAmount', message: 'This merchant does not take tips' };
  const orderReferenceProblem = { field: 'orderReference', message: 'This merchant does not take an orderReference' };
  const missingOrderReferenceProblem = (label: string) => ({
    field: 'orderReference',
    message: `orderReference is required by this merchant (${label})`,
  });
  it.each<[object, MerchantFeatures, object[] | undefined]>([
    [{ tipAmount: 1 }, {}, [tipProblem]],
    [{ tipAmount: 1 }, { tip: {} }, [tipProblem]],
    [{ tipAmount: 1 }, { tip: { enabled: false } }, [tipProblem]],
    [{ tipAmount: 1 }, { tip: { enabled: true } }, undefined],
    [{ tipAmount: 0 }, {}, undefined],
    [{ tipAmount: null }, {}, undefined],
    [{}, { orderReference: { required: true } }, [missingOrderReferenceProblem('orderReference')]],
    [
      { orderReference: '' },
      { orderReference: { required: true, label: 'Table' } },
      [missingOrderReferenceProblem('Table')],
    ],
    [{ orderReference: '7' }, { orderReference: { required: true } }, undefined],
    [{ orderReference: '7' }, { orderReference: { required: true, editable: false } }, undefined],
    [{ orderReference: '7' }, { orderReference: { editable: false } }, [orderReferenceProblem]],
    [{ orderReference: '7' }, { orderReference: { editable: true } }, undefined],
    [{ orderReference: '7' }, { orderReference: {} }, undefined],
    [{ orderReference: '7' }, {}, undefined],
    [{}, { orderReference: { editable: false } }, undefined],
    [
      { tipAmount: 1 },
      { orderReference: { required: true } },
      [tipProblem, missingOrderReferenceProblem('orderReference')],
    ],
  ])('(request %j, features %j) return the errors %j', (change, features, fields) => {
    const error = checkRequest(change, features);
    expect(error?.fields).toEqual(fields);
    expect(error?.code).toBe(fields && 'payment.not-accepted');
  });
});

describe('the fingerprint of a request (C7)', () => {
  const customer = { id: 'c-1', firstName: 'Ada', lastName: 'L' };
  const FULL_REQUEST = {
    code: 'c',
    invoiceReference: 'i',
    tipAmount: 1,
    orderReference: 'o',
    vouchers: [voucher(1)],
    paymentMethod: EXTERNAL,
  };
  const fingerprint = (change: object, payingCustomer = customer): string =>
    computeFingerprint(buildRequest({ ...FULL_REQUEST, ...change }), payingCustomer);

  it.each([
    { code: 'd' },
    { code: null },
    { invoiceReference: 'j' },
    { invoiceReference: null },
    { amount: 101 },
    { tipAmount: 2 },
    { tipAmount: null },
    { orderReference: 'p' },
    { orderReference: null },
    { vouchers: [voucher(2)] },
    { vouchers: [{ merchantLiable: false, amount: 1 }] },
    { vouchers: null },
    { paymentMethod: CARD },
    { paymentMethod: { external: { ...EXTERNAL.external, type: 'Cash' } } },
    { paymentMethod: { external: { ...EXTERNAL.external, status: 'failed' } } },
    { paymentMethod: { external: { ...EXTERNAL.external, reference: 'y' } } },
  ])('differs after the change %j of the request', (change) => expect(fingerprint(change)).not.toBe(fingerprint({})));

  it.each([{ id: 'c-2' }, { id: 'C-1' }, { firstName: 'Eve' }, { lastName: 'M' }])(
    'differs for the customer %j',
    (change) => {
      expect(fingerprint({}, { ...customer, ...change })).not.toBe(fingerprint({}));
    },
  );

  it('is the same for another card, for ids in capitals, and for null, absent and empty members', () => {
    expect(fingerprint({ paymentMethod: CARD })).toBe(fingerprint({ paymentMethod: { card: { cardNumber: '4' } } }));
    expect(fingerprint({ invoiceReference: 'I' })).toBe(fingerprint({}));
    const [id, inCapitals] = [CUSTOMER_REFERENCE, CUSTOMER_REFERENCE.toUpperCase()];
    expect(fingerprint({}, { ...customer, id: inCapitals })).toBe(fingerprint({}, { ...customer, id }));
    const none = { code: null, invoiceReference: null, tipAmount: null, orderReference: null, vouchers: null };
    const absent = Object.fromEntries(Object.keys(none).map((name) => [name, undefined]));
    expect(fingerprint({ ...none, paymentMethod: null })).toBe(fingerprint({ ...absent, paymentMethod: undefined }));
    expect(fingerprint({ tipAmount: 0, vouchers: [] })).toBe(fingerprint({ tipAmount: null, vouchers: null }));
  });

  // The fingerprint is stored with each payment. If it changed, every retry of an older payment would be a conflict.
  it('is the same in every release', () =>
    expect(fingerprint({})).toBe('7c574d59e4d7c412302823f1ce52a44a52efe12bddb3e499feac000421c92c6a'));
});

test('a customer without a name in the request gets the registered name', () => {
  const registeredName = { firstName: 'Thandi', lastName: 'Nkosi' };
  const customerWithoutName = { id: 'c-1', firstName: '', lastName: '' };
  expect(addRegisteredName(customerWithoutName, registeredName)).toEqual({
    id: 'c-1',
    firstName: 'Thandi',
    lastName: 'Nkosi',
  });
  expect(addRegisteredName(customerWithoutName, undefined)).toEqual(customerWithoutName);
  // First and last name come from the same source.
  expect(addRegisteredName({ ...customerWithoutName, firstName: 'Ada' }, registeredName)).toEqual({
    id: 'c-1',
    firstName: 'Ada',
    lastName: '',
  });
  expect(addRegisteredName({ ...customerWithoutName, lastName: 'L' }, registeredName)).toEqual({
    id: 'c-1',
    firstName: '',
    lastName: 'L',
  });
});

describe('the amounts that a payer chooses on the page of an invoice', () => {
  const features = { amount: { editable: true }, tip: { enabled: true } };
  const terms = { amount: MAX_AMOUNT_CENTS, features, minimumAmount: 1 };
  const choose = (amount: number, tipAmount: number | null, changes: object = {}) =>
    catchDomainError(() => checkChosenAmounts({ amount, tipAmount }, { ...terms, ...changes }));

  it('may be as high as the limit of a charge, but not higher', () => {
    expect(choose(MAX_AMOUNT_CENTS, null)).toBeUndefined();
    expect(choose(MAX_AMOUNT_CENTS - 1, 1)).toBeUndefined();
    expect(choose(MAX_AMOUNT_CENTS, 1)).toMatchObject({
      code: 'payment.not-accepted',
      fields: [{ field: 'tipAmount', message: `Amount and tip must not be more than ${MAX_AMOUNT_CENTS} together` }],
    });
  });

  it('must not be above the maximum of the merchant, and the tip not above the amount of the invoice', () => {
    const limits = { amount: 200, maximumAmount: 300 };
    expect(choose(300, 200, limits)).toBeUndefined();
    expect(choose(301, 200, limits)?.code).toBe('payable.mismatch');
    expect(choose(300, 201, limits)?.code).toBe('payable.mismatch');
  });

  it('must follow the terms of the merchant', () => {
    expect(choose(1, null, { features: {} })?.code).toBe('payable.mismatch');
    expect(choose(1, null, { minimumAmount: 2 })?.code).toBe('payable.mismatch');
    expect(choose(1, 1, { features: { amount: { editable: true } } })).toMatchObject({
      code: 'payment.not-accepted',
      fields: [{ field: 'tipAmount', message: 'This merchant does not take tips' }],
    });
  });
});
