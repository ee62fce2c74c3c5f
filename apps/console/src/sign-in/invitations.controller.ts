import { Body, Get, HttpStatus, Inject, Param, Post, Req, Res } from '@nestjs/common';
import {
  AcceptInvitationV1,
  type ErrorCode,
  type InvitationView,
  MAX_PERSON_NAME_LENGTH,
  ReadInvitationV1,
} from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Allow, PageController } from '../access/access.guard.js';
import type { Texts } from '../languages/en/en.js';
import { selectTexts } from '../languages/languages.js';
import { SET_UP_PATH } from '../layout/error-page.filter.js';
import { readField, readPassword } from '../layout/forms.js';
import { redirect, sendPage } from '../layout/page-sender.js';
import { readDevice } from '../viewer/device.js';
import { hashBrowser, hashToken, PersonSessions } from '../viewer/person-sessions.js';
import { SessionCookie } from '../viewer/session-cookie.js';
import { renderInvalidInvitationPage, renderInvitationPage } from './invitation-page.js';

/** Accepting an invitation: a new person chooses a password, a person who is signed in only gains the role. */
@PageController('invitations/:token')
export class InvitationsController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(SessionCookie) private readonly cookie: SessionCookie,
    @Inject(PersonSessions) private readonly sessions: PersonSessions,
  ) {}

  @Get()
  @Allow('public')
  async show(@Req() request: FastifyRequest, @Param('token') token: string, @Res() reply: FastifyReply): Promise<void> {
    const texts = selectTexts(request);
    const invitation = await this.read(token);
    if (!invitation) return sendPage(reply, HttpStatus.NOT_FOUND, renderInvalidInvitationPage(texts));
    await sendPage(reply, HttpStatus.OK, renderInvitationPage({ texts, token, invitation }));
  }

  @Post()
  @Allow('public')
  async accept(
    @Req() request: FastifyRequest,
    @Param('token') token: string,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const texts = selectTexts(request);
    const invitation = await this.read(token);
    if (!invitation) return sendPage(reply, HttpStatus.NOT_FOUND, renderInvalidInvitationPage(texts));
    const sessionToken = this.cookie.read(request);
    const name = readField(form, 'name', MAX_PERSON_NAME_LENGTH);
    const password = readPassword(form);
    const browser = hashBrowser(request);
    try {
      const { session } = await this.commands.request(AcceptInvitationV1, {
        invitationToken: token,
        browser,
        device: readDevice(request),
        requestId: request.id,
        ...(invitation.personExists
          ? { ...(sessionToken === undefined ? {} : { sessionHash: hashToken(sessionToken) }) }
          : { ...(name === undefined ? {} : { name }), password }),
      });
      if (sessionToken !== undefined) this.sessions.forget(hashToken(sessionToken), browser);
      if (session) this.cookie.set(reply, session.sessionToken, session.expiresUTCDate);
      await redirect(reply, session?.setUpRequired ? SET_UP_PATH : '/');
    } catch (error) {
      const problem = error instanceof DomainError ? describeRefusal(error, texts) : undefined;
      if (problem === undefined) throw error;
      const page = renderInvitationPage({ texts, token, invitation, problem, ...(name === undefined ? {} : { name }) });
      await sendPage(reply, HttpStatus.UNPROCESSABLE_ENTITY, page);
    }
  }

  private async read(invitationToken: string): Promise<InvitationView | undefined> {
    try {
      return await this.commands.request(ReadInvitationV1, { invitationToken });
    } catch (error) {
      const isInvalid = error instanceof DomainError && ['resource.not-found', 'request.invalid'].includes(error.code);
      if (isInvalid) return undefined;
      throw error;
    }
  }
}

function describeRefusal({ code, fields, message }: DomainError, { invitation }: Texts): string | undefined {
  const problems: Partial<Record<ErrorCode, string>> = {
    'authentication.required': invitation.signInFirst,
    'credentials.forbidden': invitation.wrongPerson,
    'resource.conflict': invitation.conflict,
    'request.invalid': fields.map((field) => field.message).join('. ') || message,
  };
  return problems[code];
}
