import { Inject, Injectable } from '@nestjs/common';
import { Clock, DomainError } from '@svc/kernel';
import { HostedGatewayConfig } from '../../config.js';
import { declineText, referenceText, triesLeftText } from '../../languages/decline-text.js';
import { chooseLanguage, type Language, type LanguageWish } from '../../languages/languages.js';
import type { PayablePage, PayPageModel, SessionPage } from '../../page-views/pay-page-model.js';
import { callsPathOf, isScanned, type PayerAddress } from '../../sessions/payer-address.js';
import { KnownTillCodes } from '../../till-codes/known-till-codes.js';
import { AskForNews } from '../payables/ask-for-news.js';
import { CardKey } from './card-key.js';
import { decidePage } from './decide-page.js';
import { PressesUnderWay } from '../payables/presses-under-way.js';
import { isInvoice, payableIdOf, type ShownPayable } from '../payables/shown-payable.js';
import { ShownPayables } from '../payables/shown-payables.js';

/** What the page's script is told. */
export interface PageState {
  readonly state: string;
  /** Grows with each change, so that an older answer is not taken for a newer one. */
  readonly version: number | string | undefined;
  /** Where the payer goes from here: back to the shop once paid, to the bank for a verification. */
  readonly redirectUrl?: string;
  /** Until when the form can be used; ISO 8601 UTC. Later than before when the payer has asked for more time; of a session. */
  readonly expiresAt?: string;
  /** After a try that failed: what its form says, so that a page that has one need not be loaded again. */
  readonly decline?: DeclinedTry;
  /** Of an open form: its try, so that a page whose payer is typing goes on with it after somebody else's try has failed. */
  readonly coming?: ComingTry;
}

export interface ComingTry {
  /** Its number. */
  readonly try: number;
  /** How many tries are left, in words. */
  readonly triesLeft: string;
}

/** The card form after a try that failed. */
export interface DeclinedTry extends ComingTry {
  /** What happened, and what to do next. */
  readonly title: string;
  readonly next: string;
  /** The payment's reference, in words; for support. */
  readonly reference?: string;
  /** The field that the bank did not accept, where it said. */
  readonly field?: 'cardNumber' | 'expiry' | 'cvv';
}

/** What the payer's browser says. */
export interface Payer extends LanguageWish {
  /** Of the payments that it made last, as the page's script keeps them. */
  readonly ownReferences: readonly string[];
}

/** The static code of a till that has something to pay: the page of that invoice, which stays where it is when it is paid. */
export interface PageElsewhere {
  readonly redirectTo: string;
}

/** What the payer's page shows, and the state its script asks for: the same decision, so that they never disagree. */
@Injectable()
export class ShowPage {
  constructor(
    @Inject(ShownPayables) private readonly shownPayables: ShownPayables,
    @Inject(KnownTillCodes) private readonly tillCodes: KnownTillCodes,
    @Inject(AskForNews) private readonly askForNews: AskForNews,
    @Inject(PressesUnderWay) private readonly pressesUnderWay: PressesUnderWay,
    @Inject(CardKey) private readonly cardKey: CardKey,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(HostedGatewayConfig) private readonly config: HostedGatewayConfig,
  ) {}

  /** @param wantsAnotherCard the payer was asked to verify himself and would rather pay otherwise */
  async model(address: PayerAddress, payer: Payer, wantsAnotherCard = false): Promise<PayPageModel | PageElsewhere> {
    const shown = await this.shownPayables.findAt(address);
    if (!shown) return isScanned(address) ? this.modelOfCode(address.code, payer) : { state: 'not-found' };
    return this.modelOf(await this.askForNews.about(shown), address, payer, wantsAnotherCard);
  }

  async state(address: PayerAddress, payer: Payer): Promise<PageState> {
    return (await this.look(address, payer)).state;
  }

  /** The state, and the payable that it is of. Throws `resource.not-found`. */
  async look(address: PayerAddress, payer: Payer): Promise<{ payableId: string; state: PageState }> {
    const shown = await this.shownPayables.findAt(address);
    if (!shown) throw new DomainError('resource.not-found', { message: 'There is no such session.' });
    return {
      payableId: payableIdOf(shown),
      state: await this.stateOf(await this.askForNews.about(shown), address, payer),
    };
  }

  async stateOf(shown: ShownPayable, address: PayerAddress, payer: Payer): Promise<PageState> {
    const model = await this.modelOf(shown, address, payer, false);
    const language = chooseLanguage(payer, model.locale);
    return {
      state: model.state,
      version: model.sessionVersion,
      ...redirectOf(model),
      ...('expiresAt' in model && !isInvoice(shown) ? { expiresAt: model.expiresAt } : {}),
      ...declineOf(model, language),
      ...(model.state === 'open' ? { coming: comingOf(model, language) } : {}),
    };
  }

  /** No session's and no invoice's: perhaps it is the static one of a till. */
  private async modelOfCode(code: string, { chosen }: Payer): Promise<PayPageModel | PageElsewhere> {
    const till = await this.tillCodes.find(code);
    if (!till) return { state: 'not-found', isScanned: true };
    const invoice = await this.tillCodes.findOpenInvoice(code);
    if (!invoice) return { state: 'till', ...till };
    return { redirectTo: `${callsPathOf(invoice)}${chosen === undefined ? '' : `?lang=${chosen}`}` };
  }

  private async modelOf(
    shown: ShownPayable,
    address: PayerAddress,
    { ownReferences }: Payer,
    wantsAnotherCard: boolean,
  ): Promise<SessionPage> {
    const encryptionKey = await this.cardKey.get();
    const isPressed = this.pressesUnderWay.has(payableIdOf(shown), shown.tries);
    const codesUrl = this.config.SVC_CODES_URL;
    const now = this.clock.now();
    const facts = { address, codesUrl, isPressed, encryptionKey, now, wantsAnotherCard, ownReferences };
    return decidePage({ session: shown, ...facts });
  }
}

function declineOf(model: SessionPage, language: Language): Pick<PageState, 'decline'> {
  if (model.state !== 'declined') return {};
  const { title, next } = declineText(language, model.decline);
  const field = FIELD_OF[model.decline?.errorReference ?? ''];
  const reference = referenceText(language, model.decline);
  const known = { ...(field === undefined ? {} : { field }), ...(reference === undefined ? {} : { reference }) };
  return { decline: { ...comingOf(model, language), title, next, ...known } };
}

function comingOf(model: PayablePage, language: Language): ComingTry {
  return { try: model.try, triesLeft: triesLeftText(language, model.triesLeft) };
}

/** By errorReference (P4). */
const FIELD_OF: Readonly<Record<string, DeclinedTry['field']>> = { '12': 'expiry', '13': 'cardNumber', '14': 'cvv' };

/** Back to the shop once paid, from the browser that it sent; to the bank for a verification. */
function redirectOf(model: SessionPage): Pick<PageState, 'redirectUrl'> {
  if ('verificationUrl' in model) return { redirectUrl: model.verificationUrl };
  return 'returnUrl' in model && model.returnUrl !== undefined ? { redirectUrl: model.returnUrl } : {};
}
