import { Controller, Inject } from '@nestjs/common';
import { ListPeopleV1, type PeopleList, type PeopleScope, type PersonActor } from '@svc/contracts';
import { MessagePattern } from '@svc/messaging';
import { ListPeople } from './list-people.js';

/** The people of a merchant, for the console. */
@Controller()
export class DirectoryConsumer {
  constructor(@Inject(ListPeople) private readonly listPeople: ListPeople) {}

  @MessagePattern(ListPeopleV1)
  list({ actor, ...scope }: PeopleScope & { actor: PersonActor }): Promise<PeopleList> {
    return this.listPeople.execute(actor, scope);
  }
}
