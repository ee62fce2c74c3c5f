import { Body, Get, HttpStatus, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import {
  BeginSignInV1,
  EndPersonSessionV1,
  FinishLinkSignInV1,
  FinishSignInV1,
  MAX_EMAIL_LENGTH,
  type StartedPersonSession,
} from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Allow, CallingPerson, PageController } from '../access/access.guard.js';
import type { Texts } from '../languages/en/en.js';
import { selectTexts } from '../languages/languages.js';
import { SET_UP_PATH } from '../layout/error-page.filter.js';
import { readField, readPassword } from '../layout/forms.js';
import { redirect, sendPage } from '../layout/page-sender.js';
import { PasskeyOrigin } from '../passkeys/passkey-origin.js';
import { readDevice } from '../viewer/device.js';
import { hashBrowser, PersonSessions } from '../viewer/person-sessions.js';
import { SessionCookie } from '../viewer/session-cookie.js';
import type { Viewer } from '../viewer/viewer.js';
import { describeProblem, MAX_PATH_LENGTH, readCode, readNext } from './sign-in-form.js';
import { renderCodePage, renderLinkPage, renderSignInPage, type SignInPage } from './sign-in-page.js';

/** Length of a token of identity: 32 bytes as base64url. */
const MAX_TOKEN_LENGTH = 43;

/** Signing in with password and code, or with a link of `./svc up`, and signing out. */
@PageController()
export class SignInController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(SessionCookie) private readonly cookie: SessionCookie,
    @Inject(PersonSessions) private readonly sessions: PersonSessions,
    @Inject(PasskeyOrigin) private readonly passkeys: PasskeyOrigin,
  ) {}

  @Get('sign-in')
  @Allow('public')
  async show(@Req() request: FastifyRequest, @Query('next') next: unknown, @Res() reply: FastifyReply): Promise<void> {
    await sendPage(reply, HttpStatus.OK, this.render(selectTexts(request), { next: readNext(next) }));
  }

  /** Checks the password, then asks for the code. A person without a second factor sets one up first. */
  @Post('sign-in')
  @Allow('public')
  async begin(@Req() request: FastifyRequest, @Body() form: unknown, @Res() reply: FastifyReply): Promise<void> {
    const texts = selectTexts(request);
    const next = readNext(readField(form, 'next', MAX_PATH_LENGTH));
    const email = readField(form, 'email', MAX_EMAIL_LENGTH) ?? '';
    try {
      const { signInToken, secondFactors } = await this.commands.request(BeginSignInV1, {
        email,
        password: readPassword(form),
        address: request.ip,
      });
      if (secondFactors.includes('totp'))
        return await sendPage(reply, HttpStatus.OK, renderCodePage({ texts, next, signInToken }));
      if (secondFactors.includes('passkey')) {
        const page = this.render(texts, { next, email, problem: texts.signIn.passkeyOnly });
        return await sendPage(reply, HttpStatus.UNAUTHORIZED, page);
      }
      const browser = { browser: hashBrowser(request), device: readDevice(request) };
      await this.start(reply, await this.commands.request(FinishSignInV1, { signInToken, ...browser }), next);
    } catch (error) {
      const problem = describeProblem(error, texts.signIn.wrong, texts.signIn.limited);
      await sendPage(reply, problem.httpStatus, this.render(texts, { next, email, problem: problem.text }));
    }
  }

  @Post('sign-in/code')
  @Allow('public')
  async finish(@Req() request: FastifyRequest, @Body() form: unknown, @Res() reply: FastifyReply): Promise<void> {
    const texts = selectTexts(request);
    const next = readNext(readField(form, 'next', MAX_PATH_LENGTH));
    const signInToken = readField(form, 'signInToken', MAX_TOKEN_LENGTH) ?? '';
    const code = readCode(form);
    try {
      const browser = { browser: hashBrowser(request), device: readDevice(request) };
      await this.start(reply, await this.commands.request(FinishSignInV1, { signInToken, code, ...browser }), next);
    } catch (error) {
      // The token has expired, or too many codes were wrong: the password is entered again.
      if (error instanceof DomainError && error.code === 'resource.not-found') {
        const page = this.render(texts, { next, problem: texts.signIn.ended });
        return sendPage(reply, HttpStatus.BAD_REQUEST, page);
      }
      const problem = describeProblem(error, texts.signIn.wrongCode, texts.signIn.limited);
      await sendPage(reply, problem.httpStatus, renderCodePage({ texts, next, signInToken, problem: problem.text }));
    }
  }

  /** Only a form uses the link, because programs that check links would otherwise use it up. */
  @Get('sign-in/links/:token')
  @Allow('public')
  async showLink(
    @Req() request: FastifyRequest,
    @Param('token') token: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await sendPage(reply, HttpStatus.OK, renderLinkPage({ texts: selectTexts(request), token }));
  }

  @Post('sign-in/links/:token')
  @Allow('public')
  async useLink(
    @Req() request: FastifyRequest,
    @Param('token') linkToken: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const texts = selectTexts(request);
    try {
      const browser = { browser: hashBrowser(request), device: readDevice(request) };
      await this.start(reply, await this.commands.request(FinishLinkSignInV1, { linkToken, ...browser }), '/');
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'resource.not-found') throw error;
      await sendPage(reply, HttpStatus.NOT_FOUND, this.render(texts, { next: '/', problem: texts.signIn.linkUsed }));
    }
  }

  @Post('sign-out')
  @Allow('set-up')
  async signOut(@CallingPerson() { actor, texts }: Viewer, @Res() reply: FastifyReply): Promise<void> {
    await this.commands.request(EndPersonSessionV1, { actor, sessions: 'current' });
    this.sessions.forget(actor.sessionHash, actor.browser);
    this.cookie.clear(reply);
    await sendPage(reply, HttpStatus.OK, this.render(texts, { next: '/', done: texts.signIn.signedOut }));
  }

  private render(texts: Texts, page: Omit<SignInPage, 'texts' | 'origin'>): string {
    return renderSignInPage({ texts, origin: this.passkeys.value, ...page });
  }

  private async start(reply: FastifyReply, session: StartedPersonSession, next: string): Promise<void> {
    this.cookie.set(reply, session.sessionToken, session.expiresUTCDate);
    await redirect(reply, session.setUpRequired ? SET_UP_PATH : next);
  }
}
