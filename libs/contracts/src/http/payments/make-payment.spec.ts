import {
  amount,
  anyText,
  type Bounds,
  describeBounds,
  label,
  nested,
  nestedList,
  optional,
  text,
  validationErrors,
  wholeNumber,
} from '../../../test/bounds.js';
import {
  CardRequest,
  ExternalPaymentRequest,
  MakePaymentRequest,
  PaymentCustomerRequest,
  PaymentMethodRequest,
  VoucherRequest,
} from './make-payment.js';

const UUID = '0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2f';
const VOUCHER = { merchantLiable: true, amount: 1 };
const EXTERNAL = { type: 'EFT', status: 'success', reference: 'x' };
const uuid: Bounds = {
  accepted: [UUID, UUID.toUpperCase()],
  rejected: [undefined, null, '', 'x', `${UUID}0`, 7, [UUID]],
};

// Each field must accept the values at its limits, and reject the values just beyond them.
describeBounds(
  PaymentCustomerRequest,
  { id: UUID },
  { id: text(100), firstName: optional(label(100)), lastName: optional(label(100)) },
);
describeBounds(VoucherRequest, VOUCHER, {
  merchantLiable: { accepted: [true, false], rejected: [undefined, null, 'true', 1] },
  amount,
});
describeBounds(
  CardRequest,
  {},
  {
    token: optional(text(100)),
    encryptedCard: optional(anyText(4_096)),
    cardNumber: optional(anyText(40)),
    cvv: optional(anyText(40)),
    holderName: optional(label(100)),
    expiryMonth: optional(wholeNumber),
    expiryYear: optional(wholeNumber),
  },
);
describeBounds(ExternalPaymentRequest, EXTERNAL, {
  type: label(100),
  status: { accepted: ['success', 'failed'], rejected: [undefined, null, '', 'Success', 'processing', 1] },
  reference: text(100),
});
describeBounds(
  PaymentMethodRequest,
  {},
  { card: optional(nested({ token: 't' }, { token: 7 })), external: optional(nested(EXTERNAL, {})) },
);
describeBounds(
  MakePaymentRequest,
  { reference: UUID, amount: 1 },
  {
    reference: uuid,
    code: optional(anyText(2_048)),
    invoiceReference: optional(text(100)),
    amount,
    tipAmount: optional({
      accepted: [0, 1, 100_000_000_000],
      rejected: [-1, 1.5, 100_000_000_001, '1', true, Number.NaN],
    }),
    orderReference: optional(text(100)),
    vouchers: optional(nestedList(20, VOUCHER, { amount: 1 })),
    customer: optional(nested({ id: 'loyalty-17' }, { id: '' })),
    paymentMethod: optional(nested({ external: EXTERNAL }, { external: {} })),
    returnUrl: optional(anyText(2_048)),
  },
);

test('the error message for a tip contains its limits', () => {
  expect(validationErrors(MakePaymentRequest, { reference: UUID, amount: 1, tipAmount: 0.5 })).toEqual({
    tipAmount: { isInt: 'tipAmount must be a whole number of cents from 0 to 100000000000' },
  });
});

test('the error for a nested field names its path', () => {
  const body = { reference: UUID, amount: 1, paymentMethod: { card: { token: 7, expiryMonth: '1' } } };
  const paths = Object.keys(validationErrors(MakePaymentRequest, body));
  expect(paths.sort()).toEqual(['paymentMethod.card.expiryMonth', 'paymentMethod.card.token']);
});
