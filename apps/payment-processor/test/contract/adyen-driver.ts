import { waitUntil } from '@svc/testing';
import { findRequestProblems } from '../adyen/adyen-documents.js';
import type { Processor } from '../processor.js';
import type {
  AcquirerDriver,
  AcquirerRecords,
  CardBehaviour,
  Fault,
  Operation,
  ReportSelection,
  TestCard,
} from './acquirer-driver.js';
import type { DisputeKind } from './contract-terms.js';
import { ADYEN_ACCOUNTS, EmulatorClient, type EmulatorState, NOTIFICATIONS_PATH } from './emulator-client.js';
import { connectionRefused, type ContractNetwork, type RecordedCall } from './network.js';

/** Names of card holders that trigger a result (Adyen's documentation, "Testing with card holder name"). */
const HOLDER_NAMES: Readonly<Partial<Record<CardBehaviour, string>>> = {
  captureFailsLater: 'capture failed',
  'declined: card.declined': 'DECLINED',
  'declined: card.insufficient-funds': 'NOT_ENOUGH_BALANCE',
  'declined: card.expired': 'CARD_EXPIRED',
  'declined: card.invalid': 'INVALID_CARD_NUMBER',
  'declined: card.incorrect-cvv': 'CVC_DECLINED',
  'declined: card.suspected-fraud': 'FRAUD',
  'declined: card.limit-exceeded': 'WITHDRAWAL_AMOUNT_EXCEEDED',
  'declined: verification.failed': 'NOT_3D_AUTHENTICATED',
};

const ENROLLED_CARD = '4212345678901237';
const OTHER_CARD = '4111111111111111';

const ROUTES: Readonly<Record<Operation, readonly [method: string, path: RegExp, operation: string]>> = {
  charge: ['POST', /^\/payments$/, 'payments'],
  chargeVerified: ['POST', /^\/payments\/details$/, 'details'],
  capture: ['POST', /^\/payments\/[^/]+\/captures$/, 'captures'],
  reverse: ['POST', /^\/cancels$/, 'technical-cancels'],
  refund: ['POST', /^\/payments\/[^/]+\/refunds$/, 'refunds'],
  storeCard: ['POST', /^\/storedPaymentMethods$/, 'stored-payment-methods'],
  deleteCard: ['DELETE', /^\/storedPaymentMethods\/[^/]+$/, 'stored-payment-methods'],
};

const EVENT_CODES: Readonly<Record<NonNullable<ReportSelection['kind']>, readonly string[]>> = {
  charge: ['AUTHORISATION'],
  capture: ['CAPTURE', 'CAPTURE_FAILED'],
  reversal: ['TECHNICAL_CANCEL'],
  refund: ['REFUND', 'REFUND_FAILED', 'REFUNDED_REVERSED'],
};

const DISPUTE_EVENTS: Readonly<Partial<Record<DisputeKind, string>>> = {
  inquiry: 'REQUEST_FOR_INFORMATION',
  opened: 'NOTIFICATION_OF_CHARGEBACK',
  debited: 'CHARGEBACK',
  defended: 'INFORMATION_SUPPLIED',
  reversed: 'CHARGEBACK_REVERSED',
  debitedAgain: 'SECOND_CHARGEBACK',
  won: 'PREARBITRATION_WON',
  lost: 'PREARBITRATION_LOST',
};

/** Longer than every test. The timer of the emulator does not delay its end. */
const LATE_MS = 120_000;

/** The emulator of Adyen. Its webhooks arrive at the service's endpoint over HTTP. */
export class AdyenDriver implements AcquirerDriver {
  readonly acquirer = 'adyen';
  readonly capturesSeparately = true;
  readonly repeatsLostResponses = true;
  readonly impossible: Readonly<Record<string, string>> = {
    'the statement of a day lists all movements of money': 'Adyen has no statement of a day, but settlement reports.',
  };
  readonly emulator = new EmulatorClient();
  private network!: ContractNetwork;

  async start(): Promise<Record<string, string>> {
    await this.emulator.start();
    return this.emulator.settings;
  }

  async connect(processor: Processor, network: ContractNetwork): Promise<void> {
    this.network = network;
    this.emulator.now = () => processor.clock.now();
    const { app } = processor.service;
    await app.listen(0, '127.0.0.1');
    await this.emulator.reset();
    await this.emulator.control('PUT', '/webhook-endpoint', { url: (await app.getUrl()) + NOTIFICATIONS_PATH });
  }

  stop(): Promise<void> {
    return this.emulator.stop();
  }

  accountOf(): string {
    return ADYEN_ACCOUNTS.merchant;
  }

  card(behaviour: CardBehaviour): TestCard {
    const cardNumber = behaviour === 'verificationRequired' ? ENROLLED_CARD : OTHER_CARD;
    const holderName = HOLDER_NAMES[behaviour] ?? 'T Payer';
    return { cardNumber, cvv: '737', expiryMonth: 3, expiryYear: 2030, holderName };
  }

  async causeFault(operation: Operation, fault: Fault): Promise<void> {
    if (fault === 'noConnection')
      return this.network.interceptNext(this.matcherOf(operation), () => Promise.reject(connectionRefused()));
    const add = (type: string, settings: object = {}): Promise<unknown> =>
      this.emulator.control('POST', '/faults', { type, operation: ROUTES[operation][2], ...settings });
    switch (fault) {
      case 'requestLost':
        await add('lose-request');
        return this.expireAfterFailure(operation);
      case 'responseLost':
        await add('lose-response');
        return this.expireAfterFailure(operation);
      case 'responseLate':
        await add('delay-response', { delayMs: LATE_MS });
        return this.expireOnceProcessed(operation);
      case 'tooManyRequests':
        await add('status', { status: 429 });
        return;
      case 'serverError':
        await add('status', { status: 503 });
        return;
      case 'serverErrorAfterwards':
        await add('status-after', { status: 503 });
        return;
      case 'notJson':
        await add('not-json');
        return;
      case 'notJsonAfterwards':
        await add('not-json-after');
    }
  }

  async loseOneResponse(operation: Operation): Promise<void> {
    await this.emulator.control('POST', '/faults', { type: 'lose-response', operation: ROUTES[operation][2] });
  }

  countCalls(operation: Operation): number {
    return this.network.calls.filter(this.matcherOf(operation)).length;
  }

  private matcherOf(operation: Operation): (call: Pick<RecordedCall, 'method' | 'url'>) => boolean {
    const [expected, path] = ROUTES[operation];
    return ({ method, url }) => method === expected && path.test(url.pathname.replace(/^\/v71/, ''));
  }

  private expireAfterFailure(operation: Operation): void {
    this.network.interceptNext(this.matcherOf(operation), async (request, call) => {
      try {
        return await call();
      } catch (error) {
        this.network.expire(request);
        throw error;
      }
    });
  }

  private expireOnceProcessed(operation: Operation): void {
    this.network.interceptNext(this.matcherOf(operation), async (request, call) => {
      const count = async (): Promise<number> => {
        const { payments, modifications } = await this.emulator.state();
        return payments.length + modifications.length;
      };
      const before = await count();
      const response = call();
      const isProcessed = waitUntil('the emulator to process the request', 5_000, async () => (await count()) > before);
      void isProcessed.then(() => this.network.expire(request));
      return response;
    });
  }

  async answerChallenge(verificationUrl: string, answer: 'pass' | 'fail'): Promise<string> {
    const body = new URLSearchParams({ answer });
    const { headers } = await fetch(verificationUrl, { method: 'POST', body, redirect: 'manual' });
    return headers.get('location')!;
  }

  async readRecords(paymentReference: string): Promise<AcquirerRecords> {
    const state = await this.emulator.state();
    const own = paymentsOf(state, paymentReference);
    const disputed = state.disputes.filter(
      ({ isDebited, paymentPspReference }) =>
        isDebited && own.some(({ pspReference }) => pspReference === paymentPspReference),
    );
    return {
      approvals: own.filter(({ authCode }) => authCode !== undefined).length,
      heldAmount:
        own.reduce((sum, { capturedValue, refundedValue }) => sum + capturedValue - refundedValue, 0) -
        disputed.reduce((sum, { amount }) => sum + amount.value, 0),
      openAuthorisations: own.filter(({ state: each }) => each === 'authorised').length,
    };
  }

  async deliverReports({ kind, order = 'oldest-first' }: ReportSelection = {}): Promise<number> {
    const eventCodes = kind === undefined ? [undefined] : EVENT_CODES[kind];
    const released = new Set<number>();
    for (const eventCode of eventCodes) {
      const selection = { order, ...(eventCode === undefined ? {} : { eventCode }) };
      const response = await this.emulator.control<{ released: number[] }>('POST', '/webhooks/release', selection);
      for (const id of response.released) released.add(id);
    }
    if (released.size === 0) return 0;
    const { webhooks } = await this.emulator.state();
    const refused = webhooks.filter(({ id, state }) => released.has(id) && state === 'queued');
    if (refused.length > 0) throw new Error(`The service refused webhooks: ${JSON.stringify(refused)}`);
    return released.size;
  }

  async repeatReports(paymentReference: string): Promise<void> {
    const state = await this.emulator.state();
    const [payment] = paymentsOf(state, paymentReference);
    const accepted = state.webhooks.filter(
      ({ state: each, item }) =>
        each === 'accepted' &&
        [item.pspReference, item.originalReference].some((reference) => reference === payment?.pspReference),
    );
    for (const { id } of accepted) await this.emulator.control('POST', `/webhooks/${id}/send`);
  }

  async failNext(operation: 'capture' | 'refund'): Promise<void> {
    await this.emulator.control('POST', '/modification-failures', { type: operation });
  }

  async failCapture(paymentReference: string): Promise<void> {
    const [payment] = paymentsOf(await this.emulator.state(), paymentReference);
    await this.emulator.control('POST', `/payments/${payment!.pspReference}/capture-failed`);
  }

  async returnRefund(paymentReference: string, reason: 'failed' | 'reversed'): Promise<void> {
    const state = await this.emulator.state();
    const [payment] = paymentsOf(state, paymentReference);
    const refund = state.modifications.find(
      ({ type, paymentPspReference }) => type === 'refund' && paymentPspReference === payment!.pspReference,
    );
    await this.emulator.control('POST', `/refunds/${refund!.pspReference}/${reason}`);
  }

  async dispute(paymentReference: string, kind: DisputeKind): Promise<void> {
    const payment = paymentsOf(await this.emulator.state(), paymentReference).find(({ state }) => state === 'captured');
    const eventCode = DISPUTE_EVENTS[kind];
    await this.emulator.control('POST', `/payments/${payment!.pspReference}/disputes`, { eventCode });
  }

  async hasStoredCard(lastFour: string): Promise<boolean> {
    const { storedCards } = await this.emulator.state();
    return storedCards.some(({ card, isDeleted }) => card.lastFour === lastFour && !isDeleted);
  }

  findRequestProblems(): string[] {
    return this.network.calls
      .filter(({ url }) => url.pathname.startsWith('/v71/'))
      .flatMap(({ method, url, headers, body }) =>
        findRequestProblems({ method, path: url.pathname.replace(/^\/v71/, '') + url.search, headers, body }),
      );
  }
}

function paymentsOf({ payments }: EmulatorState, paymentReference: string): EmulatorState['payments'] {
  return payments.filter(({ order }) => order.reference === paymentReference);
}
