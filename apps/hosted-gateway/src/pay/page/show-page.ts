import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { Mailer } from '@svc/mail';
import { PayerChallenges } from '../../challenge/payer-challenges.js';
import { HostedGatewayConfig } from '../../config.js';
import { buildDeclineText, buildPaymentsLeftText, buildReferenceText } from '../../languages/decline-text.js';
import { chooseLanguage, type Language, type LanguagePreference } from '../../languages/languages.js';
import { CurrentLooks } from '../../looks/current-looks.js';
import type { PageLook } from '../../page-views/merchant-look/page-look.js';
import type { PayablePage, PayPageModel, SessionPage, TillPage } from '../../page-views/pay-page-model.js';
import type { ReceiptResult } from '../../page-views/receipt-mail/receipt-mail-form.js';
import { InFlightPayments } from '../../payment-copies/in-flight-payments.js';
import { buildCallsPath, isScanned, isStaticCode, type PayerAddress } from '../../sessions/payer-address.js';
import { FindOpenInvoice } from '../../till-codes/find-open-invoice.js';
import { TillCodeRepository } from '../../till-codes/till-code.repository.js';
import { getPayableId, isInvoice, type PagePayable } from '../payables/page-payable.js';
import { PagePayableRepository } from '../payables/page-payable.repository.js';
import { RefreshPayments } from '../payables/refresh-payments.js';
import { CardKey } from './card-key.js';
import { decidePage } from './decide-page.js';

/** State of the page, for its script. */
export interface PageState {
  readonly state: string;
  /** Grows with each change, so that the script ignores an outdated response. */
  readonly version: number | string | undefined;
  /** URL to which the script redirects the payer: the shop after the payment, or the bank for a verification. */
  readonly redirectUrl?: string;
  /** Expiry of the session (ISO 8601 UTC); absent for an invoice. Changes when the payer extends the session. */
  readonly expiresAt?: string;
  /** Present after a failed payment: the texts of the form, so that the script need not reload the page. */
  readonly decline?: DeclinedPayment;
  /** Present if the form is open, so that the payer can still pay after the payment of another payer has failed. */
  readonly nextPayment?: NextPayment;
}

export interface NextPayment {
  /** Number of the payment. */
  readonly paymentNumber: number;
  /** Text with the number of payments left. Empty for an invoice. */
  readonly paymentsLeft: string;
}

/** Texts of the card form after a failed payment. */
export interface DeclinedPayment extends NextPayment {
  /** The reason of the decline. */
  readonly title: string;
  /** The next step for the payer. */
  readonly next: string;
  /** Text with the payment reference, for support. */
  readonly reference?: string;
  /** The field that the bank did not accept, if known. */
  readonly field?: 'cardNumber' | 'expiry' | 'cvv';
}

/** The payer's preferences and payments, as sent by the browser. */
export interface Payer extends LanguagePreference {
  /** References of the latest payments of this browser, from the cookie of the page's script. */
  readonly ownReferences: readonly string[];
  /** The result of the receipt that this payer sent by e-mail a moment ago. */
  readonly receiptResult?: ReceiptResult | undefined;
}

/**
 * Redirect from the static code of a till to its page for the open invoice. That page has its own address, which stays
 * valid after the payment, and does not contain the code of the invoice.
 */
interface PageRedirect {
  readonly redirectTo: string;
}

/**
 * Builds the payer's page, and the state for the script of the page. Both use {@link decidePage}, so that they always
 * agree.
 */
@Injectable()
export class ShowPage {
  constructor(
    @Inject(PagePayableRepository) private readonly payables: PagePayableRepository,
    @Inject(TillCodeRepository) private readonly tillCodes: TillCodeRepository,
    @Inject(FindOpenInvoice) private readonly findOpenInvoice: FindOpenInvoice,
    @Inject(RefreshPayments) private readonly refreshPayments: RefreshPayments,
    @Inject(InFlightPayments) private readonly inFlightPayments: InFlightPayments,
    @Inject(CardKey) private readonly cardKey: CardKey,
    @Inject(PayerChallenges) private readonly challenges: PayerChallenges,
    @Inject(CurrentLooks) private readonly looks: CurrentLooks,
    @Inject(Mailer) private readonly mailer: Mailer,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(HostedGatewayConfig) private readonly config: HostedGatewayConfig,
  ) {}

  /**
   * @param ip address of the payer, from the trusted proxies
   * @param wantsAnotherCard the payer wants to use another card although a payment waits for verification
   */
  async findModel(
    address: PayerAddress,
    payer: Payer,
    ip: string,
    wantsAnotherCard = false,
  ): Promise<PayPageModel | PageRedirect> {
    const [payable, looks] = await Promise.all([this.payables.findByAddress(address), this.looks.read()]);
    if (!payable && isStaticCode(address)) return { state: 'not-found', isScanned: true };
    if (!payable)
      return isScanned(address) ? this.buildModelForCode(address.code, payer, looks) : { state: 'not-found' };
    const refreshed = await this.refreshPayments.refresh(payable);
    const plain = await this.buildModel(refreshed, address, payer, wantsAnotherCard);
    const model = this.offerReceiptMail(applyLook(plain, looks.get(payable.merchantId)), payer);
    if (model.state !== 'open' && model.state !== 'declined') return model;
    const challenge = await this.challenges.create({ ...payable, payableId: getPayableId(payable) }, ip);
    return challenge === undefined ? model : { ...model, challenge };
  }

  /** The challenge for the next payment on the page. Throws `resource.not-found`. */
  async createChallenge(address: PayerAddress, ip: string): Promise<string | undefined> {
    const payable = await this.payables.getByAddress(address);
    return this.challenges.create({ ...payable, payableId: getPayableId(payable) }, ip);
  }

  async readState(address: PayerAddress, payer: Payer): Promise<PageState> {
    return (await this.findState(address, payer)).state;
  }

  /** The state, with the id of its payable. Throws `resource.not-found`. */
  async findState(address: PayerAddress, payer: Payer): Promise<{ payableId: string; state: PageState }> {
    const payable = await this.payables.getByAddress(address);
    return {
      payableId: getPayableId(payable),
      state: await this.buildState(await this.refreshPayments.refresh(payable), address, payer),
    };
  }

  async buildState(payable: PagePayable, address: PayerAddress, payer: Payer): Promise<PageState> {
    const model = await this.buildModel(payable, address, payer, false);
    const language = chooseLanguage(payer, model.locale);
    return {
      state: model.state,
      version: model.sessionVersion,
      ...findRedirect(model),
      ...('expiresAt' in model && !isInvoice(payable) ? { expiresAt: model.expiresAt } : {}),
      ...buildDecline(model, language),
      ...(model.state === 'open' ? { nextPayment: buildNextPayment(model, language) } : {}),
    };
  }

  /** The model for a code that belongs to no session and no invoice. The code may be the static code of a till. */
  private async buildModelForCode(
    code: string,
    { chosen }: Payer,
    looks: ReadonlyMap<number, PageLook>,
  ): Promise<PayPageModel | PageRedirect> {
    const merchant = await this.tillCodes.findMerchant(code);
    if (merchant === undefined) return { state: 'not-found', isScanned: true };
    const invoice = await this.findOpenInvoice.execute(code);
    if (!invoice)
      return applyLook({ state: 'till', merchantName: merchant.merchantName }, looks.get(merchant.merchantId));
    const address = { code, invoiceReference: invoice.invoiceReference };
    return { redirectTo: `${buildCallsPath(address)}${chosen === undefined ? '' : `?lang=${chosen}`}` };
  }

  /** Only the payer sees the reference of the payment, so only the payer can send its receipt. */
  private offerReceiptMail(model: SessionPage, { chosen, receiptResult: result }: Payer): SessionPage {
    if (!('paymentReference' in model) || !this.mailer.isOn) return model;
    const action = `${model.callsPath}/receipts${chosen === undefined ? '' : `?lang=${chosen}`}`;
    return { ...model, receiptMail: { action, result } };
  }

  private async buildModel(
    payable: PagePayable,
    address: PayerAddress,
    { ownReferences }: Payer,
    wantsAnotherCard: boolean,
  ): Promise<SessionPage> {
    const encryptionKey = await this.cardKey.get();
    const isInFlight = this.inFlightPayments.has(getPayableId(payable), payable.paymentCount);
    const codesUrl = this.config.SVC_CODES_URL;
    const now = this.clock.now();
    const facts = { address, codesUrl, isInFlight, encryptionKey, now, wantsAnotherCard, ownReferences };
    return decidePage({ payable, ...facts });
  }
}

function applyLook<Model extends SessionPage | TillPage>(model: Model, look: PageLook | undefined): Model {
  return look === undefined ? model : { ...model, look, merchantName: look.displayName ?? model.merchantName };
}

function buildDecline(model: SessionPage, language: Language): Pick<PageState, 'decline'> {
  if (model.state !== 'declined') return {};
  const { title, next } = buildDeclineText(language, model.decline);
  const field = FIELD_BY_ERROR_REFERENCE[model.decline?.errorReference ?? ''];
  const reference = buildReferenceText(language, model.decline);
  const optionalFields = {
    ...(field === undefined ? {} : { field }),
    ...(reference === undefined ? {} : { reference }),
  };
  return { decline: { ...buildNextPayment(model, language), title, next, ...optionalFields } };
}

function buildNextPayment(model: PayablePage, language: Language): NextPayment {
  return { paymentNumber: model.paymentNumber, paymentsLeft: buildPaymentsLeftText(language, model.paymentsLeft) };
}

/** The field of the form that caused a decline, by errorReference (P4). */
const FIELD_BY_ERROR_REFERENCE: Readonly<Record<string, DeclinedPayment['field']>> = {
  '12': 'expiry',
  '13': 'cardNumber',
  '14': 'cvv',
};

/**
 * After the payment, redirects to the shop if the shop redirected this browser to the page. For a verification,
 * redirects to the bank.
 */
function findRedirect(model: SessionPage): Pick<PageState, 'redirectUrl'> {
  if ('verificationUrl' in model) return { redirectUrl: model.verificationUrl };
  return 'returnUrl' in model && model.returnUrl !== undefined ? { redirectUrl: model.returnUrl } : {};
}
