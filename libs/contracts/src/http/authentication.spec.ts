import { anyText, type Bounds, describeBounds, label, optional, text, validationErrors } from '../../test/bounds.js';
import {
  CreateUserRequest,
  CustomerLoginRequest,
  RegisterCustomerRequest,
  ServiceLoginRequest,
} from './authentication.js';

/** An email address of exactly this length, whose parts are as long as the standard allows. */
const emailOfLength = (length: number): string => {
  const label = 'a'.repeat(60);
  const domain = `${label}.${label}.${label}.example`;
  return `${'u'.repeat(length - domain.length - 1)}@${domain}`;
};
const email: Bounds = {
  accepted: ['a@b.example', 'A.b+c@b.example', emailOfLength(254)],
  rejected: [undefined, null, '', 'a', 'a@b', 'a@b.example\n', '\ud83d@b.example', 7, emailOfLength(255)],
};

// Each field must accept the values at its limits, and reject the values just beyond them.
describeBounds(
  ServiceLoginRequest,
  { apiToken: 't', organisationId: 'o' },
  { apiToken: text(200), organisationId: text(100) },
);
describeBounds(
  CreateUserRequest,
  { email: 'a@b.example', password: '12345678' },
  { email, password: anyText(128, 8), firstName: optional(label(100)), lastName: optional(label(100)) },
);
describeBounds(RegisterCustomerRequest, { userId: 'u' }, { userId: text(100) });
describeBounds(
  CustomerLoginRequest,
  { email: 'a@b.example', password: 'p' },
  { email: text(254), password: anyText(128) },
);

test('the error message for an email address contains its maximum length', () => {
  expect(validationErrors(CreateUserRequest, { email: 'a', password: '12345678' })).toEqual({
    email: { isEmailAddress: 'email must be an email address of at most 254 characters' },
  });
});
