import { Inject, Injectable } from '@nestjs/common';
import { Clock, DomainError, isOwnCode } from '@svc/kernel';
import { HostedGatewayConfig } from '../config.js';
import type { PayPageModel, SessionPage } from '../page-views/pay-page-model.js';
import { isScanned, type PayerAddress } from '../sessions/payer-address.js';
import { SessionRepository, type SessionWithPayments } from '../sessions/session.repository.js';
import { KnownTillCodes } from '../till-codes/known-till-codes.js';
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
    @Inject(KnownTillCodes) private readonly tillCodes: KnownTillCodes,
    @Inject(AskForNews) private readonly askForNews: AskForNews,
    @Inject(PressesUnderWay) private readonly pressesUnderWay: PressesUnderWay,
    @Inject(CardKey) private readonly cardKey: CardKey,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(HostedGatewayConfig) private readonly config: HostedGatewayConfig,
  ) {}

  async model(address: PayerAddress, payer: Payer): Promise<PayPageModel> {
    const session = await this.sessions.findAt(address);
    if (!session) return isScanned(address) ? this.modelOfCode(address.code, payer) : { state: 'not-found' };
    return this.modelOf(await this.askForNews.about(session), address, payer);
  }

  async state(address: PayerAddress): Promise<PageState> {
    return (await this.look(address)).state;
  }

  /** The state, and which session it is of. Throws `resource.not-found`. */
  async look(address: PayerAddress): Promise<{ sessionId: string; state: PageState }> {
    const session = await this.sessions.findAt(address);
    if (!session) throw new DomainError('resource.not-found', { message: 'There is no such session.' });
    return {
      sessionId: session.sessionId,
      state: await this.stateOf(await this.askForNews.about(session), address),
    };
  }

  async stateOf(session: SessionWithPayments, address: PayerAddress): Promise<PageState> {
    const model = await this.modelOf(session, address, { locale: 'en', wantsAnotherCard: false });
    return {
      state: model.state,
      version: model.sessionVersion,
      ...redirectOf(model),
    };
  }

  /** No session's: perhaps it is a till's, which is for another reader. */
  private async modelOfCode(code: string, { locale }: Payer): Promise<PayPageModel> {
    const till = isOwnCode(code) ? await this.tillCodes.find(code) : undefined;
    return till ? { state: 'till', ...till, locale } : { state: 'not-found', isScanned: true };
  }

  private async modelOf(session: SessionWithPayments, address: PayerAddress, payer: Payer): Promise<SessionPage> {
    const encryptionKey = await this.cardKey.get();
    const isPressed = this.pressesUnderWay.has(session.sessionId, session.tries);
    const codesUrl = this.config.SVC_CODES_URL;
    return decidePage({ session, address, codesUrl, isPressed, encryptionKey, now: this.clock.now(), ...payer });
  }
}

/** Back to the shop once paid, from the browser that it sent; to the bank for a verification. */
function redirectOf(model: SessionPage): Pick<PageState, 'redirectUrl'> {
  if ('verificationUrl' in model) return { redirectUrl: model.verificationUrl };
  return 'returnUrl' in model && model.returnUrl !== undefined ? { redirectUrl: model.returnUrl } : {};
}
