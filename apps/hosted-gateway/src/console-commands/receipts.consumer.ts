import { Controller, Inject } from '@nestjs/common';
import { personAuthor } from '@svc/auth';
import {
  FindReceiptV1,
  type ReceiptOptions,
  type ReceiptRequest,
  type SendReceipt as SendReceiptCommand,
  SendReceiptV1,
  type SentReceipt,
} from '@svc/contracts';
import { MessagePattern } from '@svc/messaging';
import { HostedGatewayConfig } from '../config.js';
import { SendReceipt } from '../receipts/send-receipt.js';
import { buildPageUrl, isScanned } from '../sessions/payer-address.js';
import { FindReceipt } from './find-receipt.js';

/** Receipts for the people of a merchant in the console. A repeat with the same key sends nothing again. */
@Controller()
export class ReceiptsConsumer {
  constructor(
    @Inject(FindReceipt) private readonly findReceipt: FindReceipt,
    @Inject(SendReceipt) private readonly sendReceipt: SendReceipt,
    @Inject(HostedGatewayConfig) private readonly config: HostedGatewayConfig,
  ) {}

  @MessagePattern(FindReceiptV1)
  async find(request: ReceiptRequest): Promise<ReceiptOptions> {
    const { address, page } = await this.findReceipt.execute(request);
    return {
      canMail: page.receiptMail !== undefined,
      // The page of an invoice shows its receipt only in the browser of its payer.
      ...(isScanned(address) ? {} : { pageUrl: buildPageUrl(address, this.config) }),
    };
  }

  @MessagePattern(SendReceiptV1)
  async send(request: SendReceiptCommand): Promise<SentReceipt> {
    const { merchantId, siteId, email, idempotencyKey: mailId, personId, requestId } = request;
    const { page } = await this.findReceipt.execute(request);
    const author = personAuthor(personId, requestId);
    return { result: await this.sendReceipt.sendForMerchant(page, email, { mailId, author, merchantId, siteId }) };
  }
}
