import { Inject, Injectable } from '@nestjs/common';
import { FindTillInvoiceV1, type MakePaymentRequest } from '@svc/contracts';
import { codeOfParameter, DomainError, isUuid, ownHostFragment, parseOwnCode } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { PaymentProcessorConfig } from '../config.js';
import { PartnerPaymentRepository, type PayableToPay, type PayerScope } from './partner-payment.repository.js';

/** Longest that code-decoder is waited for, which answers from its own table; then the client is told to come again. */
const ANSWER_MS_MAX = 2_000;

/** What is to be paid. */
export interface ResolvedCode {
  /** UUID. */
  readonly payableId: string;
  /**
   * A till's static code stands for another invoice with each basket, so the amount alone shows that the payer means this
   * one: it may not be edited.
   */
  readonly isStatic: boolean;
  /** The payable, where it was read to find out. */
  readonly found?: PayableToPay;
}

/**
 * What the code or the reference of a payment stands for. Called once for a payment: a static code that stood for a newer
 * invoice a moment later would charge the payer for somebody else's basket.
 */
@Injectable()
export class ResolveCode {
  constructor(
    @Inject(PartnerPaymentRepository) private readonly payments: PartnerPaymentRepository,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
  ) {}

  /** Throws `payable.not-found`, and `code.third-party` for a code that is not of this service. */
  async execute(payer: PayerScope, { code, invoiceReference }: MakePaymentRequest): Promise<ResolvedCode> {
    const resolved = code
      ? await this.resolveOwn(payer, this.ownCodeOf(code))
      : { payableId: invoiceReference ?? '', isStatic: false };
    if (!resolved || !isUuid(resolved.payableId)) throw new DomainError('payable.not-found');
    return resolved;
  }

  private ownCodeOf(parameter: string): string {
    const code = codeOfParameter(parameter);
    const own = parseOwnCode(code, this.config.SVC_CODES_URL);
    if (own !== undefined) return own;
    // An address of ours is nobody else's.
    const isOurs = code.includes(ownHostFragment(this.config.SVC_CODES_URL));
    throw new DomainError(isOurs ? 'payable.not-found' : 'code.third-party');
  }

  private async resolveOwn(payer: PayerScope, code: string): Promise<ResolvedCode | undefined> {
    const found = await this.payments.findPayableByCode(payer, code);
    if (found) return { payableId: found.payable.payableId, isStatic: false, found };
    const asked = { mode: payer.mode, code };
    const { invoiceReference } = await this.commands.request(FindTillInvoiceV1, asked, ANSWER_MS_MAX);
    return invoiceReference === undefined ? undefined : { payableId: invoiceReference, isStatic: true };
  }
}
