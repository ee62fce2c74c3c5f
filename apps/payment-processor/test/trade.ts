import type { SettlementStatement } from '@svc/contracts';
import { httpClient } from '@svc/testing';
import { Acquirer } from '../src/acquirers/acquirer.js';
import { feeOf } from '../src/ledger/transfer.js';
import { aPayable } from './builders.js';
import { CARDS, encryptedCard } from './encrypted-card.js';
import { aRefundClient, type RefundClient } from './merchant-key.js';
import { aCard, aMerchant, aPartner, openInvoice, type PartnerUnderTest } from './partner.js';
import type { Processor } from './processor.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const TERMS = { basisPoints: 285, fixedAmount: 199 };

type Kind = 'payments' | 'vouchers' | 'externalPayments' | 'refunds' | 'fees';
const KINDS: readonly Kind[] = ['payments', 'vouchers', 'externalPayments', 'refunds', 'fees'];

/** The expected settlement of a merchant's day, computed independently of the platform. */
class ExpectedDay {
  readonly items = Object.fromEntries(KINDS.map((kind) => [kind, { count: 0, amount: 0 }])) as Record<
    Kind,
    { count: number; amount: number }
  >;

  add(kind: Kind, amount: number): void {
    this.items[kind].count++;
    this.items[kind].amount += amount;
  }

  captured(amount: number): void {
    this.add('payments', amount);
    this.add('fees', feeOf(amount, TERMS));
  }

  get net(): number {
    const { payments, vouchers, externalPayments, refunds, fees } = this.items;
    return payments.amount + vouchers.amount + externalPayments.amount - refunds.amount - fees.amount;
  }

  get totals(): unknown[] {
    const isEmpty = KINDS.every((kind) => this.items[kind].count === 0);
    return isEmpty ? [] : [{ currencyISOCode: 'ZAR', ...this.items, net: this.net }];
  }
}

/** A merchant that trades for some days, and its expected settlement statements. */
export class Trade {
  readonly days = new Map<string, ExpectedDay>();
  private readonly charged: { paymentReference: string; left: number }[] = [];

  private constructor(
    private readonly processor: Processor,
    private readonly merchant: { merchantId: number; siteId: number },
    private readonly office: RefundClient,
    private partner: PartnerUnderTest,
  ) {
    this.begin();
  }

  static async start(processor: Processor): Promise<Trade> {
    const partner = await aPartner(processor);
    const grants = [{ organisationId: partner.organisationId, vouchers: true, externalPayments: true }];
    const features = { tip: { enabled: true } };
    const merchant = await aMerchant(processor, { grants, features, fees: { test: TERMS } });
    return new Trade(processor, merchant, await aRefundClient(processor, { merchantId: merchant.merchantId }), partner);
  }

  private begin(): void {
    this.days.set(this.processor.clock.nowISO().slice(0, 10), new ExpectedDay());
  }

  private get today(): ExpectedDay {
    return [...this.days.values()].at(-1)!;
  }

  private payable(amount: number) {
    return aPayable({ ...this.merchant, amount, expiresAt: this.processor.clock.later(60_000).toISOString() });
  }

  private async byPartner(amount: number, over: Record<string, unknown>) {
    const expiresAt = this.processor.clock.later(60_000).toISOString();
    const { status, body } = await this.partner.pay(
      await openInvoice(this.processor, { ...this.merchant, amount, expiresAt }),
      over,
    );
    expect(status).toBe(201);
    return body as { paymentReference: string; status: string; processedAmount: number };
  }

  private takes(paymentReference: string, amount: number): void {
    this.today.captured(amount);
    this.charged.push({ paymentReference, left: amount });
  }

  async onPage(amount: number): Promise<void> {
    const { state, paymentReference } = await this.onPageOf(amount);
    expect(state).toBe('success');
    this.takes(paymentReference, amount);
  }

  private async onPageOf(amount: number) {
    const payable = this.payable(amount);
    const binding = { sessionId: payable.payableId, try: 1, expiresAt: payable.expiresAt };
    return this.processor.pay(payable, {
      command: { encryptedCard: await encryptedCard(this.processor.cardKey, binding) },
    });
  }

  async withTip(amount: number, tipAmount: number): Promise<void> {
    const { paymentReference } = await this.byPartner(amount, { tipAmount });
    this.takes(paymentReference, amount + tipAmount);
  }

  async declined(amount: number): Promise<void> {
    const card = aCard({ cardNumber: CARDS.declined });
    expect((await this.byPartner(amount, { paymentMethod: { card } })).status).toBe('failed');
  }

  /** The merchant and the service each pay for a voucher; the card pays the rest. */
  async withVouchers(amount: number): Promise<void> {
    const part = Math.floor(amount / 3);
    const vouchers = [true, false].map((merchantLiable) => ({ merchantLiable, amount: part }));
    const { paymentReference } = await this.byPartner(amount, { vouchers });
    this.today.add('vouchers', part);
    this.takes(paymentReference, amount - 2 * part);
  }

  async madeElsewhere(amount: number): Promise<void> {
    const external = { type: 'EFT', status: 'success', reference: 'bank-1' };
    await this.byPartner(amount, { paymentMethod: { external } });
    this.today.add('externalPayments', amount);
  }

  /** Refunds the payment with the largest refundable amount. */
  async refund(amount: number): Promise<void> {
    const payment = this.charged.toSorted((one, other) => other.left - one.left)[0];
    if (!payment) return;
    const { status } = await this.office.refund(payment.paymentReference, { amount });
    expect(status).toBe(amount <= payment.left ? 201 : 422);
    if (status !== 201) return;
    payment.left -= amount;
    this.today.add('refunds', amount);
  }

  /** The bank charges after the payment has failed: the money is returned, and never belongs to the merchant. */
  async approvedTooLate(amount: number): Promise<void> {
    const acquirer = this.processor.service.app.get(Acquirer);
    const itself = {
      charge: acquirer.charge.bind(acquirer),
      ask: acquirer.getChargeStatus.bind(acquirer),
      reverse: acquirer.reverse.bind(acquirer),
    };
    acquirer.getChargeStatus = () => Promise.resolve({ kind: 'notFound' });
    acquirer.reverse = () => Promise.resolve({ kind: 'neverCharged' });
    acquirer.charge = async (request, signal) => {
      this.processor.clock.advance(10_000);
      await this.processor.recover();
      return itself.charge(request, signal);
    };
    try {
      expect(await this.onPageOf(amount)).toMatchObject({ state: 'failed' });
    } finally {
      Object.assign(acquirer, itself);
    }
    expect(await this.processor.clearUp()).toBe(1);
  }

  async nextDay(): Promise<void> {
    this.processor.clock.advance(DAY_MS);
    this.partner = await aPartner(this.processor, 'test', this.partner.organisationId);
    this.begin();
  }

  async statement(day: string): Promise<SettlementStatement> {
    const url = `/business/api/v1/merchants/${this.merchant.merchantId}/settlements/${day}`;
    const { body } = await httpClient(this.processor.service, { 'x-api-key': this.office.apiKey })('GET', url);
    return body as SettlementStatement;
  }

  async sumOfMovements(day: string): Promise<number> {
    const url = `/business/api/v1/merchants/${this.merchant.merchantId}/settlements/${day}`;
    const headers = { 'x-api-key': this.office.apiKey, accept: 'text/csv' };
    const { body } = await this.processor.service.app.inject({ method: 'GET', url, headers });
    const amounts = body.trimEnd().split('\r\n').slice(1);
    return amounts.reduce((sum, line) => sum + Number(line.split(',').at(-1)), 0);
  }

  /** Cents: the merchant's balance in the ledger. */
  async balance(): Promise<number> {
    const [row] = await this.processor.dataSource.query<[{ balance: number }]>(
      `SELECT coalesce(sum(CASE WHEN credit_account = $1 THEN amount ELSE -amount END), 0)::bigint AS balance
         FROM transfers WHERE $1 IN (credit_account, debit_account)`,
      [`test:merchant:${this.merchant.merchantId}:payable`],
    );
    return row.balance;
  }
}
