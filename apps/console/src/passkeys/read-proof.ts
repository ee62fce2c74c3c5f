import { MAX_PASSKEY_RESPONSE_LENGTH, type PasskeyProof } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { readField } from '../layout/forms.js';

/** Length of a token of identity: 32 bytes as base64url. */
const MAX_TOKEN_LENGTH = 43;

/** The answer of the browser, from the form that the script filled in. Throws `authentication.failed`. */
export function readPasskeyProof(form: unknown): PasskeyProof {
  const challengeToken = readField(form, 'challengeToken', MAX_TOKEN_LENGTH);
  const response = parseObject(readField(form, 'response', MAX_PASSKEY_RESPONSE_LENGTH));
  if (challengeToken === undefined || response === undefined) throw new DomainError('authentication.failed');
  return { challengeToken, response };
}

function parseObject(text = ''): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
