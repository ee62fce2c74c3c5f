import { TOTP_DIGITS, TOTP_PERIOD_SECONDS, type TotpSetup } from '@svc/contracts';
import { Secret, TOTP } from 'otpauth';
import { PRODUCT_NAME } from '../person/person.js';

/** RFC 4226 recommends 160 bits. */
const SECRET_BYTES = 20;
/** Codes of the previous and the next step are accepted, because the clock of a phone may differ by some seconds. */
const WINDOW = 1;

/** Creates a secret for an authenticator, which shows it with the email. */
export function newTotp(email: string): TotpSetup {
  const totp = totpOf(new Secret({ size: SECRET_BYTES }).base32, email);
  return { secret: totp.secret.base32, uri: totp.toString() };
}

/** The time step of a code, or undefined if it is the code of no step that is accepted now. */
export function findStep(secret: string, code: string, now: Date): number | undefined {
  if (!/^\d+$/.test(code) || code.length !== TOTP_DIGITS) return undefined;
  const totp = totpOf(secret);
  const timestamp = now.getTime();
  const delta = totp.validate({ token: code, timestamp, window: WINDOW });
  return delta === null ? undefined : totp.counter({ timestamp }) + delta;
}

/** SHA-1 is the only algorithm that all authenticators support. Its collisions have no effect on HMAC. */
function totpOf(secret: string, label = ''): TOTP {
  return new TOTP({
    issuer: PRODUCT_NAME,
    label,
    algorithm: 'SHA1',
    digits: TOTP_DIGITS,
    period: TOTP_PERIOD_SECONDS,
    secret,
  });
}
