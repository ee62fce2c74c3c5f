import { invalidField } from '../domain-error.js';

/** Maximum length of the path parameter `{code}`, in characters (D1). */
export const MAX_CODE_LENGTH = 2_048;

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const utf8Decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Decodes the code in a path parameter (D1): base64 or base64url of UTF-8 text, with or without padding. The text is
 * trimmed. Throws `request.invalid` for any other parameter, because a tolerant decoder could return a code that the
 * caller did not send.
 */
export function decodeCodeParameter(parameter: string): string {
  if (parameter.length > MAX_CODE_LENGTH) throw invalidField('code', `code has at most ${MAX_CODE_LENGTH} characters`);
  const base64 = parameter.replaceAll('-', '+').replaceAll('_', '/');
  const isPadded = base64.endsWith('=');
  if (!BASE64.test(base64) || (isPadded ? base64.length % 4 !== 0 : base64.length % 4 === 1))
    throw invalidField('code', 'code must be base64 or base64url');
  const text = decodeUtf8(Buffer.from(base64, 'base64')).trim();
  if (text === '') throw invalidField('code', 'code must not be empty');
  return text;
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8Decoder.decode(bytes);
  } catch {
    throw invalidField('code', 'code must be base64 of UTF-8 text');
  }
}
