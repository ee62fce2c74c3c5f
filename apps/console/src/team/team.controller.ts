import { randomUUID } from 'node:crypto';
import { Body, Get, HttpStatus, Inject, Param, Post, Query, Res } from '@nestjs/common';
import {
  InvitePersonV1,
  MAX_EMAIL_LENGTH,
  PEOPLE_LANGUAGES,
  type PeopleLanguage,
  WithdrawInvitationV1,
} from '@svc/contracts';
import { DomainError, isUuid } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import type { FastifyReply } from 'fastify';
import { Allow, CallingViewer, PageController } from '../access/access.guard.js';
import { ConsoleConfig } from '../config.js';
import type { Texts } from '../languages/en/en.js';
import { readField } from '../layout/forms.js';
import { pathOf } from '../layout/layout.js';
import { redirect, sendPage } from '../layout/page-sender.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import { FindPeople } from './find-people.js';
import { parsePlace, parseRole } from './team.js';
import { renderTeamPage, TEAM_DONE, type TeamMessage } from './team-page.js';

const MAX_ID_LENGTH = 36;

/** The people of a merchant, and invitations. identity checks each change again. */
@PageController(':merchantId/:mode/team')
export class TeamController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(FindPeople) private readonly findPeople: FindPeople,
    @Inject(ConsoleConfig) private readonly config: ConsoleConfig,
  ) {}

  @Get()
  @Allow({ right: 'people.read' })
  async show(
    @CallingViewer() viewer: MerchantViewer,
    @Query('done') done: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.send(reply, HttpStatus.OK, viewer, { done: TEAM_DONE.find((known) => known === done) });
  }

  /** The key of the form makes a repeat, for example a double click, the same invitation. */
  @Post('invitations')
  @Allow({ right: 'people.manage', isConfirmed: true })
  async invite(
    @CallingViewer() viewer: MerchantViewer,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { actor, texts, scope, merchant } = viewer;
    const { problems } = texts.team;
    const invitationId = readField(form, 'key', MAX_ID_LENGTH);
    const email = readField(form, 'email', MAX_EMAIL_LENGTH);
    const role = parseRole(readField(form, 'role', MAX_ID_LENGTH));
    const placeText = readField(form, 'place', MAX_ID_LENGTH);
    const place = parsePlace(placeText, scope.sites, merchant.sites);
    const typed = { email: email ?? '', role, place: placeText ?? '' };
    const refuse = (status: number, problem: string) => this.send(reply, status, viewer, { problem, typed });
    if (!place) throw new DomainError('resource.not-found');
    if (email === undefined || role === undefined || !isUuid(invitationId))
      return refuse(HttpStatus.UNPROCESSABLE_ENTITY, problems.invalid);
    try {
      const request = { actor, ...toScope(viewer, place), email, role, invitationId, language: toLanguage(texts) };
      const invitation = await this.commands.request(InvitePersonV1, request);
      if (invitation.invitationToken !== undefined)
        return await this.send(reply, HttpStatus.CREATED, viewer, { invitation });
    } catch (error) {
      const code = error instanceof DomainError ? error.code : undefined;
      if (code === 'request.invalid') return refuse(HttpStatus.UNPROCESSABLE_ENTITY, problems.invalid);
      if (code === 'resource.conflict') return refuse(HttpStatus.CONFLICT, problems.alreadyThere);
      if (code === 'request.rate-limited') return refuse(HttpStatus.TOO_MANY_REQUESTS, problems.tooMany);
      throw error;
    }
    await redirect(reply, `${pathOf(viewer)}/team?done=invited`);
  }

  @Post('invitations/:id/withdraw')
  @Allow({ right: 'people.manage', isConfirmed: true })
  async withdraw(
    @CallingViewer() viewer: MerchantViewer,
    @Param('id') invitationId: string,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { actor, scope, merchant } = viewer;
    const place = parsePlace(readField(form, 'place', MAX_ID_LENGTH), scope.sites, merchant.sites);
    if (!place) throw new DomainError('resource.not-found');
    const withdraw = { actor, ...toScope(viewer, place), invitationId };
    await this.commands.request(WithdrawInvitationV1, withdraw);
    await redirect(reply, `${pathOf(viewer)}/team?done=withdrawn`);
  }

  private async send(reply: FastifyReply, status: number, viewer: MerchantViewer, message: TeamMessage): Promise<void> {
    const list = await this.findPeople.list(viewer);
    const consoleUrl = this.config.SVC_CONSOLE_URL;
    await sendPage(reply, status, renderTeamPage({ viewer, list, invitationId: randomUUID(), consoleUrl, ...message }));
  }
}

export function toScope(
  { merchant: { merchantId } }: MerchantViewer,
  { siteId }: { readonly siteId: number | undefined },
): { merchantId: number; siteId?: number } {
  return { merchantId, ...(siteId === undefined ? {} : { siteId }) };
}

export function toLanguage({ tag }: Texts): PeopleLanguage {
  return PEOPLE_LANGUAGES.find((language) => language === tag) ?? 'en';
}
