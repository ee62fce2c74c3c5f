import { Inject, Injectable } from '@nestjs/common';
import {
  type AnyPaymentSnapshot,
  ChargeCardV1,
  type ChargeInvoice,
  ChargeInvoiceV1,
  CheckPaymentsV1,
  FindPayableV1,
  type PayerContext,
} from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { Commands, continueTrace, REQUEST_TIMEOUT_MS } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { HostedGatewayConfig } from '../config.js';
import { pageUrlOf, type PayerAddress } from '../sessions/payer-address.js';
import { payableOf } from '../sessions/session.js';
import { withPayment } from '../sessions/session.repository.js';
import { payableOfInvoice, type TillInvoice } from '../till-codes/till-invoice.js';
import { PressesUnderWay } from './payables/presses-under-way.js';
import { isInvoice, payableIdOf, type ShownPayable, triesLeftOf } from './payables/shown-payable.js';
import { ShownPayables } from './payables/shown-payables.js';

/** What the page sends. */
export interface PressOfPay {
  readonly reference: string;
  readonly try: number;
  readonly encryptedCard: string;
  /** Cents that the payer of an invoice chose. */
  readonly amount?: number;
  readonly tipAmount?: number;
  /** Handed on with the charge, and kept nowhere. */
  readonly payer: PayerContext;
  /** Language of the page, where its address names it: the bank leads back to the same. */
  readonly lang?: string | undefined;
}

/** The payment, and what the page is about as it is known after it. */
export interface PressOutcome {
  readonly payment: AnyPaymentSnapshot;
  readonly shown: ShownPayable;
}

/** Longest that a payer who was refused waits for why. */
const NEWS_MS_MAX = 2_000;

/**
 * One press of Pay. The card passes through encrypted: this service cannot open it and keeps nothing of it. What
 * came of it is kept before the page is answered, so that the merchant can read it before the payer returns (H3).
 */
@Injectable()
export class PayOnPage {
  constructor(
    @Inject(ShownPayables) private readonly shownPayables: ShownPayables,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(PressesUnderWay) private readonly underWay: PressesUnderWay,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(HostedGatewayConfig) private readonly config: HostedGatewayConfig,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  async execute(address: PayerAddress, press: PressOfPay): Promise<PressOutcome> {
    const shown = await this.shownPayables.findAt(address);
    if (!shown) throw new DomainError('resource.not-found', { message: 'There is no such session.' });
    const pay = (): Promise<PressOutcome> => this.pay(shown, address, press);
    return this.underWay.during(payableIdOf(shown), press.try, () =>
      isInvoice(shown) ? pay() : continueTrace(shown.traceparent, 'pay session', pay),
    );
  }

  private async pay(shown: ShownPayable, address: PayerAddress, press: PressOfPay): Promise<PressOutcome> {
    const order = {
      reference: press.reference,
      try: press.try,
      encryptedCard: press.encryptedCard,
      payerReturnUrl: pageUrlOf(address, this.config, press.lang),
      payer: press.payer,
      deadline: this.clock.later(REQUEST_TIMEOUT_MS).toISOString(),
    };
    const payment = isInvoice(shown)
      ? await this.chargeInvoice(shown, press, order)
      : await this.commands.request(ChargeCardV1, { payable: payableOf(shown), ...order });
    await this.shownPayables.keepPayment(payment);
    return { payment, shown: withPayment(shown, payment) };
  }

  private async chargeInvoice(
    invoice: TillInvoice,
    { reference, amount = invoice.amount, tipAmount = 0 }: PressOfPay,
    order: Omit<ChargeInvoice, 'payable' | 'amount' | 'tipAmount'>,
  ): Promise<AnyPaymentSnapshot> {
    // The payable itself has more tries: a stranger who uses up those of the page keeps nobody from paying with an app.
    const isRepeat = invoice.payments.some((payment) => payment.reference === reference);
    if (triesLeftOf(invoice) <= 0 && !isRepeat) throw new DomainError('payable.refused');
    try {
      const payable = payableOfInvoice(invoice);
      return await this.commands.request(ChargeInvoiceV1, { payable, amount, tipAmount, ...order });
    } catch (error) {
      if (error instanceof DomainError && error.code.startsWith('payable.')) await this.catchUp(invoice);
      throw error;
    }
  }

  /** The page showed a form for what can no longer be paid: an event is late, or came before the invoice's own. */
  private async catchUp({ invoiceReference: payableId }: TillInvoice): Promise<void> {
    try {
      const payments = await this.commands.request(CheckPaymentsV1, { payableId }, NEWS_MS_MAX);
      await this.shownPayables.keepPayments(payments);
      const { payable } = await this.commands.request(FindPayableV1, { payableId }, NEWS_MS_MAX);
      if (payable) await this.shownPayables.keepPayable(payable);
    } catch (error) {
      this.log.info({ err: error }, 'invoice update unavailable, the page shows the last known state');
    }
  }
}
