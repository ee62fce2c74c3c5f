import {
  type InvitationEntry,
  type PeopleList,
  type PersonEntry,
  type Role,
  type RoleGrant,
  ROLES,
} from '@svc/contracts';
import type { KnownSite } from '../merchants/merchant.repository.js';

/** The people and invitations of several sites as one list, by name. A person with roles at several sites is in it once. */
export function mergePeople(lists: readonly PeopleList[]): PeopleList {
  const people = new Map<string, PersonEntry>();
  const invitations = new Map<string, InvitationEntry>();
  for (const list of lists) {
    for (const person of list.people) {
      const roles: RoleGrant[] = [...(people.get(person.personId)?.roles ?? []), ...person.roles];
      people.set(person.personId, { ...person, roles });
    }
    for (const invitation of list.invitations) invitations.set(invitation.invitationId, invitation);
  }
  return {
    people: [...people.values()].sort((a, b) => a.name.localeCompare(b.name)),
    invitations: [...invitations.values()].sort((a, b) => b.createdUTCDate.localeCompare(a.createdUTCDate)),
  };
}

/** Where a role is valid, from a form: the whole merchant, or a site. */
export interface Place {
  /** undefined for the whole merchant. */
  readonly siteId: number | undefined;
}

/**
 * The place of a form: empty for the whole merchant, else the id of a site. Undefined if the person manages no people
 * there.
 */
export function parsePlace(
  text: string | undefined,
  sites: 'all' | readonly number[],
  known: readonly KnownSite[],
): Place | undefined {
  if (text === undefined) return sites === 'all' ? { siteId: undefined } : undefined;
  const site = known.find(({ siteId }) => String(siteId) === text);
  const isManaged = site !== undefined && (sites === 'all' || sites.includes(site.siteId));
  return isManaged ? { siteId: site.siteId } : undefined;
}

export function parseRole(text: string | undefined): Role | undefined {
  return ROLES.find((role) => role === text);
}
