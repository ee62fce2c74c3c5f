import { signNotification } from '../interface/hmac-signature.js';
import { eventDate } from '../interface/local-time.js';
import { newPspReference } from '../interface/psp-reference.js';
import type { EmulatorClock } from '../state/emulator-clock.js';
import type { EmulatorStore } from '../state/emulator-store.js';
import type {
  BatchRecord,
  DisputeRecord,
  ModificationRecord,
  NotificationItem,
  PaymentRecord,
  WebhookRecord,
} from '../state/records.js';
import type { WebhookRules } from './webhook-rules.js';

/** A notification before it gets its date and signature. */
type Draft = Omit<NotificationItem, 'eventDate'>;

/** A signature with this key is wrong. */
const OTHER_KEY = '00'.repeat(32);

/** Event codes of modifications (OpenAPI document of the webhooks). */
export type ModificationEvent =
  | 'CAPTURE'
  | 'CAPTURE_FAILED'
  | 'CANCELLATION'
  | 'TECHNICAL_CANCEL'
  | 'CANCEL_OR_REFUND'
  | 'REFUND'
  | 'REFUND_FAILED'
  | 'REFUNDED_REVERSED';

/** Creates Adyen's standard webhooks. A webhook is signed when it is created, not when it is sent. */
export class Notifications {
  constructor(
    private readonly store: EmulatorStore,
    private readonly clock: EmulatorClock,
    private readonly rules: WebhookRules,
    private readonly hmacKey: string,
  ) {}

  /** The result of an authorisation (OpenAPI document of the webhooks, AuthorisationNotificationRequestItem). */
  authorisation(payment: PaymentRecord): WebhookRecord[] {
    const { order, authCode, refusalReason, pspReference } = payment;
    const { card, shopperReference, storedPaymentMethodId } = order;
    const tokenId = payment.newStoredPaymentMethodId ?? storedPaymentMethodId;
    const expiryDate = `${card.expiryMonth}/${card.expiryYear}`;
    return this.create({
      additionalData: {
        cardBin: card.bin,
        cardSummary: card.lastFour,
        expiryDate,
        paymentMethodVariant: card.brand,
        refusalReasonRaw: authCode === undefined ? `DECLINED : ${refusalReason ?? ''}` : 'AUTHORISED',
        ...(authCode === undefined ? {} : { authCode }),
        ...(shopperReference === undefined ? {} : { shopperReference }),
        ...(shopperReference === undefined || tokenId === undefined
          ? {}
          : {
              'tokenization.shopperReference': shopperReference,
              'tokenization.storedPaymentMethodId': tokenId,
              'tokenization.store.operationType':
                payment.newStoredPaymentMethodId === undefined ? 'alreadyExisting' : 'created',
            }),
      },
      amount: order.amount,
      eventCode: 'AUTHORISATION',
      merchantAccountCode: order.merchantAccount,
      merchantReference: order.reference,
      paymentMethod: card.brand,
      ...(authCode === undefined ? {} : { operations: ['CANCEL', 'CAPTURE', 'REFUND'] }),
      pspReference,
      reason: authCode === undefined ? (refusalReason ?? '') : `${authCode}:${card.lastFour}:${expiryDate}`,
      success: authCode === undefined ? 'false' : 'true',
    });
  }

  /**
   * The result of a modification. `merchantReference` is the modification's own reference if the request had one
   * (`refund-true.json` of Adyen's library for Node.js), but the payment's reference in TECHNICAL_CANCEL (example in the
   * OpenAPI document).
   */
  modification(
    eventCode: ModificationEvent,
    modification: ModificationRecord,
    payment: PaymentRecord | undefined,
    { success, reason, paymentReference }: { success: boolean; reason: string; paymentReference: string },
  ): WebhookRecord[] {
    const ownReference = eventCode === 'TECHNICAL_CANCEL' ? undefined : modification.reference;
    return this.create({
      additionalData: {
        ...(payment ? { paymentMethodVariant: payment.order.card.brand } : {}),
        ...(eventCode === 'CANCEL_OR_REFUND'
          ? { 'modification.action': payment?.state === 'cancelled' ? 'cancel' : 'refund' }
          : {}),
      },
      amount: modification.amount,
      eventCode,
      merchantAccountCode: modification.merchantAccount,
      merchantReference: ownReference ?? paymentReference,
      ...(payment ? { originalReference: payment.pspReference, paymentMethod: payment.order.card.brand } : {}),
      pspReference: modification.pspReference,
      reason,
      success: success ? 'true' : 'false',
    });
  }

  /** A stage of a dispute (documentation: "Dispute webhooks"). */
  dispute(
    eventCode: string,
    dispute: DisputeRecord,
    payment: PaymentRecord,
    { disputeStatus, reason }: { disputeStatus: string; reason: string },
  ): WebhookRecord[] {
    const { brand } = payment.order.card;
    const isInformation = eventCode === 'REQUEST_FOR_INFORMATION';
    return this.create({
      additionalData: {
        ...(isInformation
          ? { rfiReasonCode: '30', rfiSchemeCode: brand }
          : { chargebackReasonCode: '10.4', chargebackSchemeCode: brand }),
        disputeStatus,
        defendable: String(disputeStatus === 'Unresponded'),
        defensePeriodEndsAt: eventDate(new Date(dispute.defensePeriodEndsAt)),
        modificationMerchantReferences: '',
        paymentMethodVariant: brand,
      },
      amount: dispute.amount,
      eventCode,
      merchantAccountCode: payment.order.merchantAccount,
      merchantReference: payment.order.reference,
      originalReference: payment.pspReference,
      paymentMethod: brand,
      pspReference: dispute.pspReference,
      reason,
      success: 'true',
    });
  }

  /**
   * A settlement details report: `pspReference` is the name of its file and `reason` its URL (OpenAPI document of the
   * webhooks, ReportAvailableNotificationRequestItem).
   */
  reportAvailable({ merchantAccount }: BatchRecord, fileName: string, url: string): WebhookRecord[] {
    return this.create({
      additionalData: {},
      amount: { currency: 'EUR', value: 0 },
      eventCode: 'REPORT_AVAILABLE',
      merchantAccountCode: merchantAccount,
      merchantReference: '',
      pspReference: fileName,
      reason: url,
      success: 'true',
    });
  }

  /** An event that this platform does not use, to test that it does not block others. */
  unknownEvent(eventCode: string, merchantAccount: string): WebhookRecord[] {
    return this.create({
      additionalData: {},
      amount: { currency: 'EUR', value: 0 },
      eventCode,
      merchantAccountCode: merchantAccount,
      merchantReference: '',
      pspReference: newPspReference(),
      reason: '',
      success: 'true',
    });
  }

  private create(draft: Draft): WebhookRecord[] {
    const rules = this.rules.take(draft);
    const has = (action: string): boolean => rules.some((rule) => rule.action === action);
    const now = this.clock.now();
    const delayMs = rules.reduce((sum, rule) => sum + (rule.action === 'delay' ? (rule.delayMs ?? 0) : 0), 0);
    const unsigned = { ...draft, eventDate: eventDate(now) };
    const hmacSignature = signNotification(unsigned, has('wrong-signature') ? OTHER_KEY : this.hmacKey);
    const item: NotificationItem = { ...unsigned, additionalData: { ...draft.additionalData, hmacSignature } };
    return Array.from({ length: has('duplicate') ? 2 : 1 }, () => ({
      kind: 'webhook',
      id: this.store.nextId(),
      item,
      live: has('as-live') ? 'true' : 'false',
      state: has('withhold') ? 'withheld' : 'queued',
      attempts: 0,
      nextAttemptAt: new Date(now.getTime() + delayMs).toISOString(),
      at: now.toISOString(),
    }));
  }
}
