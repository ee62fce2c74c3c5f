import { MAX_URL_LENGTH } from '@svc/contracts';
import type { PaymentProcessorConfig } from '../config.js';
import { BankReturnUrls } from './bank-return-urls.js';

/** The maximum of `returnUrl` in Adyen's OpenAPI document. */
const MAX_LENGTH_AT_ADYEN = 8_000;
/** The longest value that `IsBaseUrl` accepts. */
const API_URL = `https://${'a'.repeat(192)}`;

const returnUrls = new BankReturnUrls({
  SVC_API_URL: API_URL,
  SVC_SEALING_KEY: Buffer.alloc(32).toString('base64url'),
} as PaymentProcessorConfig);

// The URL of a partner is encoded and has at most 2048 characters before it becomes a parameter (`payment-rules.ts`).
test.each(['%', '/', 'a', '%E4%B8%80'])('the longest URL of %s is accepted by Adyen, and returns the payer', (text) => {
  const payerReturnUrl = `https://partner.example/${text.repeat(MAX_URL_LENGTH)}`.slice(0, MAX_URL_LENGTH);
  const url = returnUrls.build('1SGF2M0T0A1B2C3D4E', payerReturnUrl);
  expect(url.length).toBeLessThanOrEqual(MAX_LENGTH_AT_ADYEN);
  const { to, signature } = Object.fromEntries(new URL(url).searchParams);
  expect(returnUrls.verify('1SGF2M0T0A1B2C3D4E', to, signature)).toEqual({ payerReturnUrl });
});
