import { Body, Get, HttpStatus, Inject, Post, Query, Req, Res } from '@nestjs/common';
import { type ConfirmPerson, ConfirmPersonV1 } from '@svc/contracts';
import { Commands } from '@svc/messaging';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Allow, CallingPerson, PageController } from '../access/access.guard.js';
import { readField, readPassword } from '../layout/forms.js';
import { redirect, sendPage } from '../layout/page-sender.js';
import { PasskeyOrigin } from '../passkeys/passkey-origin.js';
import { readPasskeyProof } from '../passkeys/read-proof.js';
import { describeProblem, MAX_PATH_LENGTH, readCode, readNext } from '../sign-in/sign-in-form.js';
import { PersonSessions } from '../viewer/person-sessions.js';
import type { Viewer } from '../viewer/viewer.js';
import { renderConfirmPage } from './confirm-page.js';

type Proof = Pick<ConfirmPerson, 'password' | 'code' | 'passkey'>;

/** Asks a person again before a sensitive action. Afterwards the person repeats the action within ten minutes. */
@PageController('account/confirm')
export class ConfirmController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(PersonSessions) private readonly sessions: PersonSessions,
    @Inject(PasskeyOrigin) private readonly passkeys: PasskeyOrigin,
  ) {}

  @Get()
  @Allow('person')
  async show(@CallingPerson() viewer: Viewer, @Query('next') next: unknown, @Res() reply: FastifyReply): Promise<void> {
    const origin = this.passkeys.value;
    await sendPage(reply, HttpStatus.OK, renderConfirmPage({ viewer, origin, next: readNext(next) }));
  }

  @Post()
  @Allow('person')
  async confirm(
    @CallingPerson() viewer: Viewer,
    @Req() request: FastifyRequest,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { actor, texts } = viewer;
    const next = readNext(readField(form, 'next', MAX_PATH_LENGTH));
    const isPasskey = readField(form, 'challengeToken', MAX_PATH_LENGTH) !== undefined;
    try {
      const proof: Proof = isPasskey
        ? { passkey: readPasskeyProof(form) }
        : { password: readPassword(form), code: readCode(form) };
      await this.commands.request(ConfirmPersonV1, { actor, address: request.ip, ...proof });
    } catch (error) {
      const wrong = isPasskey ? texts.passkeys.failed : texts.confirm.wrong;
      const { httpStatus, text: problem } = describeProblem(error, wrong, texts.signIn.limited);
      const page = renderConfirmPage({ viewer, origin: this.passkeys.value, next, problem });
      return sendPage(reply, httpStatus, page);
    }
    this.sessions.forget(actor.sessionHash, actor.browser);
    await redirect(reply, next);
  }
}
