import { Body, Controller, Delete, Get, Header, HttpCode, Inject, Param, Patch, Post, UseGuards } from '@nestjs/common';
import { AdminKeyGuard, Author, type ChangeAuthor } from '@svc/auth';
import { INVITATION_PATH } from '@svc/contracts';
import { uuidId } from '../../path-ids.js';
import { ChangeOperators } from './change-operator.js';
import { InviteOperators } from './invite-operator.js';
import { ListOperators, type OperatorList } from './list-operators.js';
import { ChangeOperatorRequest, InviteOperatorRequest } from './operators.requests.js';

/** An invitation of an operator, with the link that accepts it. */
interface OperatorInvitationLink {
  /**
   * UUID.
   * @schema uuid
   */
  readonly invitationId: string;
  /** Path at the address of the console, with a one-time token. It is shown only once. */
  readonly path: string;
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly expiresUTCDate: string;
}

/** People who operate the platform. Requires `x-admin-key`. Errors are RFC 9457 (C5). */
@Controller('admin/v1/operators')
@UseGuards(AdminKeyGuard)
export class OperatorsController {
  constructor(
    @Inject(InviteOperators) private readonly inviteOperators: InviteOperators,
    @Inject(ListOperators) private readonly listOperators: ListOperators,
    @Inject(ChangeOperators) private readonly changeOperators: ChangeOperators,
  ) {}

  /**
   * Invites an operator of the platform. An earlier invitation of the email becomes invalid.
   *
   * @returns 201 The path of the link, which is valid for 24 hours.
   * @throws resource.conflict The person is an operator already, or there are 50 open invitations.
   */
  @Post()
  @Header('cache-control', 'no-store')
  async invite(
    @Author() author: ChangeAuthor,
    @Body() request: InviteOperatorRequest,
  ): Promise<OperatorInvitationLink> {
    const { invitationId, invitationToken, expiresAt } = await this.inviteOperators.execute(author, request);
    return { invitationId, path: `${INVITATION_PATH}${invitationToken}`, expiresUTCDate: expiresAt.toISOString() };
  }

  /** Lists the operators, by name, and the open invitations, the newest first. */
  @Get()
  list(): Promise<OperatorList> {
    return this.listOperators.execute();
  }

  /**
   * Changes the role of an operator. `id` is a personId.
   *
   * @throws resource.not-found
   * @throws resource.conflict It is the last operator with the role operator.
   */
  @Patch(':id')
  @HttpCode(204)
  async change(
    @Author() author: ChangeAuthor,
    @Param('id', uuidId) personId: string,
    @Body() { role }: ChangeOperatorRequest,
  ): Promise<void> {
    await this.changeOperators.changeRole(author, personId, role);
  }

  /**
   * Removes an operator, or withdraws an invitation. `id` is a personId or an invitationId. The person keeps the roles at
   * merchants. A person without such a role is deleted, and can be invited again.
   *
   * @throws resource.not-found
   * @throws resource.conflict It is the last operator with the role operator.
   */
  @Delete(':id')
  @HttpCode(204)
  async remove(@Author() author: ChangeAuthor, @Param('id', uuidId) id: string): Promise<void> {
    if (await this.inviteOperators.withdraw(author, id)) return;
    await this.changeOperators.remove(author, id);
  }
}
