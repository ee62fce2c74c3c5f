import { Inject, Injectable } from '@nestjs/common';
import { Clock, DomainError, isUuid } from '@svc/kernel';
import type { PayPageModel, SessionPage } from '../page-views/pay-page-model.js';
import { SessionRepository, type SessionWithPayments } from '../sessions/session.repository.js';
import { CardKey } from './card-key.js';
import { decidePage } from './decide-page.js';

/** What the page's script is told. */
export interface PageState {
  readonly state: string;
  /** Grows with each change, so that an older answer is not taken for a newer one. */
  readonly version: number | string | undefined;
  /** Where the payer goes from here, once paid. */
  readonly redirectUrl?: string;
}

/** What the payer's page shows, and the state its script asks for: the same decision, so that they never disagree. */
@Injectable()
export class ShowPage {
  constructor(
    @Inject(SessionRepository) private readonly sessions: SessionRepository,
    @Inject(CardKey) private readonly cardKey: CardKey,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async model(sessionId: string, locale: string): Promise<PayPageModel> {
    const session = await this.sessions.findWithPayments(sessionId);
    return session ? this.modelOf(session, locale) : { state: 'not-found' };
  }

  async state(sessionId: string): Promise<PageState> {
    const session = isUuid(sessionId) ? await this.sessions.findWithPayments(sessionId) : undefined;
    if (!session) throw new DomainError('resource.not-found', { message: 'There is no such session.' });
    return this.stateOf(session);
  }

  async stateOf(session: SessionWithPayments): Promise<PageState> {
    const model = await this.modelOf(session, 'en');
    return {
      state: model.state,
      version: model.sessionVersion,
      ...('returnUrl' in model ? { redirectUrl: model.returnUrl } : {}),
    };
  }

  private async modelOf(session: SessionWithPayments, locale: string): Promise<SessionPage> {
    const encryptionKey = await this.cardKey.get();
    return decidePage({ session, encryptionKey, locale, now: this.clock.now() });
  }
}
