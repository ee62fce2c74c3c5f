import { Inject, Injectable } from '@nestjs/common';
import { FindTillInvoiceV1, type MakePaymentRequest } from '@svc/contracts';
import { decodeCodeParameter, DomainError, isUuid, ownHostFragment, parseOwnCode } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { PaymentProcessorConfig } from '../config.js';
import { PartnerPaymentRepository, type PayableToPay, type PayerScope } from './partner-payment.repository.js';

/** Timeout of code-decoder, which reads its own table; after it the client gets a 503 and retries. */
const DECODER_TIMEOUT_MS = 2_000;

/** The payable of a code. */
export interface ResolvedCode {
  /** UUID. */
  readonly payableId: string;
  /**
   * A till's static code identifies a new invoice with each basket. Only the amount shows that the payer means this invoice, so
   * it may not be edited.
   */
  readonly isStatic: boolean;
  /** The payable, if it was read already. */
  readonly found?: PayableToPay;
}

/**
 * Finds the payable of a code or an invoice reference. Called once for a payment: resolved again, a static code could identify a
 * newer invoice, and the payer would be charged for another basket.
 */
@Injectable()
export class ResolveCode {
  constructor(
    @Inject(PartnerPaymentRepository) private readonly payments: PartnerPaymentRepository,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
  ) {}

  /** Throws `payable.not-found`, and `code.third-party` for a code of another service. */
  async execute(payer: PayerScope, { code, invoiceReference }: MakePaymentRequest): Promise<ResolvedCode> {
    const resolved = code
      ? await this.resolveOwn(payer, this.ownCodeOf(code))
      : { payableId: invoiceReference ?? '', isStatic: false };
    if (!resolved || !isUuid(resolved.payableId)) throw new DomainError('payable.not-found');
    return resolved;
  }

  private ownCodeOf(parameter: string): string {
    const code = decodeCodeParameter(parameter);
    const own = parseOwnCode(code, this.config.SVC_CODES_URL);
    if (own !== undefined) return own;
    // A code with this service's host is not a third party's.
    const isOurs = code.includes(ownHostFragment(this.config.SVC_CODES_URL));
    throw new DomainError(isOurs ? 'payable.not-found' : 'code.third-party');
  }

  private async resolveOwn(payer: PayerScope, code: string): Promise<ResolvedCode | undefined> {
    const found = await this.payments.findPayableByCode(payer, code);
    if (found) return { payableId: found.payable.payableId, isStatic: false, found };
    const request = { mode: payer.mode, code };
    const { invoiceReference } = await this.commands.request(FindTillInvoiceV1, request, DECODER_TIMEOUT_MS);
    return invoiceReference === undefined ? undefined : { payableId: invoiceReference, isStatic: true };
  }
}
