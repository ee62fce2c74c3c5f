import { commandType } from '../../events/envelope.js';
import type { OperatorRole } from '../../people/operators.js';
import type { RoleGrant } from '../../people/rights.js';

/*
 * The commands below go from the console to identity, while a person waits for a page. identity owns people and
 * everything with which they sign in, and has no pages; the console has all pages, and stores neither passwords nor
 * tokens. Commands are never on disk, so they may contain a password.
 *
 * Every token is 32 random bytes as base64url. identity stores only its SHA-256. An unknown, expired or used token is
 * refused with `resource.not-found`.
 */

export type SecondFactor = 'totp' | 'passkey';

/** The person who acts, as proved by the session of a browser. */
export interface PersonActor {
  /** SHA-256 of the session token, in hexadecimal. */
  sessionHash: string;
  /** SHA-256 of the browser's header `User-Agent`, in hexadecimal. Another value than at the sign-in ends the session. */
  browser: string;
  /** `x-request-id` of the console's response, for the audit log (C8). */
  requestId: string;
}

/** The device of a new session, as its person sees it in the list of sessions. */
export interface SessionDevice {
  /** Browser and operating system, such as `Firefox · Android`: 1 to 60 characters. */
  name: string;
  /** IP address of the browser. */
  address: string;
}

/** A session that has begun. The console stores the token in the cookie of the browser and nowhere else. */
export interface StartedPersonSession {
  sessionToken: string;
  /** ISO 8601 UTC: 12 hours after the sign-in. */
  expiresUTCDate: string;
  /** Whether the person has no second factor yet. Such a session has no roles and can only set one up. */
  setUpRequired: boolean;
}

export interface PersonSession {
  /** @schema uuid */
  sessionId: string;
  /** @schema uuid */
  personId: string;
  name: string;
  email: string;
  /** Empty while `setUpRequired`. */
  roles: RoleGrant[];
  /** Absent while `setUpRequired`, and if the person is no operator of the platform. */
  operatorRole?: OperatorRole;
  secondFactors: SecondFactor[];
  /** See {@link StartedPersonSession}. */
  setUpRequired: boolean;
  /** ISO 8601 UTC. The last time that the person signed in or confirmed. */
  authenticatedUTCDate: string;
  startedUTCDate: string;
  expiresUTCDate: string;
}

export interface BeginSignIn {
  email: string;
  password: string;
  /** IP address of the browser, for the limit of wrong passwords. */
  address: string;
}

export interface BegunSignIn {
  /** Valid for five minutes, for one session. */
  signInToken: string;
  /** The second factors of the person. Empty: the session can only set one up. */
  secondFactors: SecondFactor[];
}

/**
 * Checks a password. Refused with `authentication.failed`, in the same time whether or not the person exists. Refused with
 * `request.rate-limited` while the password is closed after ten failures in 30 minutes, even if it is right, and even if
 * the person does not exist. A passkey still works.
 */
export const BeginSignInV1 = commandType<BeginSignIn, BegunSignIn>('begin-sign-in.v1');

export interface FinishSignIn {
  signInToken: string;
  /** The six digits of a TOTP authenticator. Absent only if the person has no second factor. */
  code?: string;
  /** See {@link PersonActor}. */
  browser: string;
  device?: SessionDevice;
}

/**
 * Begins a session after the password. A code is accepted once. Refused with `authentication.failed` for a wrong or used
 * code, with `resource.not-found` after five wrong codes, and with `request.rate-limited` after ten wrong codes of the
 * person in 30 minutes.
 */
export const FinishSignInV1 = commandType<FinishSignIn, StartedPersonSession>('finish-sign-in.v1');

export interface PasskeyChallenge {
  /** `PublicKeyCredentialCreationOptionsJSON` or `PublicKeyCredentialRequestOptionsJSON` for the browser. */
  options: Record<string, unknown>;
  /** Valid for five minutes, for one answer of the browser. */
  challengeToken: string;
}

export interface PasskeyProof {
  challengeToken: string;
  /** The answer of the browser: `toJSON()` of its `PublicKeyCredential`. */
  response: Record<string, unknown>;
}

/**
 * Requests a passkey, for a sign-in or a confirmation. The address limits the number of open requests: a further one
 * replaces the oldest of the address.
 */
export const BeginPasskeySignInV1 = commandType<{ address: string }, PasskeyChallenge>('begin-passkey-sign-in.v1');

export interface FinishPasskeySignIn extends PasskeyProof {
  /** See {@link PersonActor}. */
  browser: string;
  device?: SessionDevice;
}

/**
 * Begins a session with a passkey that verifies its user, without a password. Refused with `authentication.failed` for an
 * unknown passkey, a wrong signature or a signature counter that did not grow.
 */
export const FinishPasskeySignInV1 = commandType<FinishPasskeySignIn, StartedPersonSession>(
  'finish-passkey-sign-in.v1',
);

export interface FinishLinkSignIn {
  linkToken: string;
  /** See {@link PersonActor}. */
  browser: string;
  device?: SessionDevice;
}

/** Begins a session with a sign-in link of the administration. In development only: refused with `resource.not-found`. */
export const FinishLinkSignInV1 = commandType<FinishLinkSignIn, StartedPersonSession>('finish-link-sign-in.v1');

export interface ReadPersonSession {
  /** See {@link PersonActor}. */
  sessionHash: string;
  browser: string;
  /**
   * Whether the person does something now. Otherwise the page renews itself, which does not delay the end of an idle
   * session of an operator.
   */
  isActivity: boolean;
}

/**
 * Reads a session. Without `session` in the reply, the browser is not signed in: the session is unknown, has ended or
 * expired, or began in another browser, which ends it. The session of an operator has also ended 15 minutes after the
 * last activity. The console may keep the reply for at most 5 s.
 */
export const ReadPersonSessionV1 = commandType<ReadPersonSession, { session?: PersonSession }>(
  'read-person-session.v1',
);

/*
 * Each command below has an actor. It is refused with `authentication.required` if the actor's session is not valid, and
 * if the command also requires a confirmation, when the person has neither signed in nor confirmed for ten minutes. It is
 * refused with `credentials.forbidden` if the actor's roles do not give the right, or if the session can only set up a
 * second factor.
 */

export interface EndPersonSession {
  actor: PersonActor;
  /**
   * `current`, `others` (every session of the person except this one), or the id of one session of the person.
   */
  sessions: string;
}

/** Signs out. */
export const EndPersonSessionV1 = commandType<EndPersonSession, { ended: number }>('end-person-session.v1');

export interface PersonSessionEntry {
  /** @schema uuid */
  sessionId: string;
  startedUTCDate: string;
  expiresUTCDate: string;
  /** How the person signed in. */
  method: 'password' | 'passkey' | 'link';
  /** Absent if it is unknown. */
  device?: SessionDevice;
  /** Whether it is the session of the actor. */
  current: boolean;
}

/** The valid sessions of the actor, the newest first, at most 20. */
export const ListPersonSessionsV1 = commandType<{ actor: PersonActor }, { sessions: PersonSessionEntry[] }>(
  'list-person-sessions.v1',
);

export interface ConfirmPerson {
  actor: PersonActor;
  /** IP address of the browser, for the limit of wrong passwords. */
  address: string;
  /** Password and TOTP code, or a passkey. A person with passkeys only confirms with a passkey. */
  password?: string;
  code?: string;
  passkey?: PasskeyProof;
}

/**
 * Asks the person again before a sensitive action, and sets `authenticatedUTCDate`. Refused as a sign-in with the same
 * proof.
 */
export const ConfirmPersonV1 = commandType<ConfirmPerson, { authenticatedUTCDate: string }>('confirm-person.v1');

export interface TotpSetup {
  /** base32, for a person who types it. */
  secret: string;
  /** `otpauth:` URL, for a QR code. */
  uri: string;
}

/**
 * Creates a TOTP secret, valid for ten minutes until its first code. It replaces an earlier secret only then. Requires a
 * confirmation, unless the session can only set up a second factor.
 */
export const BeginTotpV1 = commandType<{ actor: PersonActor }, TotpSetup>('begin-totp.v1');

/**
 * Stores the new TOTP secret if the code is right. A session that could only set up a second factor gets its roles: the
 * console discards its copy of the session. Refused with `authentication.failed` for a wrong code, and with
 * `resource.not-found` after ten minutes.
 */
export const ConfirmTotpV1 = commandType<{ actor: PersonActor; code: string }, { confirmed: true }>('confirm-totp.v1');

/** Requests a new passkey. Requires a confirmation, as {@link BeginTotpV1}. Refused with `resource.conflict` after ten. */
export const BeginPasskeyRegistrationV1 = commandType<{ actor: PersonActor }, PasskeyChallenge>(
  'begin-passkey-registration.v1',
);

export interface FinishPasskeyRegistration extends PasskeyProof {
  actor: PersonActor;
  /** What the person calls the passkey: 1 to 60 characters. */
  name: string;
}

/**
 * Stores the new passkey. A session that could only set up a second factor gets its roles, as after
 * {@link ConfirmTotpV1}. Refused with `authentication.failed` for an invalid answer of the browser.
 */
export const FinishPasskeyRegistrationV1 = commandType<FinishPasskeyRegistration, { passkeyId: string }>(
  'finish-passkey-registration.v1',
);

export interface SecondFactorList {
  /** Absent if the person has no TOTP secret. */
  totp?: { createdUTCDate: string };
  passkeys: PasskeyEntry[];
}

export interface PasskeyEntry {
  /** @schema uuid */
  passkeyId: string;
  name: string;
  createdUTCDate: string;
  lastUsedUTCDate?: string;
}

/** The second factors of the actor. */
export const ListSecondFactorsV1 = commandType<{ actor: PersonActor }, SecondFactorList>('list-second-factors.v1');

/**
 * Removes `totp` or the passkey with this id. Requires a confirmation. Refused with `resource.conflict` for the last second
 * factor.
 */
export const RemoveSecondFactorV1 = commandType<{ actor: PersonActor; factor: string }, { removed: true }>(
  'remove-second-factor.v1',
);
