import { ownCodeText } from '@svc/kernel';
import type { MerchantViewer } from '../../viewer/viewer.js';
import type { NewRequestMail } from './request-mail.repository.js';

/** The payment request of a mail. */
interface MailedRequest {
  readonly siteId: number;
  readonly invoiceReference: string;
  readonly code: string;
  /** Cents. */
  readonly amount: number;
  readonly currency: string;
  readonly description: string;
  /** Empty if there is none. */
  readonly orderReference: string;
  /** The last of the merchant's days on which the request can be paid. */
  readonly lastDay: string;
  readonly expiresAt: Date;
}

/** The mail with the link of a payment request of the viewer's merchant. */
export function composeRequestMail(
  { merchant, mode }: Pick<MerchantViewer, 'merchant' | 'mode'>,
  { siteId, invoiceReference, code, expiresAt, ...request }: MailedRequest,
  delivery: Pick<NewRequestMail, 'mailId' | 'recipient' | 'language'>,
  codesUrl: string,
): NewRequestMail {
  const { amount, currency, description, orderReference, lastDay } = request;
  return {
    ...delivery,
    merchantId: merchant.merchantId,
    mode,
    siteId,
    invoiceReference,
    content: {
      ...{ amount, currency, description, orderReference, lastDay },
      merchantName: merchant.name,
      isTest: mode === 'test',
      link: ownCodeText(code, codesUrl),
    },
    expiresAt,
  };
}
