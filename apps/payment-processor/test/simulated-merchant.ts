import type { SettlementStatement, TimeZonePeriod } from '@svc/contracts';
import { httpClient } from '@svc/testing';
import { parse } from 'csv-parse/sync';
import { calculateFee } from '../src/ledger/transfer.js';
import { buildPayable } from './builders.js';
import { TestDispute } from './disputes.js';
import { CARDS, encryptCard } from './encrypted-card.js';
import { createRefundClient, type RefundClient } from './merchant-key.js';
import { buildPlainCard, createMerchant, createPartner, openInvoice, type PartnerUnderTest } from './partner.js';
import type { Processor } from './processor.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const FEE_TERMS = { basisPoints: 285, fixedAmount: 199 };

const ITEM_KINDS = [
  ...(['payments', 'vouchers', 'externalPayments', 'refunds', 'fees', 'disputes', 'disputeReversals'] as const),
  // The simulated bank captures with the charge, and the money of its refunds does not come back.
  ...(['reversals', 'refundReturns', 'feeReversals'] as const),
];
type ItemKind = (typeof ITEM_KINDS)[number];

/** The expected settlement of a merchant's day, computed independently of the platform. */
class ExpectedDay {
  readonly items = Object.fromEntries(ITEM_KINDS.map((kind) => [kind, { count: 0, amount: 0 }])) as Record<
    ItemKind,
    { count: number; amount: number }
  >;

  add(kind: ItemKind, amount: number): void {
    this.items[kind].count++;
    this.items[kind].amount += amount;
  }

  addCapture(amount: number): void {
    this.add('payments', amount);
    this.add('fees', calculateFee(amount, FEE_TERMS));
  }

  get net(): number {
    const { payments, vouchers, externalPayments, refunds, fees, disputes, disputeReversals } = this.items;
    const credits = payments.amount + vouchers.amount + externalPayments.amount + disputeReversals.amount;
    return credits - refunds.amount - fees.amount - disputes.amount;
  }

  get totals(): unknown[] {
    const isEmpty = ITEM_KINDS.every((kind) => this.items[kind].count === 0);
    return isEmpty ? [] : [{ currencyISOCode: 'ZAR', ...this.items, net: this.net }];
  }
}

/**
 * A merchant whose payments and refunds of several days are simulated, with the expected settlement statement of each
 * day.
 */
export class SimulatedMerchant {
  readonly days = new Map<string, ExpectedDay>();
  private readonly refundablePayments: { paymentReference: string; refundableAmount: number }[] = [];
  private readonly disputablePayments: { paymentReference: string; amount: number }[] = [];

  private constructor(
    private readonly processor: Processor,
    readonly merchant: { merchantId: number; siteId: number },
    private readonly backOffice: RefundClient,
    private partner: PartnerUnderTest,
  ) {
    this.startDay();
  }

  static async start(
    processor: Processor,
    timeZones: TimeZonePeriod[] = [{ zone: 'Africa/Johannesburg' }],
  ): Promise<SimulatedMerchant> {
    const partner = await createPartner(processor);
    const grants = [{ organisationId: partner.organisationId, vouchers: true, externalPayments: true }];
    const features = { tip: { enabled: true } };
    const merchant = await createMerchant(processor, { grants, features, fees: { test: FEE_TERMS }, timeZones });
    return new SimulatedMerchant(
      processor,
      merchant,
      await createRefundClient(processor, { merchantId: merchant.merchantId }),
      partner,
    );
  }

  private startDay(): void {
    this.days.set(this.processor.clock.nowISO().slice(0, 10), new ExpectedDay());
  }

  private get today(): ExpectedDay {
    return [...this.days.values()].at(-1)!;
  }

  private buildPayable(amount: number) {
    return buildPayable({ ...this.merchant, amount, expiresAt: this.processor.clock.later(60_000).toISOString() });
  }

  private async payThroughPartner(amount: number, overrides: Record<string, unknown>) {
    const expiresAt = this.processor.clock.later(60_000).toISOString();
    const { status, body } = await this.partner.pay(
      await openInvoice(this.processor, { ...this.merchant, amount, expiresAt }),
      overrides,
    );
    expect(status).toBe(201);
    return body as { paymentReference: string; status: string; processedAmount: number };
  }

  private recordCapture(paymentReference: string, amount: number): void {
    this.today.addCapture(amount);
    this.refundablePayments.push({ paymentReference, refundableAmount: amount });
    this.disputablePayments.push({ paymentReference, amount });
  }

  async payOnPage(amount: number): Promise<void> {
    const { state, paymentReference } = await this.chargeOnPage(amount);
    expect(state).toBe('success');
    this.recordCapture(paymentReference, amount);
  }

  private async chargeOnPage(amount: number) {
    const payable = this.buildPayable(amount);
    const binding = { sessionId: payable.payableId, paymentNumber: 1, expiresAt: payable.expiresAt };
    return this.processor.pay(payable, {
      command: { encryptedCard: await encryptCard(this.processor.cardKey, binding) },
    });
  }

  async payWithTip(amount: number, tipAmount: number): Promise<void> {
    const { paymentReference } = await this.payThroughPartner(amount, { tipAmount });
    this.recordCapture(paymentReference, amount + tipAmount);
  }

  async payWithDeclinedCard(amount: number): Promise<void> {
    const card = buildPlainCard({ cardNumber: CARDS.declined });
    expect((await this.payThroughPartner(amount, { paymentMethod: { card } })).status).toBe('failed');
  }

  /** Pays with one voucher of the merchant, one voucher of the service, and a card for the remaining amount. */
  async payWithVouchers(amount: number): Promise<void> {
    const voucherAmount = Math.floor(amount / 3);
    const vouchers = [true, false].map((merchantLiable) => ({ merchantLiable, amount: voucherAmount }));
    const { paymentReference } = await this.payThroughPartner(amount, { vouchers });
    this.today.add('vouchers', voucherAmount);
    this.recordCapture(paymentReference, amount - 2 * voucherAmount);
  }

  async payExternally(amount: number): Promise<void> {
    const external = { type: 'EFT', status: 'success', reference: 'bank-1' };
    await this.payThroughPartner(amount, { paymentMethod: { external } });
    this.today.add('externalPayments', amount);
  }

  /** Refunds the payment with the largest refundable amount. */
  async refund(amount: number): Promise<void> {
    const payment = this.refundablePayments.toSorted((a, b) => b.refundableAmount - a.refundableAmount)[0];
    if (!payment) return;
    const { status } = await this.backOffice.refund(payment.paymentReference, { amount });
    expect(status).toBe(amount <= payment.refundableAmount ? 201 : 422);
    if (status !== 201) return;
    payment.refundableAmount -= amount;
    this.today.add('refunds', amount);
  }

  /** The payer disputes a part of the newest payment that is not disputed. The acquirer returns a part of that part. */
  async dispute(part: number): Promise<void> {
    const payment = this.disputablePayments.pop();
    if (!payment) return;
    const amount = Math.min(part, payment.amount);
    const dispute = new TestDispute(this.processor, { ...payment, mode: 'test' });
    await dispute.report('reversed', { amount: Math.ceil(amount / 2) });
    await dispute.report('debited', { amount });
    this.today.add('disputes', amount);
    this.today.add('disputeReversals', Math.ceil(amount / 2));
  }

  /**
   * Simulates a bank that charges after the payment has failed. The money is returned, and never belongs to the
   * merchant.
   */
  async payWithLateApproval(amount: number): Promise<void> {
    const acquirer = this.processor.acquirer;
    const originalMethods = {
      charge: acquirer.charge.bind(acquirer),
      getChargeStatus: acquirer.getChargeStatus.bind(acquirer),
      reverse: acquirer.reverse.bind(acquirer),
    };
    acquirer.getChargeStatus = () => Promise.resolve({ kind: 'notFound' });
    acquirer.reverse = () => Promise.resolve({ kind: 'neverCharged' });
    acquirer.charge = async (request, signal) => {
      this.processor.clock.advance(10_000);
      await this.processor.recoverAttempts();
      return originalMethods.charge(request, signal);
    };
    try {
      expect(await this.chargeOnPage(amount)).toMatchObject({ state: 'failed' });
    } finally {
      Object.assign(acquirer, originalMethods);
    }
    expect(await this.processor.runCleanup()).toBe(1);
  }

  async startNextDay(): Promise<void> {
    this.processor.clock.advance(DAY_MS);
    this.partner = await createPartner(this.processor, 'test', this.partner.organisationId);
    this.startDay();
  }

  private statementUrl(days: string): string {
    const separator = days.startsWith('?') ? '' : '/';
    return `/business/api/v1/merchants/${this.merchant.merchantId}/settlements${separator}${days}`;
  }

  /** @param days a day, or a query with the first and the last day */
  async readStatement(days: string): Promise<SettlementStatement> {
    const url = this.statementUrl(days);
    const { body } = await httpClient(this.processor.service, { 'x-api-key': this.backOffice.apiKey })('GET', url);
    return body as SettlementStatement;
  }

  /** The lines of the CSV. */
  async readMovements(days: string): Promise<Record<string, string>[]> {
    const url = this.statementUrl(days);
    const headers = { 'x-api-key': this.backOffice.apiKey, accept: 'text/csv' };
    const { body } = await this.processor.service.app.inject({ method: 'GET', url, headers });
    return parse(body, { columns: true });
  }

  async readSumOfMovements(days: string): Promise<number> {
    const movements = await this.readMovements(days);
    return movements.reduce((sum, { amountCents }) => sum + Number(amountCents), 0);
  }

  /** The merchant's balance in the ledger, in cents. */
  async readBalance(): Promise<number> {
    const [row] = await this.processor.dataSource.query<[{ balance: number }]>(
      `SELECT coalesce(sum(CASE WHEN credit_account = $1 THEN amount ELSE -amount END), 0)::bigint AS balance
         FROM transfers WHERE $1 IN (credit_account, debit_account)`,
      [`test:merchant:${this.merchant.merchantId}:payable`],
    );
    return row.balance;
  }
}
