import { Body, HttpStatus, Inject, Post, Req, Res } from '@nestjs/common';
import { BeginPasskeySignInV1, FinishPasskeySignInV1 } from '@svc/contracts';
import { Commands } from '@svc/messaging';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Allow, PageController } from '../access/access.guard.js';
import { selectTexts } from '../languages/languages.js';
import { readField } from '../layout/forms.js';
import { redirect, sendPage } from '../layout/page-sender.js';
import { PasskeyOrigin } from '../passkeys/passkey-origin.js';
import { readPasskeyProof } from '../passkeys/read-proof.js';
import { readDevice } from '../viewer/device.js';
import { hashBrowser } from '../viewer/person-sessions.js';
import { SessionCookie } from '../viewer/session-cookie.js';
import { describeProblem, MAX_PATH_LENGTH, readNext } from './sign-in-form.js';
import { renderSignInPage } from './sign-in-page.js';

/** Signing in with a passkey. The script requests the challenge, and sends the answer of the browser as a form. */
@PageController('sign-in/passkey')
export class PasskeySignInController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(SessionCookie) private readonly cookie: SessionCookie,
    @Inject(PasskeyOrigin) private readonly passkeys: PasskeyOrigin,
  ) {}

  /** A challenge for a sign-in or a confirmation: at the press of the button, so that pages alone store nothing. */
  @Post('challenge')
  @Allow('public')
  async begin(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const challenge = await this.commands.request(BeginPasskeySignInV1, { address: request.ip });
    await reply.status(HttpStatus.OK).header('cache-control', 'no-store').send(challenge);
  }

  @Post()
  @Allow('public')
  async finish(@Req() request: FastifyRequest, @Body() form: unknown, @Res() reply: FastifyReply): Promise<void> {
    const texts = selectTexts(request);
    const next = readNext(readField(form, 'next', MAX_PATH_LENGTH));
    try {
      const proof = readPasskeyProof(form);
      const start = { ...proof, browser: hashBrowser(request), device: readDevice(request) };
      const { sessionToken, expiresUTCDate } = await this.commands.request(FinishPasskeySignInV1, start);
      this.cookie.set(reply, sessionToken, expiresUTCDate);
      await redirect(reply, next);
    } catch (error) {
      const { httpStatus, text: problem } = describeProblem(error, texts.passkeys.failed, texts.signIn.limited);
      const page = renderSignInPage({ texts, next, origin: this.passkeys.value, problem });
      await sendPage(reply, httpStatus, page);
    }
  }
}
