import { Controller, Inject } from '@nestjs/common';
import { type ChangeRole, ChangeRoleV1, type PeopleScope, type PersonActor, RemovePersonV1 } from '@svc/contracts';
import { MessagePattern } from '@svc/messaging';
import { ChangeRoles } from './change-role.js';
import { RemovePeople } from './remove-person.js';

/** Roles of people at merchants, for the console. A repeated change changes nothing, a repeated removal is refused. */
@Controller()
export class RolesConsumer {
  constructor(
    @Inject(ChangeRoles) private readonly changeRoles: ChangeRoles,
    @Inject(RemovePeople) private readonly removePeople: RemovePeople,
  ) {}

  @MessagePattern(ChangeRoleV1)
  async change(request: ChangeRole): Promise<{ changed: true }> {
    await this.changeRoles.execute(request);
    return { changed: true };
  }

  @MessagePattern(RemovePersonV1)
  async remove({
    actor,
    personId,
    ...scope
  }: PeopleScope & { actor: PersonActor; personId: string }): Promise<{ removed: true }> {
    await this.removePeople.execute(actor, scope, personId);
    return { removed: true };
  }
}
