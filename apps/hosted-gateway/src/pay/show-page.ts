import { Inject, Injectable } from '@nestjs/common';
import { Clock, DomainError, isUuid } from '@svc/kernel';
import type { PayPageModel, SessionPage } from '../page-views/pay-page-model.js';
import { SessionRepository, type SessionWithPayments } from '../sessions/session.repository.js';
import { AskForNews } from './ask-for-news.js';
import { CardKey } from './card-key.js';
import { decidePage } from './decide-page.js';
import { PressesUnderWay } from './presses-under-way.js';

/** What the page's script is told. */
export interface PageState {
  readonly state: string;
  /** Grows with each change, so that an older answer is not taken for a newer one. */
  readonly version: number | string | undefined;
  /** Where the payer goes from here: back to the shop once paid, to the bank for a verification. */
  readonly redirectUrl?: string;
}

/** What the payer's browser says and asks for. */
export interface Payer {
  readonly locale: string;
  /** He was asked to verify himself and would rather pay otherwise. */
  readonly wantsAnotherCard: boolean;
}

/** What the payer's page shows, and the state its script asks for: the same decision, so that they never disagree. */
@Injectable()
export class ShowPage {
  constructor(
    @Inject(SessionRepository) private readonly sessions: SessionRepository,
    @Inject(AskForNews) private readonly askForNews: AskForNews,
    @Inject(PressesUnderWay) private readonly pressesUnderWay: PressesUnderWay,
    @Inject(CardKey) private readonly cardKey: CardKey,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async model(sessionId: string, payer: Payer): Promise<PayPageModel> {
    const session = await this.sessions.findWithPayments(sessionId);
    return session ? this.modelOf(await this.askForNews.about(session), payer) : { state: 'not-found' };
  }

  async state(sessionId: string): Promise<PageState> {
    const session = isUuid(sessionId) ? await this.sessions.findWithPayments(sessionId) : undefined;
    if (!session) throw new DomainError('resource.not-found', { message: 'There is no such session.' });
    return this.stateOf(await this.askForNews.about(session));
  }

  async stateOf(session: SessionWithPayments): Promise<PageState> {
    const model = await this.modelOf(session, { locale: 'en', wantsAnotherCard: false });
    return {
      state: model.state,
      version: model.sessionVersion,
      ...('returnUrl' in model ? { redirectUrl: model.returnUrl } : {}),
      ...('verificationUrl' in model ? { redirectUrl: model.verificationUrl } : {}),
    };
  }

  private async modelOf(session: SessionWithPayments, payer: Payer): Promise<SessionPage> {
    const encryptionKey = await this.cardKey.get();
    const isPressed = this.pressesUnderWay.has(session.sessionId, session.tries);
    return decidePage({ session, isPressed, encryptionKey, now: this.clock.now(), ...payer });
  }
}
