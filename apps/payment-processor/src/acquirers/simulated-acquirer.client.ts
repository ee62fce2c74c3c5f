import { isText, MAX_IDENTIFIER_LENGTH, type Mode } from '@svc/contracts';
import { HttpClient } from '@svc/outbound';
import { ConfigError } from '@svc/service';
import type { Card } from '../card-data/card.js';
import type { PaymentProcessorConfig } from '../config.js';
import {
  Acquirer,
  type CardCharge,
  type ChallengeState,
  type ChargeOutcome,
  type ChargeQueryResult,
  type ChargeTerms,
  type DeclineCode,
  type MerchantAccount,
  type RefundOutcome,
  type RefundQueryResult,
  type RefundTerms,
  type ReversalOutcome,
  type ReversalTerms,
  type StatementPage,
  type VaultCard,
  type Verification,
  type VerifiedCharge,
} from './acquirer.js';
import { parseRefundOutcome, parseStatementPage } from './simulated-acquirer.responses.js';

/** Response of the simulated acquirer (apps/simulated-acquirer). */
interface ChargeRecord {
  readonly outcome: 'approved' | 'declined' | 'reversed' | 'challenged';
  readonly reason?: string;
  readonly acquirerReference: string;
  readonly charged: boolean;
  readonly challenge?: { readonly reference: string };
  readonly challengeUrl?: string;
}

const DECLINE_CODES: Readonly<Record<string, DeclineCode>> = {
  declined: 'card.declined',
  'insufficient-funds': 'card.insufficient-funds',
  expired: 'card.expired',
  'incorrect-cvv': 'card.incorrect-cvv',
  lost: 'card.suspected-fraud',
  stolen: 'card.suspected-fraud',
  'not-verified': 'verification.failed',
};

/**
 * Timeout of queries, reversals and calls about cards. The caller of a charge or refund sets the timeout of that call.
 */
const QUERY_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 2_000;
const KEEP_ALIVE_MS = 4_000;
/** Larger responses are not read. */
const MAX_RESPONSE_BYTES = 64 * 1024;

/** HTTP client of the simulated acquirer. Any unclear response is `unknown`. */
export class SimulatedAcquirerClient extends Acquirer {
  override readonly name = 'simulated';
  override readonly capturesSeparately = false;
  override readonly needsBrowser = false;
  private readonly client: HttpClient;

  /** @param url Undefined: there is no simulated acquirer, and it supports no mode. */
  constructor(
    private readonly url: string | undefined,
    maxConnections: number,
    private readonly supportsLive: boolean,
  ) {
    super();
    this.client = new HttpClient({
      policy: undefined,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      maxConnectionsPerOrigin: maxConnections,
      keepAliveMs: KEEP_ALIVE_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
    });
  }

  static from(config: PaymentProcessorConfig): SimulatedAcquirerClient {
    const supportsLive = config.SVC_ACQUIRER_LIVE === 'simulated';
    if (supportsLive && config.SVC_ENVIRONMENT !== 'development')
      throw new Error('SVC_ACQUIRER_LIVE=simulated is for development: the simulated acquirer moves no money.');
    if (supportsLive && config.SVC_ACQUIRER_URL === undefined)
      throw new ConfigError('SVC_ACQUIRER_LIVE is simulated, so SVC_ACQUIRER_URL is required.');
    return new SimulatedAcquirerClient(config.SVC_ACQUIRER_URL, config.SVC_ACQUIRER_CONCURRENCY, supportsLive);
  }

  override supportsMode(mode: Mode): boolean {
    return this.url !== undefined && (mode === 'test' || this.supportsLive);
  }

  /** The simulated bank opens an account for every merchant automatically. */
  override getDefaultAccount(merchantId: number): string {
    return `merchant-${merchantId}`;
  }

  override charge(
    { card, bankReturnUrl, payer, forceVerification, ...terms }: CardCharge,
    signal: AbortSignal,
  ): Promise<ChargeOutcome> {
    const source =
      'vaultToken' in card ? { vaultToken: card.vaultToken } : { cardNumber: card.cardNumber, cvv: card.cvv };
    return this.postCharge(
      terms.account,
      {
        ...chargeRequestBody(terms),
        ...source,
        ...{ returnUrl: bankReturnUrl, payer },
        ...(forceVerification ? { forceVerification } : {}),
      },
      signal,
    );
  }

  override async storeCard({ cardNumber }: Card, mode: Mode): Promise<VaultCard | 'invalid' | 'unknown'> {
    try {
      const { status, json } = await this.call('POST', '/cards', modeHeader(mode), { body: { cardNumber } });
      if (status === 400) return 'invalid';
      const { vaultToken } = (json ?? {}) as { vaultToken?: unknown };
      return isText(vaultToken, MAX_IDENTIFIER_LENGTH) ? { vaultToken, vaultAccount: undefined } : 'unknown';
    } catch {
      return 'unknown';
    }
  }

  override async deleteCard({ vaultToken }: VaultCard, mode: Mode): Promise<boolean> {
    try {
      const { status } = await this.call('DELETE', `/cards/${encodeURIComponent(vaultToken)}`, modeHeader(mode));
      return status === 204;
    } catch {
      return false;
    }
  }

  override chargeVerified(charge: VerifiedCharge, signal: AbortSignal): Promise<ChargeOutcome> {
    return this.postCharge(
      charge.account,
      { ...chargeRequestBody(charge), challengeReference: charge.verification.challengeReference },
      signal,
    );
  }

  private async postCharge(account: MerchantAccount, body: object, signal: AbortSignal): Promise<ChargeOutcome> {
    try {
      const { json } = await this.call('POST', '/charges', accountHeaders(account), { body, signal });
      return json ? parseChargeOutcome(json) : { kind: 'unknown' };
    } catch (error) {
      // Without a connection nothing was sent. After any other error the charge may have happened.
      return isConnectionFailure(error) ? { kind: 'notAttempted' } : { kind: 'unknown' };
    }
  }

  override async getChallengeState(
    { challengeReference }: Verification,
    account: MerchantAccount,
  ): Promise<ChallengeState> {
    const { body } = await this.get(`/challenges/${encodeURIComponent(challengeReference)}/state`, account);
    const { state } = (body ?? {}) as { state?: string };
    return state === 'pending' || state === 'passed' || state === 'failed' ? state : 'unknown';
  }

  override async getChargeStatus(idempotencyKey: string, account: MerchantAccount): Promise<ChargeQueryResult> {
    const { status, body } = await this.get(`/charges/${encodeURIComponent(idempotencyKey)}`, account);
    if (status === 200) return parseChargeOutcome(body as ChargeRecord | null);
    return { kind: status === 404 ? 'notFound' : 'unknown' };
  }

  /** The simulated bank captures with the charge. */
  override capture(): Promise<never> {
    return Promise.reject(new Error('The simulated bank does not capture separately.'));
  }

  override async reverse({ chargeKey, account }: ReversalTerms): Promise<ReversalOutcome> {
    try {
      const path = `/charges/${encodeURIComponent(chargeKey)}/reversal`;
      const { json } = await this.call('POST', path, accountHeaders(account));
      const { outcome, charged } = (json ?? {}) as Partial<ChargeRecord>;
      if (outcome === 'reversed') return parseReversal(charged) ?? { kind: 'unconfirmed' };
    } catch {
      // The reversal is not confirmed. The caller retries it later.
    }
    return { kind: 'unconfirmed' };
  }

  override async refund(refund: RefundTerms, signal: AbortSignal): Promise<RefundOutcome> {
    const { idempotencyKey: key, chargeKey, amount } = refund;
    try {
      const body = { key, chargeKey, amount };
      const { status, json } = await this.call('POST', '/refunds', accountHeaders(refund.account), { body, signal });
      if (status === 200) return parseRefundOutcome(json);
    } catch {
      // The refund may have happened. The caller queries its status later.
    }
    return { kind: 'unknown' };
  }

  override async getRefundStatus({ idempotencyKey, account }: RefundTerms): Promise<RefundQueryResult> {
    const { status, body } = await this.get(`/refunds/${encodeURIComponent(idempotencyKey)}`, account);
    if (status === 200) return parseRefundOutcome(body);
    return { kind: status === 404 ? 'notFound' : 'unknown' };
  }

  override async readStatement(day: string, account: MerchantAccount, next = '0'): Promise<StatementPage | undefined> {
    const path = `/statements/${encodeURIComponent(day)}?after=${encodeURIComponent(next)}`;
    const { status, body } = await this.get(path, account);
    return status === 200 ? parseStatementPage(body) : undefined;
  }

  /** Status 0: there was no response, or the response cannot be parsed. */
  private async get(path: string, account: MerchantAccount): Promise<{ status: number; body: unknown }> {
    try {
      const { status, json } = await this.call('GET', path, accountHeaders(account));
      return { status, body: json };
    } catch {
      return { status: 0, body: undefined };
    }
  }

  /** `json` is the body of a response with status 200. Throws if there is no response or the body is not JSON. */
  private async call(
    method: 'DELETE' | 'GET' | 'POST',
    path: string,
    headers: Record<string, string>,
    { body, signal }: { body?: object; signal?: AbortSignal } = {},
  ): Promise<{ status: number; json: unknown }> {
    const response = await this.client.call({
      method,
      url: new URL(path, this.url),
      headers: body ? { ...JSON_BODY, ...headers } : headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
      ...(signal ? { signal } : { timeoutMs: QUERY_TIMEOUT_MS }),
    });
    if (response.statusCode !== 200) return { status: response.statusCode, json: undefined };
    if (response.bodyError !== undefined) throw response.bodyError;
    return { status: 200, json: JSON.parse(response.body.toString('utf8')) };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.client.close();
  }
}

const JSON_BODY = { 'content-type': 'application/json' };
/** The header for test or live mode. Without it the simulated acquirer assumes test mode. */
const modeHeader = (mode: Mode): Record<string, string> => ({ 'acquirer-mode': mode });
const accountHeaders = ({ mode, accountReference }: MerchantAccount): Record<string, string> => ({
  ...modeHeader(mode),
  'acquirer-account': accountReference,
});
/** A challenge with a longer URL is treated as unusable. */
const MAX_CHALLENGE_URL_LENGTH = 2048;

function chargeRequestBody(terms: ChargeTerms): Record<string, string | number> {
  const { idempotencyKey: key, paymentReference, amount, currencyISOCode: currency } = terms;
  return { key, paymentReference, amount, currency };
}

/** The outcome is `unknown` for any response that does not follow the acquirer's protocol. */
function parseChargeOutcome(record: Partial<ChargeRecord> | null): Exclude<ChargeOutcome, { kind: 'notAttempted' }> {
  const { outcome, acquirerReference, charged } = record ?? {};
  if (!isText(acquirerReference, MAX_IDENTIFIER_LENGTH)) return { kind: 'unknown' };
  switch (outcome) {
    case 'approved':
      return { kind: 'approved', acquirerReference };
    case 'declined':
      return {
        kind: 'declined',
        reason: DECLINE_CODES[record?.reason ?? ''] ?? 'card.declined',
        acquirerReference,
        ...(isText(record?.reason, MAX_IDENTIFIER_LENGTH) ? { acquirerCode: record.reason } : {}),
        ...(record?.reason === 'lost' || record?.reason === 'stolen' ? { mustNotRetry: true } : {}),
      };
    case 'challenged':
      return parseChallenge(record);
    case 'reversed':
      return parseReversal(charged) ?? { kind: 'unknown' };
    default:
      return { kind: 'unknown' };
  }
}

function parseChallenge(record: Partial<ChargeRecord> | null): Exclude<ChargeOutcome, { kind: 'notAttempted' }> {
  const { challenge, challengeUrl = '' } = record ?? {};
  const isUsable =
    challengeUrl.length <= MAX_CHALLENGE_URL_LENGTH && /^https?:$/.test(URL.parse(challengeUrl)?.protocol ?? '');
  // The payer cannot be verified without a usable URL. The recovery job later requests a reversal, which ends the
  // attempt.
  if (!challenge || !isUsable) return { kind: 'unknown' };
  return { kind: 'verificationRequired', challenge: { reference: challenge.reference, url: challengeUrl } };
}

/** Undefined when the response lacks `charged`. */
function parseReversal(charged: unknown): { kind: 'reversed' } | { kind: 'neverCharged' } | undefined {
  if (typeof charged !== 'boolean') return undefined;
  return { kind: charged ? 'reversed' : 'neverCharged' };
}

function isConnectionFailure(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === 'ECONNREFUSED' || code === 'CONNECT_TIMEOUT' || code === 'ENOTFOUND';
}
