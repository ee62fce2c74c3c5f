import { randomUUID } from 'node:crypto';
import { ModulesContainer } from '@nestjs/core';
import { waitUntil } from '@svc/testing';
import { TwoMerchants } from '../hosted-callers.js';
import { type MainApi, startMainApi } from '../main-api.js';
import { aCard, TwoPartners } from '../two-partners.js';

/** A difference between books, as the administration API reports it. */
export interface NamedDifference {
  readonly book: string;
  readonly merchantId: number;
  readonly mode: string;
  readonly key: string;
  readonly kind: string;
  readonly field: string | null;
}

export interface Report {
  readonly merchants: readonly (Record<string, unknown> & { readonly books: Readonly<Record<string, unknown>> })[];
  readonly named: readonly NamedDifference[];
  readonly differences: number;
  readonly open: number;
}

/** A line of the acquirer's statement, as payment-processor reads it. */
export interface StatementLine {
  readonly idempotencyKey: string;
  readonly acquirerReference: string;
  readonly amount: number;
}

/** The methods of payment-processor's acquirer that tests replace. */
export interface AcquirerUnderTest {
  charge: (...given: unknown[]) => Promise<unknown>;
  readStatement: (
    day: string,
    account: { readonly mode: string; readonly accountReference: string },
    next?: string,
  ) => Promise<{ readonly lines: readonly StatementLine[] } | undefined>;
}

export const DAY = '2026-03-01';

/**
 * All services after a day of mixed payments: on session pages, of a till's invoice and by partners, in both modes, with vouchers,
 * external payments, declines and refunds.
 */
export class ReconciledDay {
  private constructor(
    readonly api: MainApi,
    readonly merchants: TwoMerchants,
    readonly partners: TwoPartners,
  ) {}

  static async trade(): Promise<ReconciledDay> {
    const api = await startMainApi({ hostedGateway: true });
    const partners = await TwoPartners.onboard(api);
    const merchants = await TwoMerchants.onboard(api);
    const books = new ReconciledDay(api, merchants, partners);
    const { merchantId, siteId } = merchants.numbers.get('site 1')!;
    const webhook = { webhookUrl: 'https://shop.example/site-hook', webhookEnabled: true };
    await api.administer('PATCH', `/merchants/${merchantId}/sites/${siteId}`, webhook);
    await api.administer('PATCH', `/merchants/${merchantId}`, {
      fees: { test: { basisPoints: 290, fixedAmount: 100 } },
      features: { tip: { enabled: true } },
    });
    await books.settle();
    await books.payOnPages();
    await books.payAsPartner();
    await books.settle();
    return books;
  }

  /** Delivers all events to all services, then moves the clock past the period that a comparison leaves out. */
  async settle(): Promise<void> {
    for (let times = 0; times < 3; times++) await this.api.tellEverybody();
    this.api.clock.advance(120_000);
  }

  async reconcile(request: { day?: string; merchantId?: number } = { day: DAY }): Promise<Report> {
    const { runId } = await this.api.administer('POST', '/reconciliations', request);
    const done = await waitUntil('the reconciliation', 60_000, async () => {
      const run = await this.api.administer('GET', `/reconciliations/${runId}`);
      return run['state'] === 'done' || run['state'] === 'failed' ? run : undefined;
    });
    if (done['state'] === 'failed') throw new Error(done['failure']);
    return done['result'] as unknown as Report;
  }

  get acquirer(): AcquirerUnderTest {
    const modules = [...this.api.service('payment-processor').service.app.get(ModulesContainer).values()];
    const provider = modules
      .flatMap(({ providers }) => [...providers.values()])
      .find(({ name }) => name === 'Acquirer');
    return provider!.instance as AcquirerUnderTest;
  }

  /** Changes a table as a superuser, without its triggers and foreign keys. `undo` restores the table. */
  async tamper(service: string, table: string, statement: string): Promise<{ undo: () => Promise<void> }> {
    const { superuser } = this.api.service(service);
    const byHand = async (...statements: string[]): Promise<number | null> => {
      const client = await superuser.connect();
      try {
        await client.query('BEGIN; SET LOCAL session_replication_role = replica');
        let changed: number | null = null;
        for (const each of statements) changed = (await client.query(each)).rowCount;
        await client.query('COMMIT');
        return changed;
      } finally {
        // Ends a transaction that failed with it.
        client.release(true);
      }
    };
    if ((await byHand(`CREATE TABLE kept AS TABLE ${table}`, statement)) === 0)
      throw new Error(`Nothing was changed: ${statement}`);
    return {
      undo: async () => {
        await byHand(
          `DELETE FROM ${table}`,
          `INSERT INTO ${table} OVERRIDING SYSTEM VALUE TABLE kept`,
          `DROP TABLE kept`,
        );
      },
    };
  }

  private async payOnPages(): Promise<void> {
    await this.merchants.newPaidSession('site 1');
    await this.merchants.newPaidSession('site of merchant 2');
    await this.merchants.newPaidSession('site 1 live');
    const { paymentReference } = await this.merchants.newPaidSession('site 1');
    await this.refund(paymentReference, 1_000);
    await this.refund(paymentReference, 500);
    const atTill = await this.merchants.newPaidInvoice(1_050);
    await this.refund(atTill.paymentReference, 9_000);
  }

  private async payAsPartner(): Promise<void> {
    await this.pay({});
    await this.pay({ paymentMethod: { card: { ...aCard(), cardNumber: '4000000000000002' } } });
    await this.pay({
      vouchers: [
        { merchantLiable: true, amount: 2_000 },
        { merchantLiable: false, amount: 345 },
      ],
    });
    await this.pay({ paymentMethod: { external: { type: 'EFT', status: 'success', reference: 'bank-1' } } });
  }

  private async pay(over: object): Promise<void> {
    const { reference: invoiceReference, amount } = await this.partners.newInvoice();
    const body = { reference: randomUUID(), invoiceReference, amount, customer: { id: randomUUID() } };
    const paymentMethod = { card: aCard() };
    await this.partners.as('A', { method: 'POST', path: '/v1/payments', body: { ...body, paymentMethod, ...over } });
  }

  async refund(svcId: string, amount: number): Promise<void> {
    const { merchantId } = this.merchants.numbers.get('site 1')!;
    const answer = await this.api.call({
      method: 'POST',
      path: `/business/api/v1/merchants/${merchantId}/refunds?svcId=${svcId}`,
      headers: { 'x-api-key': this.merchants.keys.get('merchant 1')!, 'idempotency-key': randomUUID() },
      body: { amount },
    });
    if (answer.status !== 201) throw new Error(`Not refunded: ${answer.status} ${answer.text}`);
  }
}
