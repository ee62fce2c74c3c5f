// Bounds of the values in commands. The schema of a command only checks their types.
import {
  isRole,
  isText,
  MAX_DEVICE_NAME_LENGTH,
  MAX_EMAIL_LENGTH,
  MAX_IDENTIFIER_LENGTH,
  MAX_PASSKEY_RESPONSE_LENGTH,
  MAX_PASSWORD_LENGTH,
  type PasskeyProof,
  PEOPLE_LANGUAGES,
  type PeopleLanguage,
  type PeopleScope,
  type PersonActor,
  type Role,
  type SessionDevice,
} from '@svc/contracts';
import { DomainError, invalidField, isUuid } from '@svc/kernel';
import { canonicalEmail } from '../../users/user.js';
import { hashToken } from './token.js';

const SHA256 = /^[0-9a-f]{64}$/;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
/** One `@` and no white space. Only an email that arrives shows that the address exists. */
const EMAIL = /^[^\s@]+@[^\s@]+$/;
const MAX_ADDRESS_LENGTH = 45;
const MAX_ID = 999_999_999_999_999;

/** The email in the form in which it is stored and compared. Throws `request.invalid`. */
export function readEmail(email: string): string {
  if (!isText(email, MAX_EMAIL_LENGTH)) throw invalidField('email', 'email must be an email address');
  const canonical = canonicalEmail(email);
  if (canonical.length > MAX_EMAIL_LENGTH || !EMAIL.test(canonical))
    throw invalidField('email', 'email must be an email address');
  return canonical;
}

/**
 * Limits the length of a password that is only compared, so that its hash takes a bounded time. The length is counted
 * after NFKC, as when the password was set.
 */
export function readPassword(password: string): string {
  if (password.normalize('NFKC').length > MAX_PASSWORD_LENGTH)
    throw invalidField('password', `password must have at most ${MAX_PASSWORD_LENGTH} characters`);
  return password;
}

/** The IP address of a browser, as the console received it. */
export function readAddress(address: string): string {
  if (!isText(address, MAX_ADDRESS_LENGTH)) throw invalidField('address', 'address must be an IP address');
  return address;
}

/** The hash of a token. A text that cannot be a token is refused like an unknown token. */
export function readToken(token: string): string {
  if (!TOKEN.test(token)) throw new DomainError('resource.not-found');
  return hashToken(token);
}

export function readDevice(device: SessionDevice | undefined): SessionDevice | undefined {
  if (device === undefined) return undefined;
  if (!isText(device.name, MAX_DEVICE_NAME_LENGTH))
    throw invalidField('device', `device.name must be text of 1 to ${MAX_DEVICE_NAME_LENGTH} characters`);
  return { name: device.name, address: readAddress(device.address) };
}

export function readLanguage(language: string): PeopleLanguage {
  const known = PEOPLE_LANGUAGES.find((each) => each === language);
  if (known === undefined) throw invalidField('language', 'language must be en or af');
  return known;
}

export function readBrowser(browser: string): string {
  if (!SHA256.test(browser)) throw invalidField('browser', 'browser must be a SHA-256 in hexadecimal');
  return browser;
}

export function readSessionHash(sessionHash: string): string {
  if (!SHA256.test(sessionHash)) throw invalidField('sessionHash', 'sessionHash must be a SHA-256 in hexadecimal');
  return sessionHash;
}

export function readRequestId(requestId: string): string {
  if (!isText(requestId, MAX_IDENTIFIER_LENGTH)) throw invalidField('requestId', 'requestId must be text');
  return requestId;
}

export function readActor({ sessionHash, browser, requestId }: PersonActor): PersonActor {
  return {
    sessionHash: readSessionHash(sessionHash),
    browser: readBrowser(browser),
    requestId: readRequestId(requestId),
  };
}

/** A scope with ids that a merchant or site can have. */
export function readScope({ merchantId, siteId }: PeopleScope): PeopleScope {
  if (!isId(merchantId) || (siteId !== undefined && !isId(siteId))) throw new DomainError('resource.not-found');
  return { merchantId, ...(siteId === undefined ? {} : { siteId }) };
}

function isId(id: number): boolean {
  return Number.isInteger(id) && id >= 1 && id <= MAX_ID;
}

export function readRole(role: string): Role {
  if (!isRole(role)) throw invalidField('role', 'role must be owner, finance, support or developer');
  return role;
}

/** A UUID in lower case. Another text is refused like an unknown id. */
export function readUuid(id: string): string {
  if (!isUuid(id)) throw new DomainError('resource.not-found');
  return id.toLowerCase();
}

export function readPasskeyProof({ challengeToken, response }: PasskeyProof): {
  readonly challengeHash: string;
  readonly response: Record<string, unknown>;
} {
  if (JSON.stringify(response).length > MAX_PASSKEY_RESPONSE_LENGTH)
    throw invalidField('response', `response must have at most ${MAX_PASSKEY_RESPONSE_LENGTH} characters`);
  return { challengeHash: readToken(challengeToken), response };
}
