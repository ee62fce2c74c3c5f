import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { AuthenticatedPartner } from '@svc/auth';
import {
  type MakePaymentRequest,
  MAX_URL_LENGTH,
  type PartnerPayment,
  type PaymentCustomer,
  sessionFeatures,
  ShowPaymentV1,
} from '@svc/contracts';
import {
  Clock,
  codeOfParameter,
  DomainError,
  invalidField,
  isUuid,
  merchantUrlProblem,
  newPaymentReference,
  parseOwnCode,
} from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { isUniqueViolation } from '@svc/persistence';
import { Acquirer } from '../acquirers/acquirer.js';
import { AcquirerCalls } from '../acquirers/acquirer-calls.js';
import { PaymentProcessorConfig } from '../config.js';
import { CheckPayments } from '../payments/check-payments.js';
import { externalTransfer, voucherTransfers } from '../payments/ledger.js';
import { acceptedPayment, amountToProcess, type Settlement } from '../payments/payment.js';
import { SettleAttempt } from '../payments/settle-attempt.js';
import { InFlight } from './in-flight.js';
import {
  type KnownMerchant,
  type NewPartnerPayment,
  PartnerPaymentRepository,
  type PayableToPay,
  type PaymentOwner,
  type StandingPayment,
} from './partner-payment.repository.js';
import { type PaymentMethod, PaymentMethods } from './payment-method.js';
import { checkRequest, checkTerms, customerOf, fingerprintOf } from './payment-terms.js';

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
interface Wanted {
  readonly partner: AuthenticatedPartner;
  readonly request: MakePaymentRequest;
  readonly customer: PaymentCustomer;
  readonly fingerprint: string;
  /** Where the bank leads the payer back to. */
  readonly returnUrl: string | undefined;
  /** When it is answered whatever is known. */
  readonly until: Date;
}

export interface MadePayment {
  readonly payment: PartnerPayment;
  /** Whether the reference had made it before. */
  readonly replayed: boolean;
}

/**
 * A payment by a partner or its customer (P6), in the order of {@link ChargeCard}: payable, payment, idempotency key and
 * attempt are committed, then the acquirer is called, then its answer is committed.
 *
 * The same reference is one payment, however often and by however many it is sent (C7). In one process the first runs and
 * the others wait in memory; between processes the key in the tables decides, and the second looks at what the first does.
 */
@Injectable()
export class MakePayment {
  private readonly inFlight = new InFlight<StandingPayment & { readonly replayed: boolean }>();

  constructor(
    @Inject(PartnerPaymentRepository) private readonly payments: PartnerPaymentRepository,
    @Inject(PaymentMethods) private readonly methods: PaymentMethods,
    @Inject(Acquirer) private readonly acquirer: Acquirer,
    @Inject(AcquirerCalls) private readonly calls: AcquirerCalls,
    @Inject(SettleAttempt) private readonly settleAttempt: SettleAttempt,
    @Inject(CheckPayments) private readonly checkPayments: CheckPayments,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
  ) {}

  async execute(partner: AuthenticatedPartner, request: MakePaymentRequest): Promise<MadePayment> {
    const customer = customerOf(partner, request);
    checkRequest(partner, request);
    const returnUrl = this.returnUrlOf(request);
    const fingerprint = fingerprintOf(request, customer);
    const until = this.clock.later(ANSWER_MS_MAX);
    const wanted: Wanted = { partner, request, customer, fingerprint, returnUrl, until };
    const key = [partner.organisationId, partner.mode, request.reference.toLowerCase()].join();
    for (;;) {
      const running = this.inFlight.find(key);
      if (!running) return this.inFlight.start(key, () => this.makeOrFind(wanted));
      // Refused, it has made nothing: then this call, which may carry another card, is the first.
      const made = await running.catch(() => undefined);
      if (made) return { payment: sameRequest(made, fingerprint).payment, replayed: true };
      if (this.clock.now() >= wanted.until) throw new DomainError('payment.in-progress', { retryAfterSeconds: 2 });
    }
  }

  private async makeOrFind(wanted: Wanted): Promise<StandingPayment & { replayed: boolean }> {
    const { reference } = wanted.request;
    const known = await this.payments.findByReference(wanted.partner, reference);
    const begun = known ?? (await this.begin(wanted));
    const replayed = known !== undefined || begun !== undefined;
    const standing = begun ?? (await this.payments.findByReference(wanted.partner, reference));
    if (!standing) throw new Error('A payment that was just made is not there.');
    const outcome = await this.awaitOutcome(wanted, sameRequest(standing, wanted.fingerprint));
    // Readable as soon as this has answered (P5), also while its event is on the way.
    await this.commands
      .request(ShowPaymentV1, { payment: outcome.payment, version: outcome.version }, SHOW_MS_MAX)
      .catch(() => undefined);
    return { ...outcome, replayed };
  }

  /** Makes the payment. Returns one only where another replica has made it under this reference meanwhile. */
  private async begin(wanted: Wanted): Promise<StandingPayment | undefined> {
    const { partner, request, customer } = wanted;
    const left = amountToProcess({
      amount: request.amount,
      tipAmount: request.tipAmount ?? 0,
      vouchers: request.vouchers ?? [],
    });
    const method = await this.methods.open(partner, customer.id, request, left);
    for (let read = 1; read <= READS_MAX; read++) {
      const found = await this.findPayable(partner, request);
      const { merchant, siteReference } = found;
      // What the merchant agrees to is not known yet: identity's event is on the way.
      if (!merchant || siteReference === undefined)
        throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
      const { amount, source } = found.payable;
      const features = source.kind === 'session' ? sessionFeatures(merchant.features) : merchant.features;
      checkTerms(partner, request, { amount, features, grants: merchant.grants });
      const refusal = this.refusalOf(found);
      const payment = newPayment(wanted, found, { merchant, siteReference }, method, this.clock.now());
      if (!refusal && (await this.acceptAndPay(wanted, payment, method))) return undefined;
      // What holds or has paid it may be this very payment, made by another replica a moment ago.
      const made = await this.payments.findByReference(partner, request.reference);
      if (made) return made;
      if (refusal) throw refusal;
    }
    throw new DomainError('payment.in-progress', { retryAfterSeconds: 2 });
  }

  /** False when somebody was faster: at the payable, or under the same reference. */
  private async acceptAndPay(
    wanted: Wanted,
    payment: NewPartnerPayment,
    { card, external }: PaymentMethod,
  ): Promise<boolean> {
    try {
      if (!card)
        return await this.payments.acceptAsSettled(payment, settlementOf(external), transfersOf(payment, external));
      const open = await this.payments.acceptForAcquirer(payment, this.acquirer.name);
      if (!open) return false;
      const charge = {
        idempotencyKey: open.attemptId,
        paymentReference: open.payment.paymentReference,
        amount: amountToProcess(open.payment),
        currencyISOCode: open.payment.currencyISOCode,
        card,
        payerReturnUrl:
          wanted.returnUrl ?? `${this.config.SVC_API_URL}/v1/verifications/${open.payment.paymentReference}`,
      };
      const deadline = this.clock.later(CHARGE_BEGINS_MS_MAX);
      const outcome = await this.calls.make(deadline, (signal) => this.acquirer.charge(charge, signal));
      await this.settleAttempt.execute(open, outcome);
      return true;
    } catch (error) {
      if (isUniqueViolation(error, 'partner_references_pkey')) return false;
      throw error;
    }
  }

  private async awaitOutcome(wanted: Wanted, standing: StandingPayment): Promise<StandingPayment> {
    let at = standing;
    while (at.payment.state === 'processing' && this.clock.now() < wanted.until) {
      await this.checkPayments.execute(at.payment.payable.payableId);
      at = (await this.payments.findByReference(wanted.partner, wanted.request.reference)) ?? at;
      if (at.payment.state === 'processing') await pause(LOOK_AGAIN_MS);
    }
    return at;
  }

  private async findPayable({ mode }: PaymentOwner, request: MakePaymentRequest): Promise<PayableToPay> {
    const { code, invoiceReference } = request;
    let found: PayableToPay | undefined;
    if (code) {
      const own = parseOwnCode(codeOfParameter(code), this.config.SVC_CODES_URL);
      found = own === undefined ? undefined : await this.payments.findPayableByCode(mode, own);
    } else if (isUuid(invoiceReference)) {
      found = await this.payments.findPayable(mode, invoiceReference);
    }
    if (!found) throw new DomainError('payable.not-found');
    return found;
  }

  /** Only to say why: the statement that reserves it decides. */
  private refusalOf({ state, payable }: PayableToPay): DomainError | undefined {
    switch (state) {
      case 'paid':
      case 'refused':
      case 'closed':
        return new DomainError(`payable.${state}`);
      case 'reserved':
        return new DomainError('payment.in-progress', { retryAfterSeconds: 2 });
      case 'open':
        return Date.parse(payable.expiresAt) <= this.clock.now().getTime()
          ? new DomainError('payable.expired')
          : undefined;
    }
  }

  /** As a parser writes it: what the bank is given must not mean anything else there, nor be longer than it takes. */
  private returnUrlOf({ returnUrl }: MakePaymentRequest): string | undefined {
    if (returnUrl === undefined || returnUrl === null) return undefined;
    const allowLoopbackHttp = this.config.SVC_ENVIRONMENT === 'development';
    const problem = merchantUrlProblem('returnUrl', returnUrl, { allowLoopbackHttp });
    if (problem) throw new DomainError('request.invalid', { fields: [problem] });
    const { href } = new URL(returnUrl);
    if (href.length > MAX_URL_LENGTH)
      throw invalidField('returnUrl', `returnUrl must be at most ${MAX_URL_LENGTH} characters when it is encoded`);
    return href;
  }
}

function sameRequest(standing: StandingPayment, fingerprint: string): StandingPayment {
  if (standing.fingerprint !== fingerprint) throw new DomainError('request.idempotency-conflict');
  return standing;
}

function newPayment(
  { partner, request, customer, fingerprint }: Wanted,
  { payable, version, tries }: PayableToPay,
  { merchant, siteReference }: { merchant: KnownMerchant; siteReference: string },
  method: PaymentMethod,
  now: Date,
): NewPartnerPayment {
  const { source } = payable;
  const external =
    source.kind === 'session'
      ? source.merchantOrderId
      : source.kind === 'invoice'
        ? source.externalReference
        : undefined;
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
      partner: { organisationId: partner.organisationId, customer },
      merchantName: merchant.name,
      siteReference,
      ...(request.orderReference ? { orderReference: request.orderReference } : {}),
      ...(invoiceReference === undefined ? {} : { invoiceReference }),
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

function transfersOf({ payment }: NewPartnerPayment, external: PaymentMethod['external']) {
  if (external?.status === 'failed') return [];
  const left = amountToProcess(payment);
  return [...voucherTransfers(payment), ...(left > 0 ? [externalTransfer(payment, left)] : [])];
}
