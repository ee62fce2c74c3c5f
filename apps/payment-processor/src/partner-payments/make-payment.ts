import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { AuthenticatedPartner } from '@svc/auth';
import { MakePaymentRequest, type PaymentCustomer, sessionFeatures, ShowPaymentV1 } from '@svc/contracts';
import { Clock, DomainError, newPaymentReference } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { readBody } from '@svc/service';
import { PaymentProcessorConfig } from '../config.js';
import { CheckPayments } from '../jobs/check-payments.js';
import { type PayableRefusal, refusalOf } from '../payables/payable.js';
import { ChargeAttempt } from '../payments/charge-attempt.js';
import { amountToProcess } from '../payables/amount-to-process.js';
import { acceptedPayment, type Settlement } from '../payments/payment.js';
import {
  type CurrentPayment,
  type KnownMerchant,
  type NewPartnerPayment,
  PartnerPaymentRepository,
  type PayableToPay,
} from './partner-payment.repository.js';
import { type IdempotencyKey, type MadePayment, PaymentIdempotency } from './payment-idempotency.js';
import { type PaymentMethod, PaymentMethods } from './payment-method.js';
import { paymentRules } from './payment-rules.js';
import { ResolveCode } from './resolve-code.js';
import { checkTerms, customerOf, fingerprintOf, namedCustomer } from './payment-terms.js';

/** An outcome that is not known by then is answered as `processing` (P6). */
const ANSWER_MS_MAX = 20_000;
/** A charge that has not begun by then must not begin: its outcome would come after the answer. */
const CHARGE_BEGINS_MS_MAX = 10_000;
/** How often the outcome of a payment that is processing is looked for. */
const LOOK_AGAIN_MS = 500;
/** Longest that the history is waited for; it is told by the event as well. */
const SHOW_MS_MAX = 1_000;
/** How often a payable that changed between reading and reserving is read again; then it is somebody else's. */
const READS_MAX = 3;

/** One call, with what was made of it before anything was looked up. */
interface Wanted extends IdempotencyKey {
  readonly partner: AuthenticatedPartner;
  readonly request: MakePaymentRequest;
  readonly customer: PaymentCustomer;
  /** Where the bank leads the payer back to. */
  readonly returnUrl: string | undefined;
}

/**
 * A payment by a partner or its customer (P6): the terms are checked, then {@link ChargeAttempt} accepts and charges, or
 * the payment is accepted as settled where no card is charged. {@link PaymentIdempotency} makes a reference one payment.
 */
@Injectable()
export class MakePayment {
  constructor(
    @Inject(PartnerPaymentRepository) private readonly payments: PartnerPaymentRepository,
    @Inject(PaymentIdempotency) private readonly idempotency: PaymentIdempotency,
    @Inject(PaymentMethods) private readonly methods: PaymentMethods,
    @Inject(ResolveCode) private readonly resolveCode: ResolveCode,
    @Inject(ChargeAttempt) private readonly chargeAttempt: ChargeAttempt,
    @Inject(CheckPayments) private readonly checkPayments: CheckPayments,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
  ) {}

  /** Throws 403 for what this caller may not say, then 400 for all that is wrong with the body, before anything is looked up. */
  async execute(partner: AuthenticatedPartner, body: unknown): Promise<MadePayment> {
    const addresses = { allowLoopbackHttp: this.config.SVC_ENVIRONMENT === 'development' };
    const request = await readBody(MakePaymentRequest, body, paymentRules(partner, addresses, this.clock.now()));
    const customer = customerOf(partner, request);
    // As a parser writes it: what the bank is given must not mean anything else there.
    const returnUrl = typeof request.returnUrl === 'string' ? new URL(request.returnUrl).href : undefined;
    const fingerprint = fingerprintOf(request, customer);
    const until = this.clock.later(ANSWER_MS_MAX);
    const wanted = { owner: partner, reference: request.reference, fingerprint, until };
    return this.idempotency.once(
      wanted,
      () => this.make({ ...wanted, partner, request, customer, returnUrl }),
      (payment) => this.awaitOutcome(wanted, payment),
    );
  }

  /** Throws where the payment is refused. */
  private async make(wanted: Wanted): Promise<void> {
    const { partner, request, customer } = wanted;
    const left = amountToProcess({
      amount: request.amount,
      tipAmount: request.tipAmount ?? 0,
      vouchers: request.vouchers ?? [],
    });
    const method = await this.methods.open(partner, customer.id, request, left);
    const chargeBegins = this.clock.later(CHARGE_BEGINS_MS_MAX);
    const resolved = await this.resolveCode.execute(partner, request);
    for (let read = 1; read <= READS_MAX; read++) {
      const found =
        read === 1 && resolved.found ? resolved.found : await this.payments.findPayable(partner, resolved.payableId);
      if (!found) throw new DomainError('payable.not-found');
      const { payable, merchant, siteReference } = found;
      // What the merchant agrees to is not known yet: identity's event is on the way.
      if (!merchant || siteReference === undefined)
        throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
      const features = payable.source.kind === 'session' ? sessionFeatures(merchant.features) : merchant.features;
      const { minimumAmount, grants } = merchant;
      checkTerms(partner, request, { amount: payable.amount, features, minimumAmount, grants });
      if (resolved.isStatic && request.amount !== payable.amount) throw new DomainError('payable.mismatch');
      const terms = { ...payable, expiresAt: new Date(payable.expiresAt), state: found.state, tries: found.tries };
      const refusal = refusalOf(terms, { ...terms, try: found.tries + 1 }, this.clock.now());
      if (refusal) throw refusalError(refusal);
      const asNew = (): NewPartnerPayment =>
        newPayment(wanted, found, { merchant, siteReference }, method, this.clock.now());
      if (await this.acceptAndPay(wanted, payable.merchantId, asNew, method, chargeBegins)) return;
    }
    throw refusalError('payment.in-progress');
  }

  /** False when the payable changed after it was read. */
  private async acceptAndPay(
    { partner, returnUrl }: Wanted,
    merchantId: number,
    asNew: () => NewPartnerPayment,
    { card, external }: PaymentMethod,
    chargeBegins: Date,
  ): Promise<boolean> {
    if (!card) {
      const payment = asNew();
      return this.payments.acceptAsSettled(payment, settlementOf(external));
    }
    const result = await this.chargeAttempt.execute({
      mode: partner.mode,
      merchantId,
      deadline: chargeBegins,
      accept: (route) => this.payments.acceptForAcquirer(asNew(), route),
      sourceOf: ({ payment: { paymentReference } }) => ({
        card,
        payerReturnUrl: returnUrl ?? `${this.config.SVC_API_URL}/v1/verifications/${paymentReference}`,
        payer: undefined,
      }),
    });
    if (result.kind === 'modeUnavailable') throw new DomainError('live-mode.unavailable');
    if (result.kind === 'busy') throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
    return result.kind === 'charged';
  }

  /** Answers with the outcome, or with `processing` when the time is over; the history shows the same from then on (P5). */
  private async awaitOutcome(key: IdempotencyKey, payment: CurrentPayment): Promise<CurrentPayment> {
    let at = payment;
    for (let look = 1; at.payment.state === 'processing' && this.clock.now() < key.until; look++) {
      if (look > 1) await pause(LOOK_AGAIN_MS);
      await this.checkPayments.execute(at.payment.payable.payableId);
      at = (await this.payments.findByReference(key.owner, key.reference)) ?? at;
    }
    await this.commands
      .request(ShowPaymentV1, { payment: at.payment, version: at.version }, SHOW_MS_MAX)
      .catch(() => undefined);
    return at;
  }
}

function refusalError(refusal: PayableRefusal): DomainError {
  return new DomainError(refusal, refusal === 'payment.in-progress' ? { retryAfterSeconds: 2 } : {});
}

function newPayment(
  { partner, request, customer, fingerprint }: Wanted,
  { payable, version, tries, customer: known }: PayableToPay,
  { merchant, siteReference }: { merchant: KnownMerchant; siteReference: string },
  method: PaymentMethod,
  now: Date,
): NewPartnerPayment {
  const { source } = payable;
  const external = source.kind === 'session' ? source.merchantOrderId : source.externalReference;
  // Of a session its id, as whoever decoded its code was told.
  const invoiceReference = source.kind === 'session' ? source.sessionId : source.invoiceReference;
  const accepted = acceptedPayment({
    payable,
    reference: request.reference,
    paymentReference: newPaymentReference(now),
    paymentMethodType: method.type,
    paymentMethodLabel: method.label,
    try: tries + 1,
    now,
    amount: request.amount,
    tipAmount: request.tipAmount ?? 0,
    partner: {
      partner: { organisationId: partner.organisationId, customer: namedCustomer(customer, known) },
      merchantName: merchant.name,
      siteReference,
      ...(method.external ? { externalPaymentReference: method.external.reference } : {}),
      ...(request.orderReference ? { orderReference: request.orderReference } : {}),
      invoiceReference,
      ...(external === undefined ? {} : { invoiceExternalReference: external }),
      ...(request.vouchers?.length
        ? { vouchers: request.vouchers.map(({ merchantLiable, amount }) => ({ merchantLiable, amount })) }
        : {}),
    },
  });
  const payment = { ...accepted, payable: { ...accepted.payable, version: version + 1 } };
  return { owner: partner, fingerprint, payment, triesMax: payable.triesMax };
}

/** Where no acquirer is asked: what the partner says, or that nothing was left to pay. */
function settlementOf(external: PaymentMethod['external']): Settlement {
  return external?.status === 'failed' ? { state: 'failed', error: 'external.failed' } : { state: 'success' };
}
