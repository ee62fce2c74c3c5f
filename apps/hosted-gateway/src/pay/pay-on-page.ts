import { Inject, Injectable } from '@nestjs/common';
import {
  ChargeCardV1,
  type ChargeInvoice,
  ChargeInvoiceV1,
  CheckPaymentsV1,
  FindPayableV1,
  type PayerContext,
  type PaymentSnapshot,
} from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { addPaymentToSpan, Commands, continueTrace, REQUEST_TIMEOUT_MS } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { PayerChallenges } from '../challenge/payer-challenges.js';
import { RecentDeclines } from '../challenge/recent-declines.js';
import { HostedGatewayConfig } from '../config.js';
import { applyPayment } from '../payment-copies/apply-payment.js';
import { type InFlightPayment, InFlightPayments } from '../payment-copies/in-flight-payments.js';
import { buildPageUrl, type PayerAddress } from '../sessions/payer-address.js';
import { describePayable } from '../sessions/session.js';
import { describeInvoicePayable, type TillInvoice } from '../till-codes/till-invoice.js';
import { getPayableId, isInvoice, type PagePayable } from './payables/page-payable.js';
import { PagePayableRepository } from './payables/page-payable.repository.js';
import { checkPaymentLimit } from './payables/payment-limits.js';

/** A pay request of the page. */
export interface PayCommand {
  readonly reference: string;
  /** Number of the payment for the payable, from 1. The encrypted card is valid only for this payment. */
  readonly paymentNumber: number;
  readonly encryptedCard: string;
  /** Cents that the payer of an invoice chose. */
  readonly amount?: number;
  readonly tipAmount?: number;
  /** Sent with the charge command. Not stored. */
  readonly payer: PayerContext;
  /** Address of the payer, from the trusted proxies. */
  readonly ip: string;
  /** The challenge that the page solved, and its solution. */
  readonly challenge?: string;
  readonly solution?: number;
  /** Language in the address of the page, if any. The bank redirects the payer to an address with the same language. */
  readonly lang?: string | undefined;
}

/** The payment, and the session or invoice after it. */
export interface PayResult {
  readonly payment: PaymentSnapshot;
  readonly payable: PagePayable;
}

/**
 * If the bank has not responded after this time, the service stores that the payment is in progress, so that the
 * merchant and other tabs see it. A faster payment is stored once, with its result.
 */
const STORE_PROGRESS_AFTER_MS = 300;

/** Timeout of each query for the reason of a rejection. The payer waits for the response. */
const REFRESH_TIMEOUT_MS = 2_000;

/**
 * Charges the payable of a page. The card is encrypted: this service cannot decrypt it and does not store it. The
 * result is stored before the response to the page, so that the merchant can read it before the payer returns (H3).
 */
@Injectable()
export class PayOnPage {
  constructor(
    @Inject(PagePayableRepository) private readonly payables: PagePayableRepository,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(InFlightPayments) private readonly inFlightPayments: InFlightPayments,
    @Inject(PayerChallenges) private readonly challenges: PayerChallenges,
    @Inject(RecentDeclines) private readonly recentDeclines: RecentDeclines,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(HostedGatewayConfig) private readonly config: HostedGatewayConfig,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  async execute(address: PayerAddress, command: PayCommand): Promise<PayResult> {
    const payable = await this.payables.getByAddress(address);
    // A repeat of a payment starts no other payment, so it needs no other solution.
    const isRepeat = payable.payments.some(({ reference }) => reference === command.reference);
    if (!isRepeat) await this.challenges.verify({ ...payable, payableId: getPayableId(payable) }, command, command.ip);
    using inFlight = this.inFlightPayments.add(getPayableId(payable), command.paymentNumber);
    const slowTimer = setTimeout(() => void this.storeProgress(inFlight), STORE_PROGRESS_AFTER_MS);
    try {
      const traceparent = isInvoice(payable) ? undefined : payable.traceparent;
      const result = await continueTrace(traceparent, 'pay session', () => this.pay(payable, address, command));
      // The report may be newer, if it is about an earlier payment that its payer has just confirmed with the bank.
      await this.storeProgress(inFlight, result.payment.payable.version);
      if (!isRepeat && isDeclined(result.payment)) this.recentDeclines.add(command.ip);
      return result;
    } catch (error) {
      if (error instanceof DomainError && error.code === 'card.too-many-attempts') this.recentDeclines.add(command.ip);
      // The result may be unknown: a request without a response does not end the payment.
      await this.storeProgress(inFlight);
      const isKnown = payable.payments.some(({ state }) => state === 'processing');
      if (error instanceof DomainError && error.code === 'payment.in-progress' && !isKnown)
        await this.tryRefresh(() => this.refreshPayments(getPayableId(payable)));
      throw error;
    } finally {
      clearTimeout(slowTimer);
    }
  }

  /** Stores the report that the payment is in progress, if it has arrived. The events after it are stored as usual. */
  private async storeProgress(inFlight: InFlightPayment, storedVersion = 0): Promise<void> {
    const report = inFlight.takeReport();
    if (!report || report.payable.version <= storedVersion) return;
    try {
      await this.payables.upsertPayment(report);
    } catch (error) {
      this.log.warn({ err: error }, 'a payment in progress could not be stored, its result will be');
    }
  }

  private async pay(payable: PagePayable, address: PayerAddress, command: PayCommand): Promise<PayResult> {
    const chargeFields = {
      reference: command.reference,
      paymentNumber: command.paymentNumber,
      encryptedCard: command.encryptedCard,
      payerReturnUrl: buildPageUrl(address, this.config, command.lang),
      payer: command.payer,
      deadline: this.clock.later(REQUEST_TIMEOUT_MS).toISOString(),
    };
    const payment = isInvoice(payable)
      ? await this.chargeInvoice(payable, address, command, chargeFields)
      : await this.commands.request(ChargeCardV1, { payable: describePayable(payable), ...chargeFields });
    addPaymentToSpan(payment);
    await this.payables.upsertPayment(payment);
    return { payment, payable: applyPayment(payable, payment) };
  }

  private async chargeInvoice(
    invoice: TillInvoice,
    address: PayerAddress,
    { reference, amount = invoice.amount, tipAmount = 0, paymentNumber }: PayCommand,
    chargeFields: Omit<ChargeInvoice, 'payable' | 'amount' | 'tipAmount'>,
  ): Promise<PaymentSnapshot> {
    const isRepeat = invoice.payments.some((payment) => payment.reference === reference);
    if (!isRepeat) {
      if (checkPaymentLimit(invoice, address, this.clock.now()) !== 'allowed') throw new DomainError('payable.refused');
      // payment-processor accepts only the next payment. So no payment that this check has not counted can precede this
      // one, and concurrent requests cannot exceed the limit.
      if (paymentNumber !== invoice.paymentCount + 1) throw new DomainError('payment.in-progress');
    }
    try {
      const payable = describeInvoicePayable(invoice);
      return await this.commands.request(ChargeInvoiceV1, { payable, amount, tipAmount, ...chargeFields });
    } catch (error) {
      if (error instanceof DomainError && error.code.startsWith('payable.'))
        await this.tryRefresh(() => this.refreshInvoice(invoice));
      throw error;
    }
  }

  /**
   * Reads the state from payment-processor. The page showed a form although the invoice cannot be paid, because an
   * event was late or arrived before the invoice.
   */
  private async refreshInvoice({ invoiceReference: payableId }: TillInvoice): Promise<void> {
    await this.refreshPayments(payableId);
    const { payable } = await this.commands.request(FindPayableV1, { payableId }, REFRESH_TIMEOUT_MS);
    if (payable) await this.payables.updateInvoice(payable);
  }

  /**
   * The page showed a form although a payment is in progress. Its report may be lost, because the process that kept it
   * has crashed.
   */
  private async refreshPayments(payableId: string): Promise<void> {
    const payments = await this.commands.request(CheckPaymentsV1, { payableId }, REFRESH_TIMEOUT_MS);
    await this.payables.upsertPayments(payments);
  }

  private async tryRefresh(refresh: () => Promise<void>): Promise<void> {
    try {
      await refresh();
    } catch (error) {
      this.log.info({ err: error }, 'update unavailable, the page shows the last known state');
    }
  }
}

/** True if the bank declined the card. False if the bank could not be reached, which is not the payer's fault. */
function isDeclined({ state, errors }: PaymentSnapshot): boolean {
  return state === 'failed' && errors.some(({ errorReference }) => errorReference.startsWith('1'));
}
