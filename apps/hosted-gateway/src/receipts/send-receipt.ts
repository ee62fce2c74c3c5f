import { createHmac, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { AuditTrail, type ChangeAuthor } from '@svc/auth';
import { isEmailAddress } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { Mailer, type MailOutcome } from '@svc/mail';
import type { Transaction } from '@svc/persistence';
import { HostedGatewayConfig } from '../config.js';
import { chooseLanguage, type LanguagePreference } from '../languages/languages.js';
import type { PaidPage } from '../page-views/pay-page-model.js';
import type { ReceiptResult } from '../page-views/receipt-mail/receipt-mail-form.js';
import { type Payer, ShowPage } from '../pay/page/show-page.js';
import type { PayerAddress } from '../sessions/payer-address.js';
import { buildReceiptMail, type Receipt } from './receipt-mail.js';
import { ReceiptMailRepository } from './receipt-mail.repository.js';

/** A receipt that a person of the merchant sends. */
export interface MerchantMail {
  /** UUID. A repeat with the same id sends nothing again. */
  readonly mailId: string;
  readonly author: ChangeAuthor;
  readonly merchantId: number;
  readonly siteId: number;
}

/** The model of a receipt with the reference of its payment, and a form unless mails are off. */
type ReceiptPage = PaidPage & { readonly paymentReference: string };

interface Delivery {
  readonly mailId: string;
  readonly sender: Receipt['sender'];
  readonly preference: LanguagePreference;
  /** The merchant whose person sends it. */
  readonly merchantId?: number;
  /** Runs in the transaction that counts the mail. */
  readonly onReserved?: (tx: Transaction) => Promise<void>;
}

const RESULTS = { sent: 'sent', 'recipient-rejected': 'invalid', unavailable: 'failed' } as const;

const NO_PREFERENCE: LanguagePreference = { chosen: undefined, accepted: undefined };

/**
 * Sends the receipt of a payment to an address that its payer, or a person of the merchant, typed. Of the payers only the
 * one of the payment can do so: the page shows the reference of the payment only to its payer. The address is used for
 * this mail and not stored: the limits need only its hash.
 */
@Injectable()
export class SendReceipt {
  private readonly hashKey: string;

  constructor(
    @Inject(ShowPage) private readonly showPage: ShowPage,
    @Inject(ReceiptMailRepository) private readonly mails: ReceiptMailRepository,
    @Inject(Mailer) private readonly mailer: Mailer,
    @Inject(AuditTrail) private readonly audit: AuditTrail,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(HostedGatewayConfig) private readonly config: HostedGatewayConfig,
  ) {
    this.hashKey = config.SVC_CHALLENGE_KEYS.split(',')[0]!;
  }

  /**
   * Throws `resource.not-found` unless the payer's page is a receipt that can be sent.
   *
   * @param email as the payer typed it
   */
  async execute(address: PayerAddress, payer: Payer, ip: string, email: string): Promise<ReceiptResult> {
    const model = await this.showPage.findModel(address, payer, ip);
    if (!('receiptMail' in model) || model.paymentReference === undefined) throw new DomainError('resource.not-found');
    const { paymentReference } = model;
    return this.send({ ...model, paymentReference }, email, {
      mailId: randomUUID(),
      sender: 'payer',
      preference: payer,
    });
  }

  /**
   * Sends a receipt for a person of the merchant, in the language of the session. The audit log has an entry of every mail
   * that was counted, without the address.
   *
   * Throws `resource.not-found` if mails are off, and `request.idempotency-conflict`.
   */
  async sendForMerchant(
    page: ReceiptPage,
    email: string,
    { mailId, author, merchantId, siteId }: MerchantMail,
  ): Promise<ReceiptResult> {
    if (page.receiptMail === undefined) throw new DomainError('resource.not-found');
    const { paymentReference } = page;
    return this.send(page, email, {
      mailId,
      sender: 'merchant',
      preference: NO_PREFERENCE,
      merchantId,
      onReserved: (tx) =>
        this.audit.append(tx, author, {
          action: 'receipt-mail.requested',
          merchantId,
          siteId,
          after: { paymentReference, mailId },
        }),
    });
  }

  private async send(page: ReceiptPage, email: string, delivery: Delivery): Promise<ReceiptResult> {
    const { mailId, sender, preference, merchantId, onReserved } = delivery;
    const to = email.trim();
    if (!isEmailAddress(to)) return 'invalid';
    const { paymentReference } = page;
    const mail = { mailId, paymentReference, addressHash: this.hash(to), merchantId, now: this.clock.now() };
    const reservation = await this.mails.reserve(mail, onReserved);
    if (reservation === 'limited') return 'limited';
    if (reservation === 'repeated') return 'sent';
    let outcome: MailOutcome | undefined;
    try {
      const language = chooseLanguage(preference, page.locale);
      const receipt = { page, language, sender, gatewayUrl: this.config.SVC_GATEWAY_URL };
      outcome = await this.mailer.send(buildReceiptMail(to, receipt));
    } finally {
      if (outcome !== 'sent') await this.mails.release(mailId);
    }
    return RESULTS[outcome];
  }

  private hash(address: string): string {
    const hmac = createHmac('sha256', Buffer.from(this.hashKey, 'base64url'));
    return hmac.update(`receipt ${address.toLowerCase()}`).digest('base64url').slice(0, 22);
  }
}
