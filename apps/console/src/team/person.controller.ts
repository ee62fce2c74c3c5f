import { Body, Get, HttpStatus, Inject, Param, Post, Res } from '@nestjs/common';
import { ChangeRoleV1, RemovePersonV1, ResetSecondFactorsV1 } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import type { FastifyReply } from 'fastify';
import { Allow, CallingViewer, PageController } from '../access/access.guard.js';
import { readField } from '../layout/forms.js';
import { pathOf } from '../layout/layout.js';
import { redirect, sendPage } from '../layout/page-sender.js';
import { PersonSessions } from '../viewer/person-sessions.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import { FindPeople } from './find-people.js';
import { renderPersonPage } from './person-page.js';
import { toLanguage, toScope } from './team.controller.js';
import { parsePlace, parseRole, type Place } from './team.js';
import type { TeamDone } from './team-page.js';

const MAX_FIELD_LENGTH = 36;

/** One person of a merchant: roles, removal, lost second factors. identity checks each change again. */
@PageController(':merchantId/:mode/team/:id')
export class PersonController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(FindPeople) private readonly findPeople: FindPeople,
    @Inject(PersonSessions) private readonly sessions: PersonSessions,
  ) {}

  @Get()
  @Allow({ right: 'people.read' })
  async show(
    @CallingViewer() viewer: MerchantViewer,
    @Param('id') id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const person = await this.findPeople.get(viewer, id);
    await sendPage(reply, HttpStatus.OK, renderPersonPage({ viewer, person }));
  }

  @Post('role')
  @Allow({ right: 'people.manage', isConfirmed: true })
  async changeRole(
    @CallingViewer() viewer: MerchantViewer,
    @Param('id') personId: string,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { actor, texts } = viewer;
    const scope = toScope(viewer, readPlace(viewer, form));
    const role = parseRole(readField(form, 'role', MAX_FIELD_LENGTH));
    if (role === undefined) throw new DomainError('request.invalid', { message: texts.team.problems.invalid });
    await this.change(reply, viewer, personId, 'changed', () =>
      this.commands.request(ChangeRoleV1, { actor, ...scope, personId, role }),
    );
  }

  @Post('remove')
  @Allow({ right: 'people.manage', isConfirmed: true })
  async remove(
    @CallingViewer() viewer: MerchantViewer,
    @Param('id') personId: string,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { actor } = viewer;
    const scope = toScope(viewer, readPlace(viewer, form));
    await this.change(reply, viewer, personId, 'removed', () =>
      this.commands.request(RemovePersonV1, { actor, ...scope, personId }),
    );
  }

  @Post('reset')
  @Allow({ right: 'people.manage', isConfirmed: true })
  async reset(
    @CallingViewer() viewer: MerchantViewer,
    @Param('id') personId: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { actor, texts, scope } = viewer;
    if (scope.sites !== 'all') throw new DomainError('resource.not-found');
    const request = { actor, merchantId: scope.merchantId, personId, language: toLanguage(texts) };
    await this.change(reply, viewer, personId, 'reset', () => this.commands.request(ResetSecondFactorsV1, request));
  }

  /** Shows the list after the change. A refusal is shown beside the forms. */
  private async change(
    reply: FastifyReply,
    viewer: MerchantViewer,
    personId: string,
    done: TeamDone,
    command: () => Promise<unknown>,
  ): Promise<void> {
    const { actor, session, texts } = viewer;
    const { problems } = texts.team;
    try {
      await command();
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'resource.conflict') throw error;
      const person = await this.findPeople.get(viewer, personId);
      const problem = done === 'reset' ? problems.resetRefused : problems.lastOwner;
      return sendPage(reply, HttpStatus.CONFLICT, renderPersonPage({ viewer, person, problem }));
    }
    this.sessions.forget(actor.sessionHash, actor.browser);
    // A person who has given up the own role may no longer see the list.
    await redirect(reply, session.personId === personId ? '/' : `${pathOf(viewer)}/team?done=${done}`);
  }
}

/** Throws `resource.not-found` if the viewer manages no people there. */
function readPlace({ scope, merchant }: MerchantViewer, form: unknown): Place {
  const place = parsePlace(readField(form, 'place', MAX_FIELD_LENGTH), scope.sites, merchant.sites);
  if (!place) throw new DomainError('resource.not-found');
  return place;
}
