import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CardKeyPublishedV1,
  type ChargeCard,
  ChargeCardV1,
  type ChargeInvoice,
  ChargeInvoiceV1,
  CheckPaymentsV1,
  ClosePayableV1,
  ERROR_CATALOGUE,
  FindPayableV1,
  FindTillInvoiceV1,
  type HostedPaymentSnapshot,
  type InvoiceSource,
  type Mode,
  type OpenedPayable,
  type OpenPayable,
  OpenPayableV1,
  type PayableDescriptor,
  type PayableSnapshot,
  type PayableSource,
  type PaymentSnapshot,
  type PublicKeyJwk,
  type ShowPayment,
  ShowPaymentV1,
} from '@svc/contracts';
import { Commands, EmbeddedBroker } from '@svc/messaging';
import { type ChargeRecord, startSimulatedAcquirer } from '@svc/simulated-acquirer';
import { ManualClock, startTestService, type TestService } from '@svc/testing';
import { paymentProcessorService } from '../src/index.js';
import { CleanupJob } from '../src/jobs/cleanup-job.js';
import { RecoverAttempts } from '../src/jobs/recover-attempts.js';
import { SealLedger } from '../src/ledger/seal-ledger.js';
import { ReconciliationJob } from '../src/reconciliation/reconciliation-job.js';
import { RecoverRefunds } from '../src/refunds/recover-refunds.js';
import { encryptedCard } from './encrypted-card.js';

export const CODES_URL = 'https://pay.svc.example';

export interface Processor extends TestService {
  readonly cardKey: PublicKeyJwk;
  /** Encrypts the card for this payable and try, and requests the charge, as a page does for a click on Pay. */
  pay(payable: PayableDescriptor<PayableSource>, options?: PayOptions): Promise<HostedPaymentSnapshot>;
  /** The same on the page of an invoice; by default its amount without a tip. */
  payInvoice(
    payable: PayableDescriptor<InvoiceSource>,
    options?: Omit<PayOptions, 'command'> & { readonly command?: Partial<ChargeInvoice> },
  ): Promise<PaymentSnapshot>;
  /** Sends the command of code-decoder. */
  findPayable(payableId: string): Promise<{ payable?: PayableSnapshot }>;
  /** Requests to close the payable. */
  close(payable: PayableDescriptor<PayableSource>): Promise<PayableSnapshot>;
  /** Requests to open the payable. */
  open(command: OpenPayable): Promise<OpenedPayable>;
  /** Polls the payable, as a client does. */
  check(payable: PayableDescriptor<PayableSource>): Promise<HostedPaymentSnapshot[]>;
  /** Confirms or refuses on the bank's page, as the payer. */
  answerChallenge(payment: Pick<PaymentSnapshot, 'verificationUrl'>, answer: 'confirm' | 'refuse'): Promise<void>;
  /** Payment references of charges in the acquirer's own books that were not reversed. */
  charged(): string[];
  /** The file with the bank's books. */
  readonly books: string;
  /** Commands to payment-history before a response. */
  readonly shown: readonly ShowPayment[];
  /** Response of code-decoder to a till's static code; by default no invoice. */
  readonly tillInvoices: jest.Mock<{ invoiceReference?: string } | undefined, [{ mode: Mode; code: string }]>;
  recover(): Promise<number>;
  recoverRefunds(): Promise<number>;
  clearUp(): Promise<number>;
  /** Seals once, at most this many transfers, and closes the days that are due. */
  seal(transfersMax?: number): Promise<number>;
}

export interface PayOptions {
  readonly card?: string;
  readonly try?: number;
  readonly reference?: string;
  readonly command?: Partial<ChargeCard>;
}

/** Every line of the bank's books: charges, reversals, refunds and stored cards. */
export function bankLines({ books }: Pick<Processor, 'books'>): Record<string, unknown>[] {
  const lines = readFileSync(books, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

export async function startProcessor(env: Record<string, string> = {}): Promise<Processor> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-acquirer-'));
  const store = join(folder, 'charges.jsonl');
  const clock = new ManualClock();
  const acquirer = await startSimulatedAcquirer(
    { SVC_ACQUIRER_STORE: store, SVC_ACQUIRER_LIVE: env['SVC_ACQUIRER_LIVE'] },
    () => clock.now(),
  );
  const broker = new EmbeddedBroker();
  const shown: ShowPayment[] = [];
  await broker.respond(ShowPaymentV1.name, (command) => {
    shown.push(command as ShowPayment);
    return Promise.resolve({ ok: true, reply: { shown: true } });
  });
  const tillInvoices: Processor['tillInvoices'] = jest.fn();
  tillInvoices.mockReturnValue({});
  await broker.respond(FindTillInvoiceV1.name, (command) => {
    const reply = tillInvoices(command as { mode: Mode; code: string });
    const { message } = ERROR_CATALOGUE['service.not-ready'];
    return Promise.resolve(
      reply ? { ok: true, reply } : { ok: false, code: 'service.not-ready', message, fields: [], retryAfterSeconds: 1 },
    );
  });
  const test = await startTestService(paymentProcessorService, {
    broker,
    clock,
    env: {
      SVC_SEALING_KEY: randomBytes(32).toString('base64url'),
      SVC_ADMIN_KEY: randomBytes(32).toString('base64url'),
      SVC_ACQUIRER_URL: acquirer.url,
      SVC_API_URL: 'https://api.svc.example',
      SVC_CODES_URL: CODES_URL,
      ...env,
    },
  });
  // Tests step the jobs; a background job could do the work first.
  for (const job of [RecoverAttempts, RecoverRefunds, CleanupJob, SealLedger, ReconciliationJob])
    await test.service.app.get(job).onApplicationShutdown();
  const [cardKey] = await test.published(CardKeyPublishedV1);
  const commands = new Commands(broker);
  const pressed = async (
    { payableId }: PayableDescriptor<PayableSource>,
    { card, try: nth = 1, reference = randomUUID() }: Omit<PayOptions, 'command'>,
  ): Promise<Omit<ChargeCard, 'payable'>> => ({
    reference,
    try: nth,
    encryptedCard: await encryptedCard(
      cardKey!.payload.publicJwk,
      { sessionId: payableId, try: nth },
      card ? { cardNumber: card } : {},
    ),
    payerReturnUrl: `https://pay.example/pay?sessionId=${payableId}`,
    deadline: test.clock.later(15_000).toISOString(),
  });
  return {
    ...test,
    cardKey: cardKey!.payload.publicJwk,
    shown,
    tillInvoices,
    books: store,
    pay: async (payable, { command = {}, ...options } = {}) =>
      commands.request(ChargeCardV1, {
        payable: payable as PayableDescriptor,
        ...(await pressed(payable, options)),
        ...command,
      }),
    payInvoice: async (payable, { command = {}, ...options } = {}) =>
      commands.request(ChargeInvoiceV1, {
        payable,
        amount: payable.amount,
        tipAmount: 0,
        ...(await pressed(payable, options)),
        ...command,
      }),
    findPayable: (payableId) => commands.request(FindPayableV1, { payableId }),
    close: (payable) => commands.request(ClosePayableV1, { payable }),
    open: (command) => commands.request(OpenPayableV1, command),
    check: async ({ payableId }) => (await commands.request(CheckPaymentsV1, { payableId })) as HostedPaymentSnapshot[],
    answerChallenge: async ({ verificationUrl = '' }, answer) => {
      const { status } = await fetch(verificationUrl, {
        method: 'POST',
        body: new URLSearchParams({ answer }),
        redirect: 'manual',
      });
      if (status !== 303) throw new Error(`The bank did not lead back: ${status}`);
    },
    charged: () => {
      const last = new Map<string, ChargeRecord>();
      for (const record of bankLines({ books: store }))
        if (typeof record['key'] === 'string') last.set(record['key'], record as unknown as ChargeRecord);
      return [...last.values()]
        .filter(({ outcome }) => outcome === 'approved')
        .map(({ paymentReference }) => paymentReference);
    },
    recover: () => test.service.app.get(RecoverAttempts).runOnce(),
    recoverRefunds: () => test.service.app.get(RecoverRefunds).runOnce(),
    clearUp: () => test.service.app.get(CleanupJob).runOnce(),
    seal: (transfersMax) => test.service.app.get(SealLedger).runOnce(transfersMax),
    stop: async () => {
      await test.stop();
      await acquirer.close();
      rmSync(folder, { recursive: true });
    },
  };
}
