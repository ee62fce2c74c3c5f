import { Inject, Injectable } from '@nestjs/common';
import type { InvitationEntry, PeopleList, PeopleScope, PersonActor, PersonEntry } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { getMerchant } from '../../merchants/merchant.repository.js';
import { type ListedInvitation, listInvitations } from '../invitations/invitation.repository.js';
import { readScope } from '../person/input.js';
import { toRoleGrant, toSecondFactors } from '../person/person.js';
import { type ListedPerson, listPeople } from '../roles/role.repository.js';
import { AuthenticateActor } from '../sessions/authenticate-actor.js';

/** Lists the people and open invitations of a merchant, or of one of its sites. */
@Injectable()
export class ListPeople {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(AuthenticateActor) private readonly actors: AuthenticateActor,
  ) {}

  async execute(actor: PersonActor, requested: PeopleScope): Promise<PeopleList> {
    const scope = readScope(requested);
    await this.actors.authorise(actor, 'people.read', scope);
    return this.list(scope);
  }

  /** Throws `resource.not-found`. */
  async executeByAdministrator(merchantId: number): Promise<PeopleList> {
    await getMerchant(this.dataSource.manager, merchantId);
    return this.list({ merchantId });
  }

  private async list(scope: PeopleScope): Promise<PeopleList> {
    const { manager } = this.dataSource;
    const people = await listPeople(manager, scope);
    const invitations = await listInvitations(manager, scope, this.clock.now());
    return { people: people.map(toPersonEntry), invitations: invitations.map(toInvitationEntry) };
  }
}

function toPersonEntry(person: ListedPerson): PersonEntry {
  const { personId, name, email, roles, lastSignInAt } = person;
  return {
    personId,
    name,
    email,
    roles: roles.map(toRoleGrant),
    secondFactors: toSecondFactors(person),
    ...(lastSignInAt ? { lastSignInUTCDate: lastSignInAt.toISOString() } : {}),
  };
}

function toInvitationEntry(invitation: ListedInvitation): InvitationEntry {
  const { invitationId, email, siteId, role, createdAt, expiresAt, mail } = invitation;
  return {
    invitationId,
    email,
    ...(siteId === null ? {} : { siteId }),
    role,
    createdUTCDate: createdAt.toISOString(),
    expiresUTCDate: expiresAt.toISOString(),
    ...(mail === null ? {} : { mail }),
  };
}
