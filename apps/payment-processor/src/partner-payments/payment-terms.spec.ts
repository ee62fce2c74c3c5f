import type { MakePaymentRequest, MerchantFeatures } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import {
  checkTerms,
  customerOf,
  fingerprintOf,
  namedCustomer,
  type Payer,
  type PaymentTerms,
} from './payment-terms.js';

const SERVICE: Payer = { organisationId: 'o-1', customerReference: undefined };
const CUSTOMER_REFERENCE = '0b6c3f4e-6f2a-7c3b-9d1e-7a8b9c0d1e2f';
const CUSTOMER: Payer = { organisationId: 'o-1', customerReference: CUSTOMER_REFERENCE };
const CARD = { card: { token: 't' } };
const EXTERNAL = { external: { type: 'EFT', status: 'success', reference: 'x' } } as const;
const voucher = (amount: number) => ({ merchantLiable: true, amount });

const aRequest = (change: object = {}): MakePaymentRequest => ({
  reference: 'r',
  code: 'c',
  amount: 100,
  paymentMethod: CARD,
  ...change,
});

const refusalOf = (check: () => unknown): { code: string; fields: readonly object[]; message: string } | undefined => {
  try {
    check();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  return undefined;
};

describe('the customer of a payment', () => {
  it('is the customer of the token', () => {
    expect(customerOf(CUSTOMER, aRequest())).toEqual({ id: CUSTOMER_REFERENCE, firstName: '', lastName: '' });
    const inCapitals = CUSTOMER_REFERENCE.toUpperCase();
    const named = aRequest({ customer: { id: inCapitals, firstName: 'Ada', lastName: 'L' } });
    expect(customerOf(CUSTOMER, named)).toEqual({ id: inCapitals, firstName: 'Ada', lastName: 'L' });
  });

  it('is the customer in the request of a service, unchanged', () => {
    expect(customerOf(SERVICE, aRequest({ customer: { id: 'C-9', firstName: null } }))).toEqual({
      id: 'C-9',
      firstName: '',
      lastName: '',
    });
  });
});

test('a request of a service must name its customer', () => {
  expect(() => customerOf(SERVICE, aRequest())).toThrow('names no customer');
});

describe('the terms of a merchant', () => {
  const grant = (change: object) => ({ organisationId: 'o-1', vouchers: false, externalPayments: false, ...change });
  const check = (
    change: object,
    features: MerchantFeatures = {},
    grants: PaymentTerms['grants'] = [],
    minimumAmount = 1,
  ) => refusalOf(() => checkTerms(SERVICE, aRequest(change), { amount: 100, features, minimumAmount, grants }));
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
    expect(check(change, {}, grants)).toMatchObject({
      code: 'credentials.forbidden',
      message: 'This merchant has not granted that to your organisation.',
    });
  });

  it('allow everything that was granted to this organisation', () => {
    const grants = [grant({ organisationId: 'o-2' }), grant({ vouchers: true, externalPayments: true })];
    expect(check({ ...vouchers, ...external }, {}, grants)).toBeUndefined();
    expect(check({ vouchers: [] })).toBeUndefined();
    expect(check({ ...vouchers, paymentMethod: undefined }, {}, grants)).toBeUndefined();
  });

  it('require the amount of the payable, unless it may be edited', () => {
    expect(check({ amount: 99 })?.code).toBe('payable.mismatch');
    expect(check({ amount: 99 }, { amount: {} })?.code).toBe('payable.mismatch');
    expect(check({ amount: 99 }, { amount: { editable: false } })?.code).toBe('payable.mismatch');
    expect(check({ amount: 101 }, { amount: { editable: true } })).toBeUndefined();
    expect(check({ amount: 100 }, { amount: { editable: true } })).toBeUndefined();
  });

  it.each([
    [50, 49, 'payable.mismatch'],
    [50, 50, undefined],
    [50, 101, undefined],
    // The debt is below the minimum: it can only be paid in full.
    [500, 99, 'payable.mismatch'],
    [500, 100, undefined],
    [500, 101, undefined],
  ])('with a minimum of %d and 100 owed, accept or reject the amount %d', (minimumAmount, amount, refusal) => {
    expect(check({ amount }, { amount: { editable: true } }, [], minimumAmount)?.code).toBe(refusal);
  });

  const noTips = { field: 'tipAmount', message: 'This merchant does not take tips' };
  const notTaken = { field: 'orderReference', message: 'This merchant does not take an orderReference' };
  const isRequired = (label: string) => ({
    field: 'orderReference',
    message: `orderReference is required by this merchant (${label})`,
  });
  it.each<[object, MerchantFeatures, object[] | undefined]>([
    [{ tipAmount: 1 }, {}, [noTips]],
    [{ tipAmount: 1 }, { tip: {} }, [noTips]],
    [{ tipAmount: 1 }, { tip: { enabled: false } }, [noTips]],
    [{ tipAmount: 1 }, { tip: { enabled: true } }, undefined],
    [{ tipAmount: 0 }, {}, undefined],
    [{ tipAmount: null }, {}, undefined],
    [{}, { orderReference: { required: true } }, [isRequired('orderReference')]],
    [{ orderReference: '' }, { orderReference: { required: true, label: 'Table' } }, [isRequired('Table')]],
    [{ orderReference: '7' }, { orderReference: { required: true } }, undefined],
    [{ orderReference: '7' }, { orderReference: { required: true, editable: false } }, undefined],
    [{ orderReference: '7' }, { orderReference: { editable: false } }, [notTaken]],
    [{ orderReference: '7' }, { orderReference: { editable: true } }, undefined],
    [{ orderReference: '7' }, { orderReference: {} }, undefined],
    [{ orderReference: '7' }, {}, undefined],
    [{}, { orderReference: { editable: false } }, undefined],
    [{ tipAmount: 1 }, { orderReference: { required: true } }, [noTips, isRequired('orderReference')]],
  ])('for the request %j and the features %j return the errors %j', (change, features, fields) => {
    const refusal = check(change, features);
    expect(refusal?.fields).toEqual(fields);
    expect(refusal?.code).toBe(fields && 'payment.not-accepted');
  });
});

describe('the fingerprint of a request (C7)', () => {
  const customer = { id: 'c-1', firstName: 'Ada', lastName: 'L' };
  const WHOLE = {
    code: 'c',
    invoiceReference: 'i',
    tipAmount: 1,
    orderReference: 'o',
    vouchers: [voucher(1)],
    paymentMethod: EXTERNAL,
  };
  const of = (change: object, who = customer): string => fingerprintOf(aRequest({ ...WHOLE, ...change }), who);

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
  ])('differs with %j', (change) => expect(of(change)).not.toBe(of({})));

  it.each([{ id: 'c-2' }, { id: 'C-1' }, { firstName: 'Eve' }, { lastName: 'M' }])(
    'differs for the customer %j',
    (change) => {
      expect(of({}, { ...customer, ...change })).not.toBe(of({}));
    },
  );

  it('is the same for another card, for UUIDs of invoice and customer in capitals, and for absent members instead of null', () => {
    expect(of({ paymentMethod: CARD })).toBe(of({ paymentMethod: { card: { cardNumber: '4' } } }));
    expect(of({ invoiceReference: 'I' })).toBe(of({}));
    const [id, inCapitals] = [CUSTOMER_REFERENCE, CUSTOMER_REFERENCE.toUpperCase()];
    expect(of({}, { ...customer, id: inCapitals })).toBe(of({}, { ...customer, id }));
    const none = { code: null, invoiceReference: null, tipAmount: null, orderReference: null, vouchers: null };
    const absent = Object.fromEntries(Object.keys(none).map((name) => [name, undefined]));
    expect(of({ ...none, paymentMethod: null })).toBe(of({ ...absent, paymentMethod: undefined }));
    expect(of({ tipAmount: 0, vouchers: [] })).toBe(of({ tipAmount: null, vouchers: null }));
  });

  // Stored with each payment: a different fingerprint would turn every retry of an older payment into a conflict.
  it('is the same in every release', () =>
    expect(of({})).toBe('7c574d59e4d7c412302823f1ce52a44a52efe12bddb3e499feac000421c92c6a'));
});

test('a customer without a name in the request has the name of its registration', () => {
  const known = { firstName: 'Thandi', lastName: 'Nkosi' };
  const unnamed = { id: 'c-1', firstName: '', lastName: '' };
  expect(namedCustomer(unnamed, known)).toEqual({ id: 'c-1', firstName: 'Thandi', lastName: 'Nkosi' });
  expect(namedCustomer(unnamed, undefined)).toEqual(unnamed);
  // First and last name come from the same source.
  expect(namedCustomer({ ...unnamed, firstName: 'Ada' }, known)).toEqual({ id: 'c-1', firstName: 'Ada', lastName: '' });
  expect(namedCustomer({ ...unnamed, lastName: 'L' }, known)).toEqual({ id: 'c-1', firstName: '', lastName: 'L' });
});
