import { Inject, Injectable } from '@nestjs/common';
import { Clock, DomainError, isUuid } from '@svc/kernel';
import type { PayPageModel } from '../page-views/pay-page-model.js';
import { SessionRepository } from '../sessions/session.repository.js';
import { CardKey } from './card-key.js';
import { decidePage } from './decide-page.js';

/** What the payer's page shows, and the state its script asks for: the same decision, so that they never disagree. */
@Injectable()
export class ShowPage {
  constructor(
    @Inject(SessionRepository) private readonly sessions: SessionRepository,
    @Inject(CardKey) private readonly cardKey: CardKey,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async model(sessionId: string, locale: string): Promise<PayPageModel> {
    const [session, encryptionKey] = await Promise.all([this.sessions.findWithPayments(sessionId), this.cardKey.get()]);
    return session ? decidePage({ session, encryptionKey, locale, now: this.clock.now() }) : { state: 'not-found' };
  }

  async state(
    sessionId: string,
  ): Promise<{ state: string; version: number | string | undefined; redirectUrl?: string }> {
    const model: PayPageModel = isUuid(sessionId) ? await this.model(sessionId, 'en') : { state: 'not-found' };
    if (model.state === 'not-found')
      throw new DomainError('resource.not-found', { message: 'There is no such session.' });
    return {
      state: model.state,
      version: model.sessionVersion,
      ...('returnUrl' in model ? { redirectUrl: model.returnUrl } : {}),
    };
  }
}
