// Limits of people, their invitations and their sessions. identity enforces them; the console shows them.

/** Longest name of a person, in characters. */
export const MAX_PERSON_NAME_LENGTH = 100;
/** Shortest and longest password, in characters. */
export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 128;
/** Longest name that a person gives to a passkey, in characters. */
export const MAX_PASSKEY_NAME_LENGTH = 60;
/** Longest answer of a browser about a passkey, in characters of its JSON text. */
export const MAX_PASSKEY_RESPONSE_LENGTH = 16_384;

export const MAX_PASSKEYS_PER_PERSON = 10;
/** Sessions of a person at the same time. A further sign-in ends the oldest session. */
export const MAX_SESSIONS_PER_PERSON = 20;
/** People with a role at a merchant or at one of its sites. */
export const MAX_PEOPLE_PER_MERCHANT = 200;
/** Invitations of a merchant that are neither accepted nor expired. */
export const MAX_INVITATIONS_PER_MERCHANT = 100;
/** Mails of a merchant to people within 24 hours. Without it, invitations could flood an address. */
export const MAX_PEOPLE_MAILS_PER_DAY = 200;
/** People who are operators of the platform. */
export const MAX_OPERATORS = 50;
/** Invitations of operators that are neither accepted nor expired. */
export const MAX_OPERATOR_INVITATIONS = 50;
/** Valid keys of an operator for the administration API. */
export const MAX_KEYS_PER_OPERATOR = 5;
/** Longest validity of such a key, in days. */
export const MAX_OPERATOR_KEY_DAYS = 90;
/** Longest name of a session's device, in characters. */
export const MAX_DEVICE_NAME_LENGTH = 60;
/** Roles of a person at all merchants and sites. */
export const MAX_ROLES_PER_PERSON = 100;

export const INVITATION_MS = 24 * 60 * 60_000;
/** Time between a right password and the second factor. */
export const SIGN_IN_MS = 5 * 60_000;
/** Time in which a browser answers a request for a passkey. */
export const PASSKEY_CHALLENGE_MS = 5 * 60_000;
/** Time in which a person enters the first code of a new TOTP secret. */
export const TOTP_SETUP_MS = 10 * 60_000;
/** A session ends this long after the sign-in, used or not. */
export const SESSION_MS = 12 * 60 * 60_000;
/** A session of an operator also ends if its person has opened no page for this long. */
export const OPERATOR_IDLE_MS = 15 * 60_000;
/**
 * A sensitive action requires that the person has signed in or confirmed this recently (`authenticatedUTCDate`). identity
 * checks it for every change of people and second factors.
 */
export const CONFIRMATION_MS = 10 * 60_000;

/** Number of digits of a TOTP code, and the time for which an authenticator shows it. */
export const TOTP_DIGITS = 6;
export const TOTP_PERIOD_SECONDS = 30;

/** This many wrong passwords of one email within {@link PASSWORD_CLOSED_MS} close the password for that long. */
export const MAX_WRONG_PASSWORDS = 10;
export const PASSWORD_CLOSED_MS = 30 * 60_000;
/** As {@link MAX_WRONG_PASSWORDS}, for all emails that one address tries. */
export const MAX_WRONG_PASSWORDS_PER_ADDRESS = 100;
/** This many wrong codes of one person within {@link PASSWORD_CLOSED_MS} close the codes for that long. */
export const MAX_WRONG_CODES = 10;
/** Wrong codes after one right password. Then the person enters the password again. */
export const MAX_WRONG_CODES_PER_SIGN_IN = 5;
