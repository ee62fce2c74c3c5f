import { Body, HttpStatus, Inject, Post, Res } from '@nestjs/common';
import {
  BeginPasskeyRegistrationV1,
  BeginTotpV1,
  FinishPasskeyRegistrationV1,
  MAX_PASSKEY_NAME_LENGTH,
} from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import type { FastifyReply } from 'fastify';
import { Allow, CallingPerson, PageController } from '../access/access.guard.js';
import { readField } from '../layout/forms.js';
import { redirect, sendPage } from '../layout/page-sender.js';
import { PasskeyOrigin } from '../passkeys/passkey-origin.js';
import { readPasskeyProof } from '../passkeys/read-proof.js';
import { renderSecondFactorPage } from '../sign-in/second-factor-page.js';
import { PersonSessions } from '../viewer/person-sessions.js';
import type { Viewer } from '../viewer/viewer.js';

/** Registering a passkey, also as the first second factor of a person. */
@PageController('account/passkeys')
export class PasskeysController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(PersonSessions) private readonly sessions: PersonSessions,
    @Inject(PasskeyOrigin) private readonly passkeys: PasskeyOrigin,
  ) {}

  @Post('challenge')
  @Allow('set-up')
  async begin(@CallingPerson() { actor }: Viewer, @Res() reply: FastifyReply): Promise<void> {
    const challenge = await this.commands.request(BeginPasskeyRegistrationV1, { actor });
    await reply.status(HttpStatus.OK).header('cache-control', 'no-store').send(challenge);
  }

  @Post()
  @Allow('set-up')
  async finish(@CallingPerson() viewer: Viewer, @Body() form: unknown, @Res() reply: FastifyReply): Promise<void> {
    const { actor, session, texts } = viewer;
    try {
      const name = readField(form, 'name', MAX_PASSKEY_NAME_LENGTH) ?? texts.passkeys.defaultName;
      await this.commands.request(FinishPasskeyRegistrationV1, { actor, name, ...readPasskeyProof(form) });
    } catch (error) {
      const isWrong =
        error instanceof DomainError &&
        ['authentication.failed', 'resource.not-found', 'resource.conflict'].includes(error.code);
      if (!isWrong) throw error;
      const setup = await this.commands.request(BeginTotpV1, { actor });
      const problem = texts.passkeys.failed;
      const page = renderSecondFactorPage({ viewer, setup, origin: this.passkeys.value, problem });
      return sendPage(reply, HttpStatus.UNPROCESSABLE_ENTITY, page);
    }
    this.sessions.forget(actor.sessionHash, actor.browser);
    await redirect(reply, session.setUpRequired ? '/' : '/account?done=passkey');
  }
}
