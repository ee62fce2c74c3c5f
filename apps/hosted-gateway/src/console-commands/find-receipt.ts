import { Inject, Injectable } from '@nestjs/common';
import { isFullSnapshot, type ReceiptRequest } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import type { PaidPage } from '../page-views/pay-page-model.js';
import { type Payer, ShowPage } from '../pay/page/show-page.js';
import { PagePayableRepository } from '../pay/payables/page-payable.repository.js';
import type { PayerAddress } from '../sessions/payer-address.js';

export interface FoundReceipt {
  readonly address: PayerAddress;
  readonly page: PaidPage & { readonly paymentReference: string };
}

/** Finds the receipt of a payment, as its payer sees it, for a person of the merchant. */
@Injectable()
export class FindReceipt {
  constructor(
    @Inject(PagePayableRepository) private readonly payables: PagePayableRepository,
    @Inject(ShowPage) private readonly showPage: ShowPage,
  ) {}

  /** Throws `resource.not-found`, also for a payment of another merchant, site or mode. */
  async execute(request: ReceiptRequest): Promise<FoundReceipt> {
    const { merchantId, siteId, mode, paymentReference, payableId, source, code } = request;
    const address: PayerAddress = source === 'session' ? { sessionId: payableId } : { code };
    const payable = await this.payables.findByAddress(address);
    const payment = payable?.payments.filter(isFullSnapshot).find((each) => each.paymentReference === paymentReference);
    if (!payable || !payment) throw new DomainError('resource.not-found');
    if (payable.merchantId !== merchantId || payable.siteId !== siteId || payable.mode !== mode)
      throw new DomainError('resource.not-found');
    // The page of an invoice shows a receipt only to the payer who has this reference.
    const payer: Payer = { chosen: undefined, accepted: undefined, ownReferences: [payment.reference] };
    const page = await this.showPage.findModel(address, payer, '');
    if (!isReceipt(page) || page.paymentReference !== paymentReference) throw new DomainError('resource.not-found');
    return { address, page };
  }
}

function isReceipt(page: Awaited<ReturnType<ShowPage['findModel']>>): page is FoundReceipt['page'] {
  return 'paymentReference' in page && page.paymentReference !== undefined;
}
