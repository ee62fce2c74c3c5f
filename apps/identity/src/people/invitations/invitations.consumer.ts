import { Controller, Inject } from '@nestjs/common';
import {
  type AcceptInvitation,
  AcceptInvitationV1,
  type CreatedInvitation,
  type InvitationView,
  type InvitePerson,
  InvitePersonV1,
  type PeopleScope,
  type PersonActor,
  ReadInvitationV1,
  type StartedPersonSession,
  WithdrawInvitationV1,
} from '@svc/contracts';
import { MessagePattern } from '@svc/messaging';
import { AcceptInvitations } from './accept-invitation.js';
import { InvitePeople } from './invite-person.js';

/**
 * Invitations, for the console. A repeated invitation replaces the first, whose token becomes invalid; a repeated
 * acceptance is refused, because the token is used.
 */
@Controller()
export class InvitationsConsumer {
  constructor(
    @Inject(InvitePeople) private readonly invitePerson: InvitePeople,
    @Inject(AcceptInvitations) private readonly acceptInvitation: AcceptInvitations,
  ) {}

  @MessagePattern(InvitePersonV1)
  invite(request: InvitePerson): Promise<CreatedInvitation> {
    return this.invitePerson.execute(request);
  }

  @MessagePattern(WithdrawInvitationV1)
  async withdraw({
    actor,
    invitationId,
    ...scope
  }: PeopleScope & { actor: PersonActor; invitationId: string }): Promise<{ withdrawn: true }> {
    await this.invitePerson.withdraw(actor, scope, invitationId);
    return { withdrawn: true };
  }

  @MessagePattern(ReadInvitationV1)
  read({ invitationToken }: { invitationToken: string }): Promise<InvitationView> {
    return this.acceptInvitation.read(invitationToken);
  }

  @MessagePattern(AcceptInvitationV1)
  accept(request: AcceptInvitation): Promise<{ personId: string; session?: StartedPersonSession }> {
    return this.acceptInvitation.execute(request);
  }
}
