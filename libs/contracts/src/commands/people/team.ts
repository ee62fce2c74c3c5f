import { commandType } from '../../events/envelope.js';
import type { OperatorRole } from '../../people/operators.js';
import type { Role, RoleGrant } from '../../people/rights.js';
import type { PersonActor, SecondFactor, SessionDevice, StartedPersonSession } from './people.js';

/*
 * The commands about the people of a merchant: invitations, roles and lost second factors. As those of people.ts they go
 * from the console to identity, with an actor; see there for the common refusals.
 */

/** The languages of mails to people. */
export const PEOPLE_LANGUAGES = ['en', 'af'] as const;
export type PeopleLanguage = (typeof PEOPLE_LANGUAGES)[number];

/** A merchant, or only one of its sites. */
export interface PeopleScope {
  merchantId: number;
  siteId?: number;
}

export interface InvitePerson extends PeopleScope {
  actor: PersonActor;
  /**
   * Chosen by the console for each form, so that a repeat is the same invitation.
   * @schema uuid
   */
  invitationId: string;
  role: Role;
  email: string;
  /** Language of the mail. */
  language: PeopleLanguage;
}

export interface CreatedInvitation {
  /** @schema uuid */
  invitationId: string;
  /**
   * Valid for 24 hours, for one acceptance. Only if the platform sends no mails: then the inviting person passes the link
   * on. Otherwise only the mail contains it.
   */
  invitationToken?: string;
  expiresUTCDate: string;
}

/**
 * Invites a person, by a mail with a link. An earlier invitation of the email to the same scope becomes invalid. A repeat
 * with the same `invitationId` sends no second mail; without mails, it replaces the token. Requires `people.manage` and a
 * confirmation. Refused with `resource.conflict` if the person has a role there already, or if the merchant has 200 people
 * or 100 open invitations, and with `request.rate-limited` after 200 mails of the merchant in 24 hours.
 */
export const InvitePersonV1 = commandType<InvitePerson, CreatedInvitation>('invite-person.v1');

/** Makes an open invitation invalid. Requires `people.manage` and a recent confirmation. Refused with `resource.not-found`. */
export const WithdrawInvitationV1 = commandType<
  PeopleScope & { actor: PersonActor; invitationId: string },
  { withdrawn: true }
>('withdraw-invitation.v1');

interface OpenInvitation {
  email: string;
  expiresUTCDate: string;
  /** Whether a person has this email. Such a person signs in first, and then accepts without a name and a password. */
  personExists: boolean;
}

export interface MerchantInvitationView extends OpenInvitation {
  merchantId: number;
  merchantName: string;
  siteId?: number;
  siteName?: string;
  role: Role;
}

/** An invitation to operate the platform. */
export interface OperatorInvitationView extends OpenInvitation {
  operatorRole: OperatorRole;
}

export type InvitationView = MerchantInvitationView | OperatorInvitationView;

/** Reads an invitation without using it. Refused with `resource.not-found`. */
export const ReadInvitationV1 = commandType<{ invitationToken: string }, InvitationView>('read-invitation.v1');

export interface AcceptInvitation {
  invitationToken: string;
  /** See {@link PersonActor}. */
  browser: string;
  device?: SessionDevice;
  requestId: string;
  /** Of a new person: 1 to 100 characters. */
  name?: string;
  /** Of a new person: 12 to 128 characters, and neither the email nor the name. */
  password?: string;
  /** SHA-256 of the session token of a person who exists already, in hexadecimal. */
  sessionHash?: string;
}

/**
 * Uses an invitation. A new person is created and gets the `session`, which can only set up a second factor. A person who
 * exists already gets the role, and keeps the session.
 *
 * Refused with `authentication.required` if the person exists and is not signed in, with `credentials.forbidden` if
 * another person is signed in, with `request.invalid` for an invalid name or password, and with `resource.conflict` if the
 * person has a role there already. The invitation is still valid after a refusal.
 */
export const AcceptInvitationV1 = commandType<AcceptInvitation, { personId: string; session?: StartedPersonSession }>(
  'accept-invitation.v1',
);

export interface PersonEntry {
  /** @schema uuid */
  personId: string;
  name: string;
  email: string;
  /** The roles of the person in the scope of the request. */
  roles: RoleGrant[];
  secondFactors: SecondFactor[];
  lastSignInUTCDate?: string;
}

export interface InvitationEntry {
  /** @schema uuid */
  invitationId: string;
  email: string;
  siteId?: number;
  role: Role;
  createdUTCDate: string;
  expiresUTCDate: string;
  /**
   * `waiting`: the SMTP server has not accepted the mail yet. `sent`: it has. `rejected`: it does not accept the address.
   * Absent without a mail: the link was shown to the person who invited.
   */
  mail?: 'waiting' | 'sent' | 'rejected';
}

export interface PeopleList {
  /** By name. */
  people: PersonEntry[];
  /** The invitations that are neither accepted nor expired, the newest first. */
  invitations: InvitationEntry[];
}

/**
 * The people of a merchant and of all its sites, or only those with a role at one site. Requires `people.read` there.
 */
export const ListPeopleV1 = commandType<PeopleScope & { actor: PersonActor }, PeopleList>('list-people.v1');

export interface ChangeRole extends PeopleScope {
  actor: PersonActor;
  personId: string;
  role: Role;
}

/**
 * Changes the role that a person has exactly at this merchant or site. Requires `people.manage` and a confirmation. Refused
 * with `resource.not-found` if the person has no role there, and with `resource.conflict` for the last owner of the
 * merchant.
 */
export const ChangeRoleV1 = commandType<ChangeRole, { changed: true }>('change-role.v1');

/**
 * Removes a person from one site, or from the merchant with all its sites. A person without any role is deleted, with the
 * sessions. Requires `people.manage` and a confirmation. Refused as {@link ChangeRoleV1}.
 */
export const RemovePersonV1 = commandType<PeopleScope & { actor: PersonActor; personId: string }, { removed: true }>(
  'remove-person.v1',
);

export interface ResetSecondFactors {
  actor: PersonActor;
  merchantId: number;
  personId: string;
  /** Language of the mail to the person. */
  language: PeopleLanguage;
}

/**
 * Removes all second factors of a person who lost them, and ends the sessions. At the next sign-in the password is enough
 * to set up a new second factor, and the person gets a mail. Requires `people.manage` at the whole merchant and a
 * confirmation. Refused with `resource.not-found` if the person has no role there, and with `resource.conflict` for the
 * actor, and for a person with a role at another merchant at which the actor does not manage people.
 */
export const ResetSecondFactorsV1 = commandType<ResetSecondFactors, { reset: true }>('reset-second-factors.v1');
