import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock, formatRands } from '@svc/kernel';
import type { MerchantPayment } from '@svc/sdk';
import { type Answer, mergeAnswers, ok, stop, warn } from '../answers/answer.js';
import { type BasketContent, isSameContent, isSumCorrect, MAX_LINES } from '../baskets/basket.js';
import { type Basket, BasketRepository, type Till } from '../baskets/basket.repository.js';
import { buildInvoiceRequest, chooseExternalReference } from '../baskets/invoice-request.js';
import { type RequestedTotal, TotalRepository } from '../baskets/total.repository.js';
import { coveredAmount } from '../payments/payment.js';
import { type BasketPayment, PaymentRepository } from '../payments/payment.repository.js';
import type { CallOutcome } from '../platform/call-queue.js';
import { CallSender } from '../platform/call-sender.js';
import { OutgoingCallRepository } from '../platform/outgoing-call.repository.js';
import { Platform } from '../platform/platform.js';
import { ChangeNotifier } from '../store/change-notifier.js';
import { Store } from '../store/store.js';

/** A till's request for the payment of a basket. */
interface RequestPaymentCommand {
  readonly till: Till;
  /** Whether the till sends baskets line by line (`lines`) or as a whole (`facade`). */
  readonly dialect: Basket['dialect'];
  /** The existing basket; if undefined, a basket is created. */
  readonly basket: Basket | undefined;
  /** The till's reference of the order. */
  readonly reference: string;
  readonly amountCents: number;
  readonly content: BasketContent;
}

interface TotalAnswer {
  readonly answer: Answer;
  /** The invoice that a customer can pay, or has paid. */
  readonly code?: { readonly invoiceReference: string; readonly code: string; readonly token: string };
}

const NOTHING_DUE = ok('This basket owes nothing: no code was made.');
const QUEUED = warn(
  'The payment service cannot be reached. The basket is kept, and its code is made when the service is back.',
);
const IN_PROGRESS = stop('A customer is paying this basket now. Wait for the payment, or try again in a moment.');
const JUST_PAID = warn('An earlier version of this basket has just been paid. No new code was made.');
const CHANGED = warn('This basket has changed meanwhile, or its code was closed. Send total again.');

/**
 * Creates the invoice of a basket: stores the requested amount (a total) together with the call that creates the
 * invoice, then waits for the platform up to the response timeout of tills. If the platform refuses the total while the
 * till waits, the basket stays unchanged.
 */
@Injectable()
export class RequestPayment {
  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(BasketRepository) private readonly baskets: BasketRepository,
    @Inject(TotalRepository) private readonly totals: TotalRepository,
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(OutgoingCallRepository) private readonly calls: OutgoingCallRepository,
    @Inject(Platform) private readonly platform: Platform,
    @Inject(CallSender) private readonly sender: CallSender,
    @Inject(ChangeNotifier) private readonly changes: ChangeNotifier,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async execute(command: RequestPaymentCommand): Promise<TotalAnswer> {
    const { basket, reference, amountCents, content } = command;
    if (content.lines.length > MAX_LINES) return { answer: stop(`A basket has at most ${MAX_LINES} lines.`) };
    const current = basket && this.totals.findCurrent(basket.basketId);
    const payment = basket && this.payments.findDecisive(basket.basketId);
    const isPaid = payment?.payment.status === 'Success';
    const hasPendingInvoice = current !== undefined && (current.state === 'open' || current.state === 'queued');
    if (basket && basket.reference !== null && basket.reference !== reference && (isPaid || hasPendingInvoice))
      return { answer: stop(`This basket belongs to order ${basket.reference}. Reset it before the next order.`) };

    const sumWarning = isSumCorrect(content, amountCents)
      ? undefined
      : warn(`The lines of this basket do not make ${formatRands(amountCents)}. Check the basket.`);
    const { answer, code } =
      basket && isPaid
        ? this.answerPaidBasket(basket, current, payment, command)
        : hasPendingInvoice && basket?.state === 'open' && this.isRepeat(current, command)
          ? await this.answerRepeatedTotal(basket, current, command)
          : await this.createTotal(command);
    return { answer: mergeAnswers(answer, sumWarning), ...(code === undefined ? {} : { code }) };
  }

  private isRepeat(current: RequestedTotal, { amountCents, content }: RequestPaymentCommand): boolean {
    const isValid = !current.isWithdrawn && (current.expiresAt === null || current.expiresAt > this.clock.nowISO());
    return isValid && current.amountCents === amountCents && isSameContent(current.content, content);
  }

  /**
   * Answers a till that repeats its total, because it got no response or because it checks whether the code exists now.
   */
  private async answerRepeatedTotal(
    basket: Basket,
    { totalId }: RequestedTotal,
    command: RequestPaymentCommand,
  ): Promise<TotalAnswer> {
    const callId = this.calls.findWaitingInvoiceCall(totalId);
    if (callId === undefined) return this.answerWithCode(basket, totalId, ok());
    const outcome = await this.sender.waitForOutcome(basket.siteId, 'invoices', callId);
    return this.answerForOutcome(basket, totalId, outcome, command);
  }

  /**
   * Answers a total of a paid basket. Creates no second invoice: the cashier settles a difference with the customer.
   */
  private answerPaidBasket(
    basket: Basket,
    current: RequestedTotal | undefined,
    paidBy: BasketPayment,
    command: RequestPaymentCommand,
  ): TotalAnswer {
    const covered = coveredAmount(paidBy.payment);
    if (covered === command.amountCents) {
      const answer = ok(`This basket has been paid: ${formatRands(covered)}.`);
      return paidBy.totalId === null ? { answer } : this.answerWithCode(basket, paidBy.totalId, answer);
    }
    if (current?.amountCents !== command.amountCents || !isSameContent(current.content, command.content))
      this.store.transaction((tx) =>
        this.totals.create(tx, {
          basketId: basket.basketId,
          amountCents: command.amountCents,
          content: command.content,
          request: null,
          idempotencyKey: null,
        }),
      );
    this.changes.notify(basket.siteId);
    return { answer: paidAmountWarning(paidBy.payment, command.amountCents) };
  }

  private async createTotal(command: RequestPaymentCommand): Promise<TotalAnswer> {
    const { siteId } = command.till;
    const { basket, totalId, callId } = this.saveTotal(command);
    this.changes.notify(siteId);
    if (callId === undefined) return { answer: NOTHING_DUE };
    const outcome = await this.sender.waitForOutcome(siteId, 'invoices', callId);
    if (command.basket?.state === 'saved') this.restoreSavedState(basket, totalId);
    return this.answerForOutcome(basket, totalId, outcome, command);
  }

  /** A STOP must change nothing (T2). Therefore a saved basket becomes saved again if its new total was refused. */
  private restoreSavedState({ basketId, siteId }: Basket, totalId: number): void {
    if (this.totals.get(totalId).state !== 'refused' || this.baskets.get(basketId).state !== 'open') return;
    this.store.transaction((tx) => this.baskets.setState(tx, basketId, 'saved'));
    this.changes.notify(siteId);
  }

  private saveTotal(command: RequestPaymentCommand): {
    readonly basket: Basket;
    readonly totalId: number;
    readonly callId: number | undefined;
  } {
    const { till, dialect, basket: existing, reference, amountCents, content } = command;
    const { siteId } = till;
    return this.store.transaction((tx) => {
      const basket = existing ?? this.baskets.create(tx, till, dialect);
      const { basketId } = basket;
      const externalReference =
        basket.externalReference !== null && basket.reference === reference
          ? basket.externalReference
          : chooseExternalReference(
              reference,
              basket.token,
              this.baskets.isExternalReferenceUsed(siteId, reference, basketId),
            );
      this.baskets.setReference(tx, basketId, reference, externalReference);
      if (basket.till !== till.till) this.baskets.moveToTill(tx, basketId, till.till);
      this.baskets.setState(tx, basketId, 'open');
      const createdUTCDate = this.clock.nowISO();
      const siteReference = till.till === '' ? this.platform.siteSettings(siteId).siteReference : till.till;
      const { lines } = content;
      const idempotencyKey = amountCents > 0 ? randomUUID() : null;
      const request =
        idempotencyKey === null
          ? null
          : buildInvoiceRequest({
              externalReference,
              idempotencyKey,
              siteReference,
              amountCents,
              lines,
              createdUTCDate,
            });
      const totalId = this.totals.create(tx, { basketId, amountCents, content, request, idempotencyKey });
      // The platform replaces earlier invoices when it creates the new one, so earlier calls are not needed.
      this.calls.supersedeInvoices(tx, basketId);
      const call = { siteId, subject: externalReference, basketId, totalId };
      const callId = request
        ? this.calls.append(tx, { ...call, kind: 'create-invoice' })
        : this.totals.mayHavePayableInvoice(basketId, tx)
          ? this.calls.append(tx, { ...call, kind: 'close-invoice' })
          : undefined;
      return {
        basket: { ...basket, till: till.till, reference, externalReference, state: 'open' as const },
        totalId,
        callId,
      };
    });
  }

  private answerForOutcome(
    basket: Basket,
    totalId: number,
    outcome: CallOutcome,
    command: RequestPaymentCommand,
  ): TotalAnswer {
    // The outcome may be that a response was lost, and the customer has paid the invoice meanwhile.
    const payment = this.payments.findDecisive(basket.basketId);
    if (payment?.payment.status === 'Success')
      return this.answerPaidBasket(basket, this.totals.findCurrent(basket.basketId), payment, command);
    switch (outcome.kind) {
      case 'done':
        return this.answerWithCode(basket, totalId, ok());
      case 'cancelled':
        return { answer: CHANGED };
      case 'in-progress':
        return { answer: IN_PROGRESS };
      case 'already-paid':
        return { answer: JUST_PAID };
      case 'refused':
      case 'not-found':
        return { answer: stop(`The payment service refuses this basket: ${outcome.message}`) };
      case 'queued':
      case 'unreachable':
      case 'later':
        return { answer: QUEUED };
    }
  }

  private answerWithCode({ token }: Basket, totalId: number, answer: Answer): TotalAnswer {
    const { invoiceReference, code, state, isWithdrawn } = this.totals.get(totalId);
    if (state === 'without-invoice') return { answer: NOTHING_DUE };
    const isShown = state === 'paid' || (state === 'open' && !isWithdrawn);
    if (!isShown || invoiceReference === null || code === null) return { answer: CHANGED };
    return { answer, code: { invoiceReference, code, token } };
  }
}

/** A warning that the customer paid an earlier version of the basket, or less than its invoice. */
export function paidAmountWarning(payment: MerchantPayment, owedCents: number): Answer {
  const covered = coveredAmount(payment);
  const message =
    covered !== payment.invoicedAmount
      ? `${formatRands(covered)} instead of ${formatRands(payment.invoicedAmount)} was paid for this basket, which owes ${formatRands(owedCents)}. `
      : `${formatRands(covered)} was paid for an earlier version of this basket, which now owes ${formatRands(owedCents)}. `;
  return warn(`${message}No new code was made: settle the difference at the till.`);
}
