import { Body, Get, HttpStatus, Inject, Post, Res } from '@nestjs/common';
import { BeginTotpV1, ConfirmTotpV1 } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import type { FastifyReply } from 'fastify';
import { Allow, CallingPerson, PageController } from '../access/access.guard.js';
import { readField } from '../layout/forms.js';
import { redirect, sendPage } from '../layout/page-sender.js';
import { PasskeyOrigin } from '../passkeys/passkey-origin.js';
import { PersonSessions } from '../viewer/person-sessions.js';
import type { Viewer } from '../viewer/viewer.js';
import { renderSecondFactorPage } from './second-factor-page.js';
import { readCode } from './sign-in-form.js';

/** Setting up the authenticator app, without which a person sees no payment. */
@PageController('account/second-factor')
export class SecondFactorController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(PersonSessions) private readonly sessions: PersonSessions,
    @Inject(PasskeyOrigin) private readonly passkeys: PasskeyOrigin,
  ) {}

  @Get()
  @Allow('set-up')
  async show(@CallingPerson() viewer: Viewer, @Res() reply: FastifyReply): Promise<void> {
    const setup = await this.commands.request(BeginTotpV1, { actor: viewer.actor });
    await sendPage(reply, HttpStatus.OK, renderSecondFactorPage({ viewer, setup, origin: this.passkeys.value }));
  }

  @Post()
  @Allow('set-up')
  async confirm(@CallingPerson() viewer: Viewer, @Body() form: unknown, @Res() reply: FastifyReply): Promise<void> {
    const { actor, texts } = viewer;
    const code = readCode(form);
    try {
      await this.commands.request(ConfirmTotpV1, { actor, code });
    } catch (error) {
      const isWrong =
        error instanceof DomainError &&
        ['authentication.failed', 'request.invalid', 'resource.not-found'].includes(error.code);
      if (!isWrong) throw error;
      const setup = { secret: readField(form, 'secret', 200) ?? '', uri: readField(form, 'uri', 1000) ?? '' };
      const problem = texts.secondFactor.wrong;
      const page = renderSecondFactorPage({ viewer, setup, origin: this.passkeys.value, problem });
      return sendPage(reply, HttpStatus.UNPROCESSABLE_ENTITY, page);
    }
    this.sessions.forget(actor.sessionHash, actor.browser);
    await redirect(reply, viewer.session.setUpRequired ? '/' : '/account');
  }
}
