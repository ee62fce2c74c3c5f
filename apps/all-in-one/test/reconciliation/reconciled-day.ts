import { randomUUID } from 'node:crypto';
import { waitUntil } from '@svc/testing';
import { getProcessorProvider, reportDispute } from '../dispute-reports.js';
import { TwoMerchants } from '../hosted-callers.js';
import { type MainApi, startMainApi } from '../main-api.js';
import { newCardData, TwoPartners } from '../two-partners.js';

/**
 * A difference, as the administration API reports it. The reconciliation compares the payments with the lists of other
 * services, which it calls books (docs/reconciliation.md).
 */
export interface ReportedDifference {
  readonly book: string;
  readonly merchantId: number;
  readonly mode: string;
  readonly key: string;
  readonly kind: string;
  readonly field: string | null;
}

export interface ReconciliationReport {
  readonly merchants: readonly (Record<string, unknown> & { readonly books: Readonly<Record<string, unknown>> })[];
  /** The reported differences. `differences` counts all, also those that are too many for the report. */
  readonly listedDifferences: readonly ReportedDifference[];
  readonly differences: number;
  readonly open: number;
  readonly isWholeDay: boolean;
}

/** A line of the acquirer's statement, as payment-processor reads it. */
export interface StatementLine {
  readonly kind: string;
  readonly idempotencyKey: string;
  readonly acquirerReference: string;
  readonly paymentReference: string;
  readonly amount: number;
  readonly currencyISOCode: string;
  readonly movedUTCDate: string;
}

/** The methods of payment-processor's `SimulatedAcquirerClient` that tests replace. */
export interface AcquirerUnderTest {
  charge: (...args: unknown[]) => Promise<unknown>;
  readStatement: (
    day: string,
    account: { readonly mode: string; readonly accountReference: string },
    next?: string,
  ) => Promise<{ readonly lines: readonly StatementLine[] } | undefined>;
}

export const DAY = '2026-03-01';
/** Soon after midnight, because a reconciliation compares every hour of the day until now. */
const START_AT = new Date(Date.parse(DAY) + 600_000);

/**
 * Runs all services and simulates a day of payments, so that the day can be reconciled. Payers pay on the pages of
 * sessions and pay a till's invoice, and partners pay, in both modes. The day includes vouchers, external payments,
 * declines, refunds and a dispute.
 */
export class ReconciledDay {
  private constructor(
    readonly api: MainApi,
    readonly merchants: TwoMerchants,
    readonly partners: TwoPartners,
  ) {}

  static async simulate(): Promise<ReconciledDay> {
    const api = await startMainApi({ hostedGateway: true, startAt: START_AT });
    const partners = await TwoPartners.onboard(api);
    const merchants = await TwoMerchants.onboard(api);
    const reconciledDay = new ReconciledDay(api, merchants, partners);
    const { merchantId, siteId } = merchants.siteIds.get('site 1')!;
    const webhook = { webhookUrl: 'https://shop.example/site-hook', webhookEnabled: true };
    await api.administer('PATCH', `/merchants/${merchantId}/sites/${siteId}`, webhook);
    await api.administer('PATCH', `/merchants/${merchantId}`, {
      fees: { test: { basisPoints: 290, fixedAmount: 100 } },
      features: { tip: { enabled: true } },
    });
    // The payments of partners have a tip, vouchers of both kinds and both parts of a fee, so that a book that omits one
    // of these amounts differs.
    const [, partnersMerchant] = /merchants\/(\d+)/.exec(partners.sitePath)!;
    await api.administer('PATCH', `/merchants/${partnersMerchant}`, {
      fees: { test: { basisPoints: 175, fixedAmount: 60 } },
      features: { tip: { enabled: true } },
    });
    await reconciledDay.relayEverything();
    await reconciledDay.payOnPages();
    await reconciledDay.payInvoicesAsPartner();
    await reconciledDay.disputePayment();
    await reconciledDay.relayEverything();
    return reconciledDay;
  }

  /**
   * Relays all events between the services, and advances the clock by two minutes, because a reconciliation ignores
   * payments of the last two minutes.
   */
  async relayEverything(): Promise<void> {
    // An event may cause further events in the service that receives it, so relay several times.
    for (let round = 0; round < 3; round++) await this.api.relayAllEvents();
    this.api.clock.advance(120_000);
  }

  async reconcile(request: { day?: string; merchantId?: number } = { day: DAY }): Promise<ReconciliationReport> {
    const { runId } = await this.api.administer('POST', '/reconciliations', request);
    const finishedRun = await waitUntil('the reconciliation', 60_000, async () => {
      const run = await this.api.administer('GET', `/reconciliations/${runId}`);
      return run['state'] === 'done' || run['state'] === 'failed' ? run : undefined;
    });
    if (finishedRun['state'] === 'failed') throw new Error(finishedRun['failure']);
    return finishedRun['result'] as unknown as ReconciliationReport;
  }

  get acquirer(): AcquirerUnderTest {
    return getProcessorProvider(this.api, 'SimulatedAcquirerClient') as AcquirerUnderTest;
  }

  /**
   * Changes a table as a superuser, without running its triggers and foreign keys. `undo` restores all rows of the
   * table.
   */
  async changeTable(service: string, table: string, statement: string): Promise<{ undo: () => Promise<void> }> {
    const { superuser } = this.api.service(service);
    const runAsSuperuser = async (...statements: string[]): Promise<number | null> => {
      const client = await superuser.connect();
      try {
        await client.query('BEGIN; SET LOCAL session_replication_role = replica');
        let changed: number | null = null;
        for (const sql of statements) changed = (await client.query(sql)).rowCount;
        await client.query('COMMIT');
        return changed;
      } finally {
        // Closes the connection, which also ends a transaction that has failed.
        client.release(true);
      }
    };
    // PostgreSQL computes the other columns, and refuses values for them.
    const [{ columns }] = (
      await superuser.query<{ columns: string }>(
        `SELECT string_agg(quote_ident(attname), ', ') AS columns FROM pg_attribute
          WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
        [table],
      )
    ).rows as [{ columns: string }];
    if ((await runAsSuperuser(`CREATE TABLE original_rows AS SELECT ${columns} FROM ${table}`, statement)) === 0)
      throw new Error(`Nothing was changed: ${statement}`);
    return {
      undo: async () => {
        await runAsSuperuser(
          `DELETE FROM ${table}`,
          `INSERT INTO ${table} (${columns}) OVERRIDING SYSTEM VALUE TABLE original_rows`,
          `DROP TABLE original_rows`,
        );
      },
    };
  }

  private async payOnPages(): Promise<void> {
    await this.merchants.createPaidSession('site 1');
    await this.merchants.createPaidSession('site of merchant 2');
    await this.merchants.createPaidSession('site 1 live');
    const { paymentReference } = await this.merchants.createPaidSession('site 1');
    await this.refund(paymentReference, 1_000);
    await this.refund(paymentReference, 500);
    const invoicePayment = await this.merchants.createPaidInvoice(1_050);
    await this.refund(invoicePayment.paymentReference, 9_000);
  }

  private async payInvoicesAsPartner(): Promise<void> {
    await this.payInvoiceAsPartner({});
    await this.payInvoiceAsPartner({ paymentMethod: { card: { ...newCardData(), cardNumber: '4000000000000002' } } });
    await this.payInvoiceAsPartner({
      tipAmount: 777,
      vouchers: [
        { merchantLiable: true, amount: 2_000 },
        { merchantLiable: false, amount: 345 },
      ],
    });
    await this.payInvoiceAsPartner({
      tipAmount: 333,
      paymentMethod: { external: { type: 'EFT', status: 'success', reference: 'bank-1' } },
    });
  }

  private async payInvoiceAsPartner(overrides: object): Promise<void> {
    const { reference: invoiceReference, amount } = await this.partners.createInvoice();
    const body = { reference: randomUUID(), invoiceReference, amount, customer: { id: randomUUID() } };
    const paymentMethod = { card: newCardData() };
    await this.partners.callAs('A', {
      method: 'POST',
      path: '/v1/payments',
      body: { ...body, paymentMethod, ...overrides },
    });
  }

  /**
   * The bank deducts a disputed amount, returns it and deducts it again. The statement of the simulated bank has no
   * disputes, so their lines are added here.
   */
  private async disputePayment(): Promise<void> {
    const { merchantId } = this.merchants.siteIds.get('site 1')!;
    const { paymentReference } = await this.merchants.createPaidSession('site 1');
    const movedUTCDate = this.api.clock.nowISO();
    const lines: StatementLine[] = [];
    const movements = [
      ['debited', 'dispute', 9_000],
      ['reversed', 'disputeReversal', 8_000],
      ['debitedAgain', 'dispute', 7_000],
    ] as const;
    for (const [kind, lineKind, amount] of movements) {
      const disputeReference = 'dispute-1';
      const deadline = kind === 'debited' ? { respondBy: this.api.clock.later(86_400_000) } : {};
      const report = { paymentReference, disputeReference, kind, amount, ...deadline };
      const idempotencyKey = await reportDispute(this.api, report);
      lines.push({
        ...{ kind: lineKind, idempotencyKey, acquirerReference: disputeReference },
        ...{ paymentReference, amount, currencyISOCode: 'ZAR', movedUTCDate },
      });
    }
    const { acquirer } = this;
    const readStatement = acquirer.readStatement.bind(acquirer);
    acquirer.readStatement = async (day, account, next) => {
      const page = await readStatement(day, account, next);
      const isDisputed =
        day === DAY && account.mode === 'test' && account.accountReference === `merchant-${merchantId}`;
      return page && isDisputed ? { ...page, lines: [...page.lines, ...lines] } : page;
    };
  }

  async refund(svcId: string, amount: number): Promise<void> {
    const { merchantId } = this.merchants.siteIds.get('site 1')!;
    const response = await this.api.call({
      method: 'POST',
      path: `/business/api/v1/merchants/${merchantId}/refunds?svcId=${svcId}`,
      headers: { 'x-api-key': this.merchants.keys.get('merchant 1')!, 'idempotency-key': randomUUID() },
      body: { amount },
    });
    if (response.status !== 201) throw new Error(`The refund failed: ${response.status} ${response.text}`);
  }
}
