import { Inject, Injectable } from '@nestjs/common';
import { ListPeopleV1, type PeopleList, type PersonEntry } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import type { MerchantViewer } from '../viewer/viewer.js';
import { mergePeople } from './team.js';

/** Reads the people of a merchant from identity, which alone stores them. */
@Injectable()
export class FindPeople {
  constructor(@Inject(Commands) private readonly commands: Commands) {}

  /** The people of the merchant, or of the sites at which the viewer may see them. */
  async list({ actor, scope }: MerchantViewer): Promise<PeopleList> {
    const { merchantId, sites } = scope;
    if (sites === 'all') return this.commands.request(ListPeopleV1, { actor, merchantId });
    const lists = sites.map((siteId) => this.commands.request(ListPeopleV1, { actor, merchantId, siteId }));
    return mergePeople(await Promise.all(lists));
  }

  /** Throws `resource.not-found` if the viewer does not see this person. */
  async get(viewer: MerchantViewer, id: string): Promise<PersonEntry> {
    const { people } = await this.list(viewer);
    const person = people.find(({ personId }) => personId === id);
    if (!person) throw new DomainError('resource.not-found');
    return person;
  }
}
