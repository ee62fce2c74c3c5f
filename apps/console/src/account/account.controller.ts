import { Body, Get, HttpStatus, Inject, Post, Query, Res } from '@nestjs/common';
import {
  DEFAULT_TIME_ZONE,
  EndPersonSessionV1,
  ListPersonSessionsV1,
  ListSecondFactorsV1,
  RemoveSecondFactorV1,
} from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import type { FastifyReply } from 'fastify';
import { Allow, CallingPerson, PageController } from '../access/access.guard.js';
import { MerchantClock } from '../languages/format.js';
import { readField } from '../layout/forms.js';
import { redirect, sendPage } from '../layout/page-sender.js';
import { MerchantRepository } from '../merchants/merchant.repository.js';
import { PasskeyOrigin } from '../passkeys/passkey-origin.js';
import { PersonSessions } from '../viewer/person-sessions.js';
import type { Viewer } from '../viewer/viewer.js';
import { ACCOUNT_DONE, type AccountDone, renderAccountPage } from './account-page.js';

const MAX_ID_LENGTH = 36;

/** A person's own account: second factors, sessions and language. */
@PageController('account')
export class AccountController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(PersonSessions) private readonly sessions: PersonSessions,
    @Inject(MerchantRepository) private readonly merchants: MerchantRepository,
    @Inject(PasskeyOrigin) private readonly passkeys: PasskeyOrigin,
  ) {}

  @Get()
  @Allow('person')
  async show(@CallingPerson() viewer: Viewer, @Query('done') done: unknown, @Res() reply: FastifyReply): Promise<void> {
    await this.send(reply, HttpStatus.OK, viewer, { done: ACCOUNT_DONE.find((known) => known === done) });
  }

  /** Ends one session, or all except this one. */
  @Post('sessions')
  @Allow('person')
  async endSessions(@CallingPerson() viewer: Viewer, @Body() form: unknown, @Res() reply: FastifyReply): Promise<void> {
    const { actor } = viewer;
    const sessions = readField(form, 'session', MAX_ID_LENGTH) ?? '';
    if (sessions === 'current') throw new DomainError('resource.not-found');
    await this.commands.request(EndPersonSessionV1, { actor, sessions }).catch((error: unknown) => {
      // It has ended already, for example after a double click.
      if (!(error instanceof DomainError) || error.code !== 'resource.not-found') throw error;
    });
    this.sessions.forget(actor.sessionHash, actor.browser);
    await redirect(reply, '/account?done=sessions');
  }

  @Post('second-factors/remove')
  @Allow('person')
  async removeFactor(
    @CallingPerson() viewer: Viewer,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { actor, texts } = viewer;
    try {
      const factor = readField(form, 'factor', MAX_ID_LENGTH) ?? '';
      await this.commands.request(RemoveSecondFactorV1, { actor, factor });
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'resource.conflict') throw error;
      return this.send(reply, HttpStatus.CONFLICT, viewer, { problem: texts.account.lastFactor });
    }
    this.sessions.forget(actor.sessionHash, actor.browser);
    await redirect(reply, '/account?done=removed');
  }

  private async send(
    reply: FastifyReply,
    status: number,
    viewer: Viewer,
    message: { readonly done?: AccountDone | undefined; readonly problem?: string },
  ): Promise<void> {
    const { actor, session } = viewer;
    const [secondFactors, { sessions }, clock] = await Promise.all([
      this.commands.request(ListSecondFactorsV1, { actor }),
      this.commands.request(ListPersonSessionsV1, { actor }),
      this.findClock(session.roles.map(({ merchantId }) => merchantId)),
    ]);
    const origin = this.passkeys.value;
    await sendPage(reply, status, renderAccountPage({ viewer, clock, secondFactors, sessions, origin, ...message }));
  }

  /** A person belongs to no merchant, so the times are those of the person's first merchant. */
  private async findClock(merchantIds: readonly number[]): Promise<MerchantClock> {
    const [merchant] = await this.merchants.list(merchantIds);
    return new MerchantClock(merchant?.timeZones ?? [{ zone: DEFAULT_TIME_ZONE }]);
  }
}
