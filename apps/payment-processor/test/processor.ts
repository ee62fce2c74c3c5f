import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Module, type Provider, type Type } from '@nestjs/common';
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
  type HostedPayableDescriptor,
  type HostedPaymentSnapshot,
  type InvoiceSource,
  type Mode,
  type OpenedPayable,
  type OpenPayable,
  OpenPayableV1,
  type PayableDescriptor,
  type PayableSnapshot,
  type PaymentSnapshot,
  type PublicKeyJwk,
  type ShowPayment,
  ShowPaymentV1,
} from '@svc/contracts';
import { Commands, EmbeddedBroker } from '@svc/messaging';
import { type ChargeRecord, startSimulatedAcquirer } from '@svc/simulated-acquirer';
import { ManualClock, startTestService, type TestService, waitUntil } from '@svc/testing';
import type { Acquirer } from '../src/acquirers/acquirer.js';
import { ACQUIRERS, Acquirers } from '../src/acquirers/acquirers.js';
import { SimulatedAcquirerClient } from '../src/acquirers/simulated-acquirer.client.js';
import { PaymentProcessorModule } from '../src/app.module.js';
import { RequestCaptures } from '../src/captures/request-captures.js';
import { paymentProcessorService } from '../src/index.js';
import { CleanupJob } from '../src/jobs/cleanup-job.js';
import { RecoverAttempts } from '../src/jobs/recover-attempts.js';
import { SealLedger } from '../src/ledger/seal-ledger.js';
import { ReconciliationJob } from '../src/reconciliation/reconciliation-job.js';
import { RecoverRefunds } from '../src/refunds/recover-refunds.js';
import { ApplyReports } from '../src/reports/apply-reports.js';
import { ReverseForgottenCharges } from '../src/restores/forgotten-charges/reverse-forgotten-charges.js';
import { ReadSettlementReports } from '../src/settlement-reports/read-settlement-reports.js';
import { encryptCard } from './encrypted-card.js';

export const CODES_URL = 'https://pay.svc.example';

export interface Processor extends TestService {
  readonly cardKey: PublicKeyJwk;
  /** The service's client of the simulated bank. Tests replace its methods. */
  readonly acquirer: Acquirer;
  /**
   * Encrypts the card for this payable and payment, and requests the charge, as the payment page does. First stores the
   * payable's merchant and site ({@link storeOwner}), unless `isOwnerKnown` is false.
   */
  pay(payable: PayableDescriptor, options?: PayOptions): Promise<HostedPaymentSnapshot>;
  /** Requests the charge as the page of an invoice does; by default the amount of the invoice without a tip. */
  payInvoice(
    payable: PayableDescriptor<InvoiceSource>,
    options?: Omit<PayOptions, 'command' | 'isOwnerKnown'> & { readonly command?: Partial<ChargeInvoice> },
  ): Promise<PaymentSnapshot>;
  /** Sends the command find-payable. */
  findPayable(payableId: string): Promise<{ payable?: PayableSnapshot }>;
  /** Requests to close the payable. */
  closePayable(payable: PayableDescriptor): Promise<PayableSnapshot>;
  /** Requests to open the payable. */
  openPayable(command: OpenPayable): Promise<OpenedPayable>;
  /** Sends the command check-payments, as a client that polls the payable does. Returns the payments of the payable. */
  pollPayments(payable: PayableDescriptor): Promise<HostedPaymentSnapshot[]>;
  /** Confirms or refuses the verification on the bank's page, as the payer does. */
  answerChallenge(payment: Pick<PaymentSnapshot, 'verificationUrl'>, answer: 'confirm' | 'refuse'): Promise<void>;
  /** Payment references of the charges that the simulated bank has recorded and not reversed. */
  chargedReferences(): string[];
  /** Path of the file with the records of the simulated bank. */
  readonly bankFile: string;
  /** The commands show-payment that the service has sent to payment-history. */
  readonly showPaymentCommands: readonly ShowPayment[];
  /** Mock of code-decoder's response to a till's static code; by default without an invoice. */
  readonly findTillInvoice: jest.Mock<{ invoiceReference?: string } | undefined, [{ mode: Mode; code: string }]>;
  /** Runs the recovery job of attempts once for each acquirer. Returns the number of recovered attempts. */
  recoverAttempts(): Promise<number>;
  recoverRefunds(): Promise<number>;
  runCleanup(): Promise<number>;
  /**
   * Seals the ledger once, with at most this number of transfers, and closes the days that are due. First waits for
   * short transactions of other connections, because a transaction of a background job or of autovacuum that began
   * before a transfer delays its sealing. Transactions that a test holds open are idle for longer.
   *
   * @param sealer by default the service's
   */
  sealLedger(transfersMax?: number, sealer?: SealLedger): Promise<number>;
}

export interface PayOptions {
  readonly card?: string;
  readonly paymentNumber?: number;
  readonly reference?: string;
  readonly command?: Partial<ChargeCard>;
  readonly isOwnerKnown?: boolean;
}

/**
 * Stores the payable's merchant and site, if they are unknown, as if their events had arrived. Events replace these rows.
 * A site of another merchant becomes a site of this merchant, because payables of different merchants have the same site
 * in most tests.
 */
export async function storeOwner(
  { superuser }: Pick<TestService, 'superuser'>,
  { merchantId, siteId }: Pick<PayableDescriptor, 'merchantId' | 'siteId'>,
): Promise<void> {
  await superuser.query(
    `INSERT INTO known_merchants (merchant_id, name, features, grants, minimum_amount, fees, version)
     VALUES ($1, 'Karoo Books', '{}', '[]', 100, '{}', 0) ON CONFLICT DO NOTHING`,
    [merchantId],
  );
  await superuser.query(
    `INSERT INTO known_sites AS s (site_id, merchant_id, site_reference, version) VALUES ($1, $2, 'WEB', 0)
     ON CONFLICT (site_id) DO UPDATE SET merchant_id = excluded.merchant_id WHERE s.merchant_id <> excluded.merchant_id`,
    [siteId, merchantId],
  );
}

/** Reads all records of the simulated bank: charges, reversals, refunds and stored cards. */
export function readBankRecords({ bankFile }: Pick<Processor, 'bankFile'>): Record<string, unknown>[] {
  const lines = readFileSync(bankFile, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** The module of the service with further acquirers after the simulated bank. */
function moduleWith(acquirers: readonly Acquirer[]): Type<unknown> {
  const metadata = (key: string): unknown[] => Reflect.getMetadata(key, PaymentProcessorModule) as unknown[];
  class ModuleWithAcquirers {}
  const list: Provider = {
    provide: ACQUIRERS,
    inject: [SimulatedAcquirerClient],
    useFactory: (simulated: SimulatedAcquirerClient): readonly Acquirer[] => [simulated, ...acquirers],
  };
  Module({
    imports: metadata('imports') as Type<unknown>[],
    controllers: metadata('controllers') as Type<unknown>[],
    // The last provider of a token applies.
    providers: [...(metadata('providers') as Provider[]), list],
  })(ModuleWithAcquirers);
  return ModuleWithAcquirers;
}

/** @param acquirers configured after the simulated bank */
export async function startProcessor(
  env: Record<string, string> = {},
  acquirers: readonly Acquirer[] = [],
): Promise<Processor> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-acquirer-'));
  const bankFile = join(folder, 'charges.jsonl');
  const clock = new ManualClock();
  const bank = await startSimulatedAcquirer(
    { SVC_ACQUIRER_STORE: bankFile, SVC_ACQUIRER_LIVE: env['SVC_ACQUIRER_LIVE'] },
    () => clock.now(),
  );
  const broker = new EmbeddedBroker();
  const showPaymentCommands: ShowPayment[] = [];
  await broker.respond(ShowPaymentV1.name, (command) => {
    showPaymentCommands.push(command as ShowPayment);
    return Promise.resolve({ ok: true, reply: { shown: true } });
  });
  const findTillInvoice: Processor['findTillInvoice'] = jest.fn();
  findTillInvoice.mockReturnValue({});
  await broker.respond(FindTillInvoiceV1.name, (command) => {
    const reply = findTillInvoice(command as { mode: Mode; code: string });
    const { message } = ERROR_CATALOGUE['service.not-ready'];
    return Promise.resolve(
      reply ? { ok: true, reply } : { ok: false, code: 'service.not-ready', message, fields: [], retryAfterSeconds: 1 },
    );
  });
  const definition =
    acquirers.length === 0 ? paymentProcessorService : { ...paymentProcessorService, module: moduleWith(acquirers) };
  const testService = await startTestService(definition, {
    broker,
    clock,
    env: {
      SVC_SEALING_KEY: randomBytes(32).toString('base64url'),
      SVC_CARD_FINGERPRINT_KEYS: randomBytes(32).toString('base64url'),
      SVC_ADMIN_KEY: randomBytes(32).toString('base64url'),
      SVC_ACQUIRER_URL: bank.url,
      SVC_API_URL: 'https://api.svc.example',
      SVC_CODES_URL: CODES_URL,
      ...env,
    },
  });
  // The background jobs are stopped, because tests run the jobs explicitly.
  for (const job of [
    RecoverAttempts,
    RecoverRefunds,
    RequestCaptures,
    ApplyReports,
    ReadSettlementReports,
    CleanupJob,
    SealLedger,
    ReconciliationJob,
    ReverseForgottenCharges,
  ])
    await testService.service.app.get(job).onApplicationShutdown();
  const [cardKey] = await testService.published(CardKeyPublishedV1);
  const commands = new Commands(broker);
  const { app } = testService.service;
  const configured = app.get(Acquirers);
  const sumOverAcquirers = async (runStep: (acquirer: string) => Promise<number>): Promise<number> => {
    const numbers = await Promise.all(configured.names.map(runStep));
    return numbers.reduce((sum, number) => sum + number, 0);
  };
  const buildChargeCommand = async (
    { payableId }: PayableDescriptor,
    { card, paymentNumber: nth = 1, reference = randomUUID() }: Omit<PayOptions, 'command' | 'isOwnerKnown'>,
  ): Promise<Omit<ChargeCard, 'payable'>> => ({
    reference,
    paymentNumber: nth,
    encryptedCard: await encryptCard(
      cardKey!.payload.publicJwk,
      { sessionId: payableId, paymentNumber: nth },
      card ? { cardNumber: card } : {},
    ),
    payerReturnUrl: `https://pay.example/pay?sessionId=${payableId}`,
    payer: {},
    deadline: testService.clock.later(15_000).toISOString(),
  });
  return {
    ...testService,
    cardKey: cardKey!.payload.publicJwk,
    acquirer: configured.get('simulated'),
    showPaymentCommands,
    findTillInvoice,
    bankFile,
    pay: async (payable, { command = {}, isOwnerKnown = true, ...options } = {}) => {
      if (isOwnerKnown) await storeOwner(testService, payable);
      return commands.request(ChargeCardV1, {
        payable: payable as HostedPayableDescriptor,
        ...(await buildChargeCommand(payable, options)),
        ...command,
      });
    },
    payInvoice: async (payable, { command = {}, ...options } = {}) =>
      commands.request(ChargeInvoiceV1, {
        payable,
        amount: payable.amount,
        tipAmount: 0,
        ...(await buildChargeCommand(payable, options)),
        ...command,
      }),
    findPayable: (payableId) => commands.request(FindPayableV1, { payableId }),
    closePayable: (payable) => commands.request(ClosePayableV1, { payable }),
    openPayable: (command) => commands.request(OpenPayableV1, command),
    pollPayments: async ({ payableId }) =>
      (await commands.request(CheckPaymentsV1, { payableId })) as HostedPaymentSnapshot[],
    answerChallenge: async ({ verificationUrl = '' }, answer) => {
      const { status } = await fetch(verificationUrl, {
        method: 'POST',
        body: new URLSearchParams({ answer }),
        redirect: 'manual',
      });
      if (status !== 303) throw new Error(`The bank did not redirect the payer: ${status}`);
    },
    chargedReferences: () => {
      const last = new Map<string, ChargeRecord>();
      for (const record of readBankRecords({ bankFile }))
        if (typeof record['key'] === 'string') last.set(record['key'], record as unknown as ChargeRecord);
      return [...last.values()]
        .filter(({ outcome }) => outcome === 'approved')
        .map(({ paymentReference }) => paymentReference);
    },
    recoverAttempts: () => sumOverAcquirers((name) => app.get(RecoverAttempts).runStep(name)),
    recoverRefunds: () => sumOverAcquirers((name) => app.get(RecoverRefunds).runStep(name)),
    runCleanup: async () => {
      const expired = await app.get(CleanupJob).runStep();
      return expired + (await sumOverAcquirers((name) => app.get(CleanupJob).runStepOf(name)));
    },
    sealLedger: async (transfersMax, sealer) => {
      await waitUntil('short transactions of other connections to end', 10_000, async () => {
        const { rowCount } = await testService.superuser.query(
          `SELECT FROM pg_stat_activity
            WHERE backend_xid IS NOT NULL AND (state = 'active' OR state_change > now() - interval '200 ms')
              AND pid <> pg_backend_pid()`,
        );
        return rowCount === 0;
      });
      return (sealer ?? testService.service.app.get<SealLedger>(SealLedger)).runStep(transfersMax);
    },
    stop: async () => {
      await testService.stop();
      await bank.close();
      rmSync(folder, { recursive: true });
    },
  };
}
