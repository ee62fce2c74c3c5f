import { Inject, Injectable } from '@nestjs/common';
import { PaymentProcessorConfig } from '../config.js';
import { UrlSigner } from './url-signer.js';

/**
 * The URLs of our page that collects the data of a payer's browser: the `verificationUrl` of a partner's payment. A signed
 * URL can be opened any number of times, and charges at most once.
 */
@Injectable()
export class BrowserDataUrls {
  private readonly signer: UrlSigner;

  constructor(@Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig) {
    this.signer = new UrlSigner(config.SVC_SEALING_KEY, 'browser data URLs');
  }

  build(paymentReference: string): string {
    const signature = this.signer.sign([paymentReference]);
    return `${this.config.SVC_API_URL}/v1/verifications/${paymentReference}/start?signature=${signature}`;
  }

  /** False when this service has not made the URL. */
  verify(paymentReference: string, signature: unknown): boolean {
    return this.signer.verify([paymentReference], signature);
  }
}
