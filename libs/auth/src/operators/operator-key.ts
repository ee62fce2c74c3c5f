import { randomBytes } from 'node:crypto';

/** The beginning of each key of an operator. */
export const OPERATOR_KEY_PREFIX = 'svc_operator_';

const OPERATOR_KEY_PATTERN = new RegExp(`^${OPERATOR_KEY_PREFIX}[A-Za-z0-9_-]{43}$`);

/** A new key of an operator for the administration API: a prefix, by which scanners recognise it, and 32 random bytes. */
export function newOperatorKey(): string {
  return `${OPERATOR_KEY_PREFIX}${randomBytes(32).toString('base64url')}`;
}

/** Whether the text has the format of an operator's key. Other texts are rejected without a database query. */
export function hasOperatorKeyFormat(text: string): boolean {
  return OPERATOR_KEY_PATTERN.test(text);
}
