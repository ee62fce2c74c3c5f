import { Inject, Injectable } from '@nestjs/common';
import { PaymentProcessorConfig } from '../config.js';
import { UrlSigner } from './url-signer.js';

/** A payer's return from the bank, whose URL was made by this service. */
export interface BankReturn {
  /** Page of the shop or partner on which the payer continues; undefined: a page of this service. */
  readonly payerReturnUrl: string | undefined;
}

/**
 * The URLs to which banks redirect payers. Every payer returns to this service first, because some acquirers give the
 * payer's browser a result that only this service may use, and continues on the page of the shop or partner. The URL of
 * that page and the payment are signed, so that no other program can redirect a payer elsewhere or deliver a result for another
 * payment.
 */
@Injectable()
export class BankReturnUrls {
  private readonly signer: UrlSigner;

  constructor(@Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig) {
    this.signer = new UrlSigner(config.SVC_SEALING_KEY, 'bank return URLs');
  }

  build(paymentReference: string, payerReturnUrl: string | undefined): string {
    const query = new URLSearchParams({
      ...(payerReturnUrl === undefined ? {} : { to: payerReturnUrl }),
      signature: this.signer.sign([paymentReference, payerReturnUrl ?? null]),
    });
    return `${this.config.SVC_API_URL}/v1/verifications/${paymentReference}?${query.toString()}`;
  }

  /** Undefined when this service has not made the URL. */
  verify(paymentReference: string, to: unknown, signature: unknown): BankReturn | undefined {
    if (to !== undefined && typeof to !== 'string') return undefined;
    return this.signer.verify([paymentReference, to ?? null], signature) ? { payerReturnUrl: to } : undefined;
  }
}
