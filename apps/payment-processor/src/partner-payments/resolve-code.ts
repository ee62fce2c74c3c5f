import { Inject, Injectable } from '@nestjs/common';
import { FindTillInvoiceV1, type MakePaymentRequest } from '@svc/contracts';
import { decodeCodeParameter, DomainError, isUuid, ownHostFragment, parseOwnCode } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { PaymentProcessorConfig } from '../config.js';
import { PartnerPaymentRepository, type PayableToPay, type PayerScope } from './partner-payment.repository.js';

/**
 * Timeout of the request to code-decoder, which only reads a table. After a timeout the client gets a 503 and retries.
 */
const DECODER_TIMEOUT_MS = 2_000;

/** The payable that a code or an invoice reference identifies. */
interface ResolvedCode {
  /** UUID. */
  readonly payableId: string;
  /**
   * True for a till's static code, which identifies a new invoice for each basket. Only the amount proves that the
   * payer means this invoice, so the payer may not edit the amount.
   */
  readonly isStatic: boolean;
  /** The payable, if it has already been read. */
  readonly payableToPay?: PayableToPay;
}

/**
 * Finds the payable of a code or an invoice reference. A payment must call this class only once, because on a second
 * call a static code could identify a newer invoice, and the payer would be charged for another basket.
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
      ? await this.resolveOwnCode(payer, this.parseCode(code))
      : { payableId: invoiceReference ?? '', isStatic: false };
    if (!resolved || !isUuid(resolved.payableId)) throw new DomainError('payable.not-found');
    return resolved;
  }

  private parseCode(parameter: string): string {
    const code = decodeCodeParameter(parameter);
    const ownCode = parseOwnCode(code, this.config.SVC_CODES_URL);
    if (ownCode !== undefined) return ownCode;
    // A code with the host of this platform is not a third party's code.
    const hasOwnHost = code.includes(ownHostFragment(this.config.SVC_CODES_URL));
    throw new DomainError(hasOwnHost ? 'payable.not-found' : 'code.third-party');
  }

  private async resolveOwnCode(payer: PayerScope, code: string): Promise<ResolvedCode | undefined> {
    const payableToPay = await this.payments.findPayableByCode(payer, code);
    if (payableToPay) return { payableId: payableToPay.payable.payableId, isStatic: false, payableToPay };
    const request = { mode: payer.mode, code };
    const { invoiceReference } = await this.commands.request(FindTillInvoiceV1, request, DECODER_TIMEOUT_MS);
    return invoiceReference === undefined ? undefined : { payableId: invoiceReference, isStatic: true };
  }
}
