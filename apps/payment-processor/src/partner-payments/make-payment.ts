import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { AuthenticatedPartner } from '@svc/auth';
import {
  MakePaymentRequest,
  type PartnerPayment,
  type PaymentCustomer,
  restrictToSessionFeatures,
  ShowPaymentV1,
} from '@svc/contracts';
import { Clock, DomainError, encodeUrlForHeader, newPaymentReference } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { readBody } from '@svc/service';
import type { Acquirer } from '../acquirers/acquirer.js';
import { Acquirers, type ChargeRoute } from '../acquirers/acquirers.js';
import { AcquirerPermits } from '../acquirers/availability/acquirer-permits.js';
import { StoreCard } from '../cards/store-card.js';
import { PaymentProcessorConfig } from '../config.js';
import { IdempotentCalls } from '../idempotency/idempotent-calls.js';
import { CheckPayments } from '../jobs/check-payments.js';
import { amountToProcess } from '../payables/amount-to-process.js';
import { findRefusal, type PayableRefusal } from '../payables/payable.js';
import { BrowserDataUrls } from '../payer-urls/browser-data-urls.js';
import { ChargeAttempt } from '../payments/charge-attempt.js';
import { acceptedPayment, type Settlement } from '../payments/payment.js';
import { PaymentOutcomes } from '../payments/payment-outcomes.js';
import { SettleAttempt } from '../payments/settle-attempt.js';
import { RestoreGate } from '../restore-gate/restore-gate.js';
import type { PaymentChecks } from '../velocity/velocity-checks.js';
import { VelocityGuard } from '../velocity/velocity-guard.js';
import {
  type CurrentPayment,
  type KnownMerchant,
  type NewPartnerPayment,
  PartnerPaymentRepository,
  type PayableToPay,
  type PaymentOwner,
} from './partner-payment.repository.js';
import { type PaymentMethod, PaymentMethods } from './payment-method.js';
import { paymentRules } from './payment-rules.js';
import { addRegisteredName, checkTerms, computeFingerprint, newAmountError, resolveCustomer } from './payment-terms.js';
import { ResolveCode } from './resolve-code.js';

/** If the outcome is still unknown after this time, the payment is returned as `processing` (P6). */
const RESPONSE_TIMEOUT_MS = 20_000;
/** A charge must start within this time, because a later charge could end after the response. */
const MAX_CHARGE_DELAY_MS = 10_000;
/** Interval at which the outcome of a processing payment is polled. */
const POLL_INTERVAL_MS = 500;
/** Timeout of the command that updates the payment history. After a timeout, the event updates the history. */
const HISTORY_TIMEOUT_MS = 1_000;
/**
 * Maximum number of reads of a payable. If the payable changes between a read and its reservation, it is read again.
 * After the last read the call fails with `payment.in-progress`.
 */
const MAX_PAYABLE_READS = 3;

/** A card is stored in the vault of one acquirer, and the merchant is paid through another. */
const FOREIGN_CARD_MESSAGE =
  'This stored card belongs to another bank than the one that charges for this merchant. Pay with the card data, or with another card';

type PaymentCard = NonNullable<PaymentMethod['card']>;

/** A validated call, before any database query. */
interface PaymentCall {
  readonly partner: AuthenticatedPartner;
  readonly request: MakePaymentRequest;
  readonly customer: PaymentCustomer;
  /** The bank redirects the payer to this URL. */
  readonly returnUrl: string | undefined;
  /** Fingerprint of the request without card data: the same reference with another request is a conflict. */
  readonly fingerprint: string;
}

/** A payable whose terms allow the payment. */
interface CheckedTerms {
  readonly payableToPay: PayableToPay;
  readonly merchant: KnownMerchant;
  readonly siteReference: string;
  readonly method: PaymentMethod;
}

/**
 * Makes a payment of a partner or its customer (P6): checks the terms, accepts the payment and charges the card. A
 * payment without a card is accepted and settled in one transaction. Each reference of an organisation and mode has at
 * most one payment (C7).
 */
@Injectable()
export class MakePayment {
  private readonly calls: IdempotentCalls<CurrentPayment>;

  constructor(
    @Inject(PartnerPaymentRepository) private readonly payments: PartnerPaymentRepository,
    @Inject(PaymentMethods) private readonly methods: PaymentMethods,
    @Inject(ResolveCode) private readonly resolveCode: ResolveCode,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(AcquirerPermits) private readonly permits: AcquirerPermits,
    @Inject(ChargeAttempt) private readonly chargeAttempt: ChargeAttempt,
    @Inject(SettleAttempt) private readonly settleAttempt: SettleAttempt,
    @Inject(PaymentOutcomes) private readonly outcomes: PaymentOutcomes,
    @Inject(VelocityGuard) private readonly velocity: VelocityGuard,
    @Inject(RestoreGate) private readonly restoreGate: RestoreGate,
    @Inject(StoreCard) private readonly storeCard: StoreCard,
    @Inject(BrowserDataUrls) private readonly browserDataUrls: BrowserDataUrls,
    @Inject(CheckPayments) private readonly checkPayments: CheckPayments,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
  ) {
    const settings = { constraint: 'partner_references_pkey', inProgress: 'payment.in-progress' } as const;
    this.calls = new IdempotentCalls(settings, clock);
  }

  /**
   * First throws 403 for fields that this caller may not use, and then 400 with all invalid fields. Both checks come
   * before any database query. `replayed` is true when an earlier call with this reference has created the payment.
   */
  async execute(partner: AuthenticatedPartner, body: unknown): Promise<{ payment: PartnerPayment; replayed: boolean }> {
    const urlRules = { allowLoopbackHttp: this.config.SVC_ENVIRONMENT === 'development' };
    const request = await readBody(MakePaymentRequest, body, paymentRules(partner, urlRules, this.clock.now()));
    const customer = resolveCustomer(partner, request);
    const returnUrl = typeof request.returnUrl === 'string' ? encodeUrlForHeader(request.returnUrl) : undefined;
    const fingerprint = computeFingerprint(request, customer);
    const deadline = this.clock.later(RESPONSE_TIMEOUT_MS);
    const { reference } = request;
    const { result, replayed } = await this.calls.runOncePerKey({
      id: [partner.organisationId, partner.mode, reference.toLowerCase()].join(),
      fingerprint,
      deadline,
      find: () => this.payments.findByReference(partner, reference),
      create: () => this.create({ partner, request, customer, returnUrl, fingerprint }),
      finish: (payment) => this.awaitOutcome(partner, reference, deadline, payment),
    });
    return { payment: result.payment, replayed };
  }

  /** Accepts the payment and charges the card. Throws when the payment is rejected. */
  private async create(call: PaymentCall): Promise<void> {
    await this.restoreGate.assertOpen();
    const { partner, request, customer } = call;
    const remainingAmount = amountToProcess({
      amount: request.amount,
      tipAmount: request.tipAmount ?? 0,
      vouchers: request.vouchers ?? [],
    });
    const method = await this.methods.resolve(partner, customer.id, request, remainingAmount);
    const chargeDeadline = this.clock.later(MAX_CHARGE_DELAY_MS);
    const resolved = await this.resolveCode.execute(partner, request);
    let storedToken: string | undefined;
    for (let read = 1; read <= MAX_PAYABLE_READS; read++) {
      const payableToPay =
        read === 1 && resolved.payableToPay
          ? resolved.payableToPay
          : await this.payments.findPayable(partner, resolved.payableId);
      if (!payableToPay) throw new DomainError('payable.not-found');
      const { payable, merchant, siteReference } = payableToPay;
      // The merchant's terms have not arrived yet.
      if (!merchant || siteReference === undefined)
        throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
      const features =
        payable.source.kind === 'session' ? restrictToSessionFeatures(merchant.features) : merchant.features;
      checkTerms(partner, request, { ...merchant, amount: payable.amount, features });
      if (resolved.isStatic && request.amount !== payable.amount) throw newAmountError(payable.amount);
      const payableTerms = {
        ...payable,
        expiresAt: new Date(payable.expiresAt),
        state: payableToPay.state,
        paymentCount: payableToPay.paymentCount,
      };
      const refusal = findRefusal(
        payableTerms,
        { ...payableTerms, paymentNumber: payableToPay.paymentCount + 1 },
        this.clock.now(),
      );
      if (refusal) throw refusalError(refusal);
      const terms = { payableToPay, merchant, siteReference, method };
      if (method.card) {
        const route = await this.findRoute(call, terms, method.card);
        const acquirer = this.acquirers.get(route.acquirer);
        if (acquirer.needsBrowser) {
          storedToken ??= await this.tokenOf(call, terms, acquirer, method.card);
          if (await this.requireBrowserData(call, terms, route, storedToken)) return;
        } else if (await this.charge(call, terms, route, method.card, chargeDeadline)) return;
      } else {
        const payment = newPayment(call, terms, this.clock.now());
        const settled = await this.payments.acceptAsSettled(payment, settlementWithoutCharge(method.external));
        if (settled) return this.outcomes.reportFinal(settled);
      }
    }
    // The payable was free at each read. Either other payments of it came and went, or payments in flight have used the
    // last attempt of the card's range or of the organisation (P11).
    throw new DomainError('payment.in-progress', {
      message: 'Other payments are in progress, and this one was not accepted. Nothing was charged. Send it again.',
      retryAfterSeconds: 2,
    });
  }

  private async findRoute(
    { partner }: PaymentCall,
    { payableToPay }: CheckedTerms,
    card: PaymentCard,
  ): Promise<ChargeRoute> {
    const route = await this.acquirers.find(payableToPay.payable.merchantId, partner.mode);
    if (!route) throw new DomainError('live-mode.unavailable');
    if ('token' in card && card.acquirer !== route.acquirer)
      throw new DomainError('payment.not-accepted', {
        fields: [{ field: 'paymentMethod.card.token', message: FOREIGN_CARD_MESSAGE }],
      });
    return route;
  }

  /**
   * Accepts the payment. Its payer opens our page, which charges the card with the data of the browser ({@link
   * ChargeWithBrowserData}). False when the payable changed after it was read.
   */
  private requireBrowserData(
    call: PaymentCall,
    terms: CheckedTerms,
    route: ChargeRoute,
    cardToken: string,
  ): Promise<boolean> {
    const payment = newPayment(call, terms, this.clock.now());
    const url = this.browserDataUrls.build(payment.payment.paymentReference);
    const charge = { route, cardToken, payerReturnUrl: call.returnUrl, challenge: { url } };
    return this.payments.acceptForBrowserData(payment, { state: 'verificationRequired', ...charge });
  }

  private buildChecks(
    { partner: { organisationId } }: PaymentCall,
    { payableToPay: { payable } }: CheckedTerms,
    card: PaymentCard,
  ): Promise<PaymentChecks | undefined> {
    return this.velocity.buildChecks({ ...payable, payer: { organisationId } }, card);
  }

  /**
   * The token of a stored card. Another card is stored for the payer's visit of our page. A card that a limit refuses now is
   * refused here, and the charge on the page checks the limits again (P11).
   */
  private async tokenOf(
    call: PaymentCall,
    terms: CheckedTerms,
    acquirer: Acquirer,
    card: PaymentCard,
  ): Promise<string> {
    const { payable } = terms.payableToPay;
    if (!('token' in card)) return this.storeCard.storeForOnePayment(acquirer, call.partner, card, payable);
    const refusal = await this.velocity.findRefusal(await this.buildChecks(call, terms, card), payable);
    if (refusal) throw new DomainError(refusal);
    return card.token;
  }

  /** False when the payable changed after it was read. */
  private async charge(
    call: PaymentCall,
    terms: CheckedTerms,
    route: ChargeRoute,
    card: PaymentCard,
    deadline: Date,
  ): Promise<boolean> {
    using permit = await this.permits.take(route, deadline);
    if (!permit) throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
    const { payable } = terms.payableToPay;
    const checks = await this.buildChecks(call, terms, card);
    const attempt = await this.payments.acceptForAcquirer(newPayment(call, terms, this.clock.now()), route, checks);
    if (!attempt) {
      await this.velocity.free(checks);
      const refusal = await this.velocity.findRefusal(checks, payable);
      if (refusal) throw new DomainError(refusal);
      return false;
    }
    const source = { card, payer: undefined, payerReturnUrl: call.returnUrl, pageOrigin: undefined };
    const outcome = await this.chargeAttempt.execute(attempt, source, deadline);
    permit.release();
    await this.settleAttempt.execute(attempt, outcome);
    return true;
  }

  /**
   * Waits for the outcome. If the payment is still `processing` at the deadline, returns it in this state. Updates the
   * payment history with the returned state before the client gets the response (P5).
   */
  private async awaitOutcome(
    owner: PaymentOwner,
    reference: string,
    deadline: Date,
    payment: CurrentPayment,
  ): Promise<CurrentPayment> {
    let current = payment;
    for (let poll = 1; current.payment.state === 'processing' && this.clock.now() < deadline; poll++) {
      if (poll > 1) await pause(POLL_INTERVAL_MS);
      await this.checkPayments.execute(current.payment.payable.payableId);
      current = (await this.payments.findByReference(owner, reference)) ?? current;
    }
    await this.commands
      .request(ShowPaymentV1, { payment: current.payment, version: current.version }, HISTORY_TIMEOUT_MS)
      .catch(() => undefined);
    return current;
  }
}

function refusalError(refusal: PayableRefusal): DomainError {
  return new DomainError(refusal, refusal === 'payment.in-progress' ? { retryAfterSeconds: 2 } : {});
}

function newPayment(
  { partner, request, customer, fingerprint }: PaymentCall,
  { payableToPay, merchant, siteReference, method }: CheckedTerms,
  now: Date,
): NewPartnerPayment {
  const { payable, version, paymentCount, customer: registeredName } = payableToPay;
  const { source } = payable;
  const externalReference = source.kind === 'session' ? source.merchantOrderId : source.externalReference;
  // For a session this is the session's id, as code-decoder returns it.
  const invoiceReference = source.kind === 'session' ? source.sessionId : source.invoiceReference;
  const accepted = acceptedPayment({
    payable,
    reference: request.reference,
    paymentReference: newPaymentReference(now),
    paymentMethodType: method.type,
    paymentMethodLabel: method.label,
    paymentNumber: paymentCount + 1,
    now,
    amount: request.amount,
    tipAmount: request.tipAmount ?? 0,
    partner: {
      partner: { organisationId: partner.organisationId, customer: addRegisteredName(customer, registeredName) },
      merchantName: merchant.name,
      siteReference,
      ...(method.external ? { externalPaymentReference: method.external.reference } : {}),
      ...(request.orderReference ? { orderReference: request.orderReference } : {}),
      invoiceReference,
      ...(externalReference === undefined ? {} : { invoiceExternalReference: externalReference }),
      ...(request.vouchers?.length
        ? { vouchers: request.vouchers.map(({ merchantLiable, amount }) => ({ merchantLiable, amount })) }
        : {}),
    },
  });
  const payment = { ...accepted, payable: { ...accepted.payable, version: version + 1 } };
  return { owner: partner, fingerprint, payment, maxPayments: payable.maxPayments };
}

/**
 * The settlement of a payment without a charge: the status of the external payment, or success if vouchers cover the
 * whole amount.
 */
function settlementWithoutCharge(external: PaymentMethod['external']): Settlement {
  return external?.status === 'failed' ? { state: 'failed', error: 'external.failed' } : { state: 'success' };
}
