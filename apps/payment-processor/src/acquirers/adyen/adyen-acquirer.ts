import { randomUUID } from 'node:crypto';
import type { PaymentCaptureRequest } from '@adyen/api-library/lib/src/typings/checkout/paymentCaptureRequest.js';
import type { PaymentDetailsRequest } from '@adyen/api-library/lib/src/typings/checkout/paymentDetailsRequest.js';
import type { PaymentRefundRequest } from '@adyen/api-library/lib/src/typings/checkout/paymentRefundRequest.js';
import type { StandalonePaymentCancelRequest } from '@adyen/api-library/lib/src/typings/checkout/standalonePaymentCancelRequest.js';
import { isText, MAX_IDENTIFIER_LENGTH, type Mode } from '@svc/contracts';
import type { ServiceLog } from '@svc/service';
import type { Card } from '../../card-data/card.js';
import {
  Acquirer,
  type CaptureRequestResult,
  type CaptureTerms,
  type CardCharge,
  type ChallengeState,
  type ChargeOutcome,
  type ChargeQueryResult,
  type ChargeTerms,
  MAX_VERIFICATION_RESULT_LENGTH,
  type RefundOutcome,
  type RefundQueryResult,
  type RefundTerms,
  type ReversalOutcome,
  type ReversalTerms,
  type VaultCard,
  type Verification,
  type VerifiedCharge,
} from '../acquirer.js';
import type { AnnouncedReport, SettlementLine } from '../settlement-line.js';
import { AdyenClient, type AdyenRequest, type AdyenResult, DEFAULT_LIMITS } from './adyen-client.js';
import type { AdyenSettings } from './adyen-config.js';
import {
  type Json,
  toAmount,
  toPaymentRequest,
  toStoredCard,
  toStoreRequest,
  toVaultToken,
} from './payment-request.js';
import {
  type ExpectedPayment,
  isCardError,
  isFinalError,
  isRefusedBeforeProcessing,
  parsePayment,
  readDetails,
} from './payment-response.js';
import { readSettlementReport } from './settlement/read-settlement-report.js';

/** Timeout of calls whose caller sets none. */
const CALL_TIMEOUT_MS = 5_000;
/** Error of a wrong merchant account (Adyen's documentation, page "Error codes and messages"): a setting, not a refusal. */
const INVALID_ACCOUNT = '901';
/** "PaymentDetail not found": the token does not exist, or no longer (Adyen's help page about error 803). */
const TOKEN_NOT_FOUND = '803';

type Log = Pick<ServiceLog, 'error' | 'info'>;
type Modification =
  | { readonly kind: 'received'; readonly acquirerReference: string }
  | { readonly kind: 'rejected'; readonly acquirerReference: string | undefined }
  /** Not executed, because a setting is wrong. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'unknown'; readonly isAnswered?: true };

/**
 * Adyen, through its Checkout API v71. An approval reserves the money, and a capture takes it. Adyen answers no queries:
 * webhooks report the outcomes of captures, cancellations and refunds, and of charges whose response was lost. One
 * payment at Adyen is one payment here, with the payment's reference, so a charge can be cancelled without Adyen's
 * reference.
 */
export class AdyenAcquirer extends Acquirer {
  override readonly name = 'adyen';
  override readonly capturesSeparately = true;
  override readonly needsBrowser = true;
  private readonly client: AdyenClient;

  constructor(
    private readonly settings: Readonly<Partial<Record<Mode, AdyenSettings>>>,
    private readonly log: Log,
    limits = DEFAULT_LIMITS,
  ) {
    super();
    this.client = new AdyenClient(settings, limits);
  }

  override supportsMode(mode: Mode): boolean {
    return this.settings[mode] !== undefined;
  }

  /** Each merchant opens an account at Adyen first. */
  override getDefaultAccount(): undefined {
    return undefined;
  }

  override async charge(charge: CardCharge, signal: AbortSignal): Promise<ChargeOutcome> {
    const body = toPaymentRequest(charge);
    if (body === undefined) {
      this.log.error({ attemptId: charge.idempotencyKey }, 'The stored card is not in the vault of Adyen');
      return { kind: 'notAttempted', hasResponded: true };
    }
    return this.pay('payments', charge, body, signal);
  }

  override async chargeVerified(charge: VerifiedCharge, signal: AbortSignal): Promise<ChargeOutcome> {
    const { result } = charge.verification;
    // The payer has not returned yet.
    if (result === undefined) return { kind: 'notAttempted', hasResponded: true };
    if (!isText(result, MAX_VERIFICATION_RESULT_LENGTH))
      return { kind: 'declined', reason: 'verification.failed', acquirerReference: charge.idempotencyKey };
    const body: Json<PaymentDetailsRequest> = { details: { redirectResult: result } };
    return this.pay('details', charge, body, signal);
  }

  private async pay(
    step: ExpectedPayment['step'],
    terms: ChargeTerms,
    body: object,
    signal: AbortSignal,
  ): Promise<ChargeOutcome> {
    const { account, idempotencyKey, paymentReference } = terms;
    const path = step === 'payments' ? '/payments' : '/payments/details';
    const attempt = { attemptId: idempotencyKey, paymentReference };
    const request = { mode: account.mode, method: 'POST', path, body, idempotencyKey, signal } as const;
    const result = await this.send(request, { ...attempt, request: step });
    if (result.kind !== 'response') return { kind: result.kind === 'notSent' ? 'notAttempted' : 'unknown' };
    const { checkoutUrl } = this.settings[account.mode]!;
    const { outcome, isProblem } = parsePayment(result, { terms, step, checkoutUrl });
    const fields = { ...attempt, outcome: outcome.kind, ...readDetails(result) };
    if (isProblem) this.log.error(fields, 'Adyen did not process a charge as expected');
    else if (outcome.kind === 'declined') this.log.info(fields, 'Adyen refused a charge');
    return outcome;
  }

  /** The result of the bank's page arrives only with the payer's browser. Adyen has no query for it. */
  override getChallengeState({ result }: Verification): Promise<ChallengeState> {
    return Promise.resolve(result === undefined ? 'pending' : 'passed');
  }

  /** Adyen has no query for a payment. A webhook reports the outcome. */
  override getChargeStatus(): Promise<ChargeQueryResult> {
    return Promise.resolve({ kind: 'unknown' });
  }

  /**
   * Cancels the payment by its reference, so that Adyen's reference is not needed. The webhook TECHNICAL_CANCEL reports
   * the outcome. The request has no idempotency key: under a key, a repeat would only return the first response, also if
   * the first cancellation overtook the payment and found nothing.
   */
  override async reverse({ account, paymentReference }: ReversalTerms): Promise<ReversalOutcome> {
    const body: Json<StandalonePaymentCancelRequest> = {
      merchantAccount: account.accountReference,
      paymentReference,
      reference: paymentReference,
    };
    const request = { mode: account.mode, method: 'POST', path: '/cancels', body, signal: callTimeout() } as const;
    const fields = { paymentReference, request: 'cancel' };
    this.parseModification(await this.send(request, fields), fields);
    return { kind: 'unconfirmed' };
  }

  /** A second capture of the whole amount is refused (Adyen's documentation, page "API idempotency"), so a new key is safe. */
  override async capture(terms: CaptureTerms, signal: AbortSignal): Promise<CaptureRequestResult> {
    const { chargeKey, keyNumber } = terms;
    const body: Json<PaymentCaptureRequest> = toModification(terms, terms.paymentReference);
    const fields = { paymentReference: terms.paymentReference, request: 'capture' };
    const request = {
      mode: terms.account.mode,
      method: 'POST',
      path: `/payments/${encodeURIComponent(terms.chargeReference)}/captures`,
      body,
      idempotencyKey: keyNumber === 1 ? `capture-${chargeKey}` : `capture-${chargeKey}-${keyNumber}`,
      signal,
    } as const;
    const outcome = this.parseModification(await this.send(request, fields), fields);
    if (outcome.kind === 'refused') return { kind: 'unknown', isAnswered: true };
    return outcome.kind === 'rejected' ? { kind: 'rejected' } : outcome;
  }

  /**
   * All requests have one key, because two partial refunds are possible. Adyen's documentation promises 7 days for a key
   * ({@link RefundOutcome} `uncertain`).
   */
  override async refund(terms: RefundTerms, signal: AbortSignal): Promise<RefundOutcome> {
    const body: Json<PaymentRefundRequest> = toModification(terms, terms.idempotencyKey);
    const fields = { paymentReference: terms.paymentReference, request: 'refund' };
    const request = {
      mode: terms.account.mode,
      method: 'POST',
      path: `/payments/${encodeURIComponent(terms.chargeReference)}/refunds`,
      body,
      idempotencyKey: `refund-${terms.idempotencyKey}`,
      signal,
    } as const;
    const outcome = this.parseModification(await this.send(request, fields), fields);
    switch (outcome.kind) {
      case 'received':
        return { kind: 'pending', acquirerReference: outcome.acquirerReference };
      case 'rejected':
        return { kind: 'declined', acquirerReference: outcome.acquirerReference ?? terms.idempotencyKey };
      case 'refused':
        return { kind: 'unknown' };
      case 'unknown':
        return { kind: outcome.isAnswered ? 'uncertain' : 'unknown' };
    }
  }

  /** Adyen has no query for a refund. A webhook reports the outcome. */
  override getRefundStatus({ acquirerReference }: RefundTerms): Promise<RefundQueryResult> {
    return Promise.resolve(
      acquirerReference === undefined ? { kind: 'notFound' } : { kind: 'pending', acquirerReference },
    );
  }

  /** The response to a capture, a cancellation or a refund, whose outcome a webhook reports. */
  private parseModification(result: AdyenResult, fields: { paymentReference: string; request: string }): Modification {
    if (result.kind === 'notSent') return { kind: 'unknown' };
    if (result.kind === 'unknown') return { kind: 'unknown', ...(result.isAnswered ? { isAnswered: true } : {}) };
    const { status, body } = result;
    const { status: received, pspReference, errorCode, errorType } = body;
    const acquirerReference = isText(pspReference, MAX_IDENTIFIER_LENGTH) ? pspReference : undefined;
    if (status === CREATED && received === 'received' && acquirerReference !== undefined)
      return { kind: 'received', acquirerReference };
    this.log.error({ ...fields, ...readDetails(result) }, 'Adyen did not accept a request about a payment');
    if (status === 422 && errorType === 'validation' && errorCode !== INVALID_ACCOUNT)
      return { kind: 'rejected', acquirerReference };
    if (isFinalError(result)) return { kind: 'refused' };
    // An earlier call under this key, whose response was lost, may have been executed.
    return isRefusedBeforeProcessing(result) ? { kind: 'unknown' } : { kind: 'unknown', isAnswered: true };
  }

  override async storeCard(card: Card, mode: Mode): Promise<VaultCard | 'invalid' | 'unknown'> {
    const merchantAccount = this.settings[mode]?.vaultAccount;
    if (merchantAccount === undefined) return 'unknown';
    // Each card has a shopper of its own, so that no card is found through another.
    const shopperReference = randomUUID().replaceAll('-', '');
    const request = {
      mode,
      method: 'POST',
      path: '/storedPaymentMethods',
      body: toStoreRequest(card, { merchantAccount, shopperReference }),
      idempotencyKey: `card-${shopperReference}`,
      signal: callTimeout(),
    } as const;
    const result = await this.send(request, { request: 'storeCard' });
    if (result.kind !== 'response') return 'unknown';
    const { id: storedPaymentMethodId } = result.body;
    const storedCard =
      result.status === CREATED && typeof storedPaymentMethodId === 'string'
        ? toStoredCard({ storedPaymentMethodId, shopperReference, merchantAccount })
        : undefined;
    if (storedCard) return storedCard;
    if (isCardError(result)) return 'invalid';
    this.log.error(readDetails(result), 'Adyen did not store a card');
    return 'unknown';
  }

  override async deleteCard(card: VaultCard, mode: Mode): Promise<boolean> {
    // The setting may name another account than at the time of the storage.
    const { vaultAccount: merchantAccount } = card;
    const token = toVaultToken(card);
    if (merchantAccount === undefined || token === undefined) return false;
    const query = new URLSearchParams({ shopperReference: token.shopperReference, merchantAccount });
    const path = `/storedPaymentMethods/${encodeURIComponent(token.storedPaymentMethodId)}?${query.toString()}`;
    const request = { mode, method: 'DELETE', path, signal: callTimeout() } as const;
    const result = await this.send(request, { request: 'deleteCard' });
    if (result.kind !== 'response') return false;
    // The card is already deleted if Adyen does not find it in its account, as after a deletion whose response was lost.
    if (result.status === 204 || result.body.errorCode === TOKEN_NOT_FOUND) return true;
    this.log.error(readDetails(result), 'Adyen did not delete a stored card');
    return false;
  }

  /** @param fields neither card data nor a token */
  private async send(request: AdyenRequest, fields: Readonly<Record<string, string>>): Promise<AdyenResult> {
    const result = await this.client.send(request);
    if (result.kind !== 'response') this.log.error({ ...fields, ...result.failure }, 'Adyen sent no usable response');
    return result;
  }

  override readSettlementReport(report: AnnouncedReport, signal: AbortSignal): AsyncIterable<SettlementLine> {
    return readSettlementReport(report, this.settings[report.mode], signal);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.client.close();
  }
}

const callTimeout = (): AbortSignal => AbortSignal.timeout(CALL_TIMEOUT_MS);
/** Status of an accepted modification or a stored card. */
const CREATED = 201;

/** The body of a capture or refund. A webhook contains the reference as the merchant's reference. */
function toModification(
  terms: CaptureTerms | RefundTerms,
  reference: string,
): Json<PaymentCaptureRequest & PaymentRefundRequest> {
  return {
    merchantAccount: terms.account.accountReference,
    amount: toAmount(terms),
    reference,
  };
}
