import { Inject, Injectable } from '@nestjs/common';
import {
  type AmountTerms,
  type AttackLevel,
  isPartnerPayment,
  type MerchantFeatures,
  type MerchantGrant,
  type Mode,
  type PartnerPayment,
  type PayableDescriptor,
  type PayableState,
  type PaymentCustomer,
  PaymentFailedV1,
  PaymentProcessingV1,
  type PaymentSnapshot,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
} from '@svc/contracts';
import { Clock, newUuid } from '@svc/kernel';
import { EventLog, type StatementWithEvents, statementWithEvents } from '@svc/messaging';
import { inTransaction, type NamedParameters, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import type { ChargeRoute } from '../acquirers/acquirers.js';
import { paymentTransfers } from '../ledger/transfer.js';
import { insertTransfersSql, transferRows } from '../ledger/transfer.repository.js';
import { insertAttempts, insertPayments, joinMerchant } from '../payments/accept-payment.query.js';
import { newAttempt, type OpenAttempt, rowFromAttempt } from '../payments/attempt.repository.js';
import { type BrowserDataRequired, settledPayment, type Settlement } from '../payments/payment.js';
import {
  feeTermsFromRow,
  PAYMENT_COLUMNS,
  PAYMENT_TABLES,
  type PaymentRow,
  rowFromPayment,
  snapshotFromRow,
} from '../payments/payment-columns.js';
import { attackLevelOf, COUNTED_FIRST, countInFlight, isCounted } from '../velocity/counters/count-in-flight.query.js';
import type { PaymentChecks } from '../velocity/velocity-checks.js';

/** Owner of a payment. A query finds only payments of its owner. */
export interface PaymentOwner {
  /** UUID. */
  readonly organisationId: string;
  readonly mode: Mode;
}

/** A partner's payment in its committed state. */
export interface CurrentPayment {
  readonly fingerprint: string;
  readonly payment: PartnerPayment;
  /** `aggregateVersion` of the event with this state. */
  readonly version: number;
}

/** A payable with its merchant's terms. */
export interface PayableToPay {
  readonly payable: PayableDescriptor;
  readonly state: PayableState;
  readonly version: number;
  readonly paymentCount: number;
  /** Undefined until identity's event has arrived. */
  readonly merchant: KnownMerchant | undefined;
  readonly siteReference: string | undefined;
  /**
   * Registered name of the customer, if the caller's token is a customer's token. Undefined until identity's event has
   * arrived.
   */
  readonly customer: CustomerName | undefined;
}

type CustomerName = Pick<PaymentCustomer, 'firstName' | 'lastName'>;

/** The payer: an organisation, and its customer if the caller's token is a customer's token. */
export interface PayerScope extends PaymentOwner {
  readonly customerReference: string | undefined;
}

export interface KnownMerchant extends AmountTerms {
  readonly name: string;
  readonly features: MerchantFeatures;
  readonly grants: readonly MerchantGrant[];
}

/** A payment to accept, with its idempotency key. */
export interface NewPartnerPayment {
  readonly owner: PaymentOwner;
  readonly fingerprint: string;
  /** The result of {@link acceptedPayment}, with the version of the payable that was read. */
  readonly payment: PaymentSnapshot;
  readonly maxPayments: number;
}

/** The charge of a payment whose payer must first open our page. */
export interface ChargeAfterBrowserData extends BrowserDataRequired {
  readonly route: ChargeRoute;
  /** Token of the stored card, or of the card that is stored for this payment. */
  readonly cardToken: string;
  /** Page of the partner on which the payer continues; undefined: a page of this service. */
  readonly payerReturnUrl: string | undefined;
}

/**
 * Payments made through the main API. One statement accepts a payment: it either reserves the payable and writes
 * payment, idempotency key, attempt and event, or changes nothing.
 */
@Injectable()
export class PartnerPaymentRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** The organisation's payment with this reference, in its current state. */
  async findByReference(owner: PaymentOwner, reference: string): Promise<CurrentPayment | undefined> {
    const [row] = await this.dataSource.query<(PaymentRow & { fingerprint: string })[]>(
      `SELECT r.fingerprint, ${PAYMENT_COLUMNS} FROM ${PAYMENT_TABLES} JOIN partner_references r ON r.payment_id = p.payment_id
        WHERE r.organisation_id = $1 AND r.mode = $2 AND r.reference = $3`,
      [owner.organisationId, owner.mode, reference],
    );
    if (!row) return undefined;
    const payment = snapshotFromRow(row);
    if (!isPartnerPayment(payment)) throw new Error('The payment with this reference is not a partner’s payment.');
    return { fingerprint: row.fingerprint, payment, version: row.version };
  }

  /**
   * Finds the payable of a partner's payment by the payment reference, because the URL to which the bank redirects the
   * payer contains only this reference.
   */
  async findPayableOfPayment(paymentReference: string): Promise<{ payableId: string } | undefined> {
    const [row] = await this.dataSource.query<{ payableId: string }[]>(
      `SELECT payable_id AS "payableId" FROM payments WHERE payment_reference = $1 AND partner IS NOT NULL`,
      [paymentReference],
    );
    return row;
  }

  findPayable(payer: PayerScope, payableId: string): Promise<PayableToPay | undefined> {
    return this.findOne(`y.payable_id = $2`, payer, payableId);
  }

  /** Finds a payable by the 20 digits of its code (D5). */
  findPayableByCode(payer: PayerScope, code: string): Promise<PayableToPay | undefined> {
    return this.findOne(`y.source ->> 'code' = $2`, payer, code);
  }

  /**
   * Accepts a payment with a card charge. Undefined when the payable has changed since it was read, so that the caller
   * must read it again.
   */
  async acceptForAcquirer(
    newPayment: NewPartnerPayment,
    route: ChargeRoute,
    checks: PaymentChecks | undefined,
  ): Promise<OpenAttempt | undefined> {
    const { payment, maxPayments } = newPayment;
    const paymentId = checks?.paymentId ?? newUuid(this.clock);
    const attempt = newAttempt(route, new Date(payment.paymentUTCDate), this.clock, checks);
    const parameters = {
      attempt: JSON.stringify(rowFromAttempt(paymentId, attempt)),
      checks: checks ? JSON.stringify(checks.checks) : null,
      siteId: payment.siteId,
    };
    const row = await this.accept<AttemptRow>(this.dataSource, ACCEPT_WITH_ATTEMPT, paymentId, newPayment, parameters);
    if (!row) return undefined;
    const terms = { maxPayments, feeTerms: feeTermsFromRow(row), forcesVerification: row.attackLevel > 0 };
    return { ...attempt, paymentId, paymentVersion: 1, ...terms, payment };
  }

  /**
   * Accepts a payment without a card charge, and writes its outcome and transfers in the same transaction. Undefined
   * when the payable has changed since it was read.
   */
  async acceptAsSettled(newPayment: NewPartnerPayment, settlement: Settlement): Promise<PaymentSnapshot | undefined> {
    return inTransaction(this.dataSource, async (tx) => {
      const paymentId = newUuid(this.clock);
      const row = await this.accept(tx, ACCEPT, paymentId, newPayment);
      return row && this.settle(tx, paymentId, newPayment, settlement);
    });
  }

  /**
   * Accepts a payment whose payer must first open our page. Nothing is charged yet, so the payment has no attempt, and the
   * payable is open again. False when the payable has changed since it was read.
   */
  async acceptForBrowserData(newPayment: NewPartnerPayment, charge: ChargeAfterBrowserData): Promise<boolean> {
    return inTransaction(this.dataSource, async (tx) => {
      const paymentId = newUuid(this.clock);
      const row = await this.accept(tx, ACCEPT, paymentId, newPayment);
      if (row) await this.requireBrowserData(tx, paymentId, newPayment, charge);
      return row !== undefined;
    });
  }

  private async requireBrowserData(
    tx: Transaction,
    paymentId: string,
    { payment, maxPayments }: NewPartnerPayment,
    charge: ChargeAfterBrowserData,
  ): Promise<void> {
    const now = this.clock.now();
    const required = settledPayment(payment, charge, maxPayments, now);
    const event = this.events.newEnvelope({
      type: PaymentVerificationRequiredV1,
      aggregateId: paymentId,
      aggregateVersion: 2,
      payload: required,
    });
    const parameters = {
      paymentId,
      now,
      payableVersion: required.payable.version,
      acquirer: charge.route.acquirer,
      account: charge.route.account.accountReference,
      cardToken: charge.cardToken,
      payerReturnUrl: charge.payerReturnUrl ?? null,
      url: charge.challenge.url,
      expiresAt: required.verificationUntilUTCDate,
    };
    await this.events.write(tx, REQUIRE_BROWSER_DATA, parameters, [event]);
  }

  private async findOne(condition: string, payer: PayerScope, value: string): Promise<PayableToPay | undefined> {
    const [row] = await this.dataSource.query<PayableRow[]>(
      `SELECT y.payable_id AS "payableId", y.mode, y.merchant_id AS "merchantId", y.site_id AS "siteId", y.amount,
              y.currency AS "currencyISOCode", y.expires_at AS "expiresAt", y.max_payments AS "maxPayments", y.source,
              y.state, y.version, y.payment_count AS "paymentCount", s.site_reference AS "siteReference", m.name, m.features,
              m.minimum_amount AS "minimumAmount", m.maximum_amount AS "maximumAmount", m.grants,
              c.first_name AS "firstName", c.last_name AS "lastName"
         FROM payables y LEFT JOIN known_merchants m ON m.merchant_id = y.merchant_id
         LEFT JOIN known_sites s ON s.site_id = y.site_id
         LEFT JOIN known_customers c ON c.organisation_id = $3 AND c.mode = $1 AND c.customer_reference = $4
        WHERE y.mode = $1 AND ${condition}`,
      [payer.mode, value, payer.organisationId, payer.customerReference ?? null],
    );
    if (!row) return undefined;
    const {
      state,
      version,
      paymentCount,
      siteReference,
      name,
      features,
      minimumAmount,
      maximumAmount,
      grants,
      ...rest
    } = row;
    const { firstName, lastName, ...payable } = rest;
    return {
      payable: { ...payable, expiresAt: row.expiresAt.toISOString() },
      ...{ state, version, paymentCount },
      merchant: name === null ? undefined : { name, features, minimumAmount, maximumAmount, grants },
      siteReference: payable.source.kind === 'session' ? (siteReference ?? undefined) : payable.source.siteReference,
      customer: firstName === null || lastName === null ? undefined : { firstName, lastName },
    };
  }

  private async accept<Row extends AcceptedRow = AcceptedRow>(
    connection: DataSource | Transaction,
    statement: StatementWithEvents,
    paymentId: string,
    { owner, fingerprint, payment }: NewPartnerPayment,
    attempt: NamedParameters = {},
  ): Promise<Row | undefined> {
    const event = this.events.newEnvelope({
      type: PaymentProcessingV1,
      aggregateId: paymentId,
      aggregateVersion: 1,
      payload: payment,
    });
    const parameters = {
      payableId: payment.payable.payableId,
      version: payment.payable.version,
      paymentId,
      // The row and the event get the same time, so that both have the same `paymentUTCDate`.
      acceptedAt: new Date(payment.paymentUTCDate),
      payment: JSON.stringify(rowFromPayment(paymentId, payment)),
      organisationId: owner.organisationId,
      mode: owner.mode,
      reference: payment.reference,
      fingerprint,
      ...attempt,
    };
    const [row] = await this.events.write<Row>(connection, statement, parameters, [event]);
    return row;
  }

  private async settle(
    tx: Transaction,
    paymentId: string,
    { payment, maxPayments }: NewPartnerPayment,
    settlement: Settlement,
  ): Promise<PaymentSnapshot> {
    const now = this.clock.now();
    const settled = settledPayment(payment, settlement, maxPayments, now);
    const event = this.events.newEnvelope({
      type: settled.state === 'success' ? PaymentSucceededV1 : PaymentFailedV1,
      aggregateId: paymentId,
      aggregateVersion: 2,
      payload: settled,
    });
    const parameters = {
      paymentId,
      state: settled.state,
      processedAmount: settled.processedAmount,
      errors: JSON.stringify(settled.errors),
      now,
      payableState: settled.payable.state,
      payableVersion: settled.payable.version,
      transfers: JSON.stringify(
        transferRows(paymentTransfers(settled), settled, { paymentId, createdAt: now }, this.clock),
      ),
    };
    await this.events.write(tx, SETTLE, parameters, [event]);
    return settled;
  }
}

/** The payable has not changed since it was read. */
const IS_AVAILABLE = `payable_id = $payableId AND state = 'open' AND version = $version - 1 AND expires_at > $acceptedAt
            AND payment_count < max_payments`;

/** @param condition further SQL condition for the payable */
const reserveAndPay = (condition = 'true'): string => `payable AS (
         UPDATE payables SET state = 'reserved', holder = $paymentId, payment_count = payment_count + 1, version = version + 1,
                modified_at = $acceptedAt
          WHERE ${IS_AVAILABLE} AND ${condition}
         RETURNING holder AS payment_id, mode, merchant_id
       ), accepted AS (
         SELECT payable.payment_id, merchant."feeBasisPoints", merchant."feeFixedAmount", to_jsonb(merchant) || $payment::jsonb AS payment
           FROM payable ${joinMerchant('payable.mode', 'payable.merchant_id')}
       ), payment AS (
         ${insertPayments('accepted', 'accepted.payment')}
       ), key AS (
         INSERT INTO partner_references (organisation_id, mode, reference, fingerprint, payment_id)
         SELECT $organisationId, $mode, $reference, $fingerprint, payment_id FROM payable
       )`;
const ACCEPTED = { changed: 'accepted', aggregateId: 'payment_id', returns: '"feeBasisPoints", "feeFixedAmount"' };
const ACCEPT = statementWithEvents({ writes: reserveAndPay(), ...ACCEPTED });
/** The limits against card testing are checked first (P11). */
const ACCEPT_WITH_ATTEMPT = statementWithEvents({
  writes: `item AS (
         SELECT $paymentId::uuid AS "paymentId", $checks::jsonb AS checks,
                EXISTS (SELECT FROM payables WHERE ${IS_AVAILABLE}) AS "isAvailable",
                ${attackLevelOf('$mode', '$siteId::bigint', '$acceptedAt')} AS "attackLevel"
       ), ${countInFlight('item')}, ${reserveAndPay(`(SELECT ${isCounted('item')} FROM item CROSS JOIN ${COUNTED_FIRST})`)}, attempt AS (
         ${insertAttempts('accepted', '$attempt::jsonb')}
       )`,
  ...ACCEPTED,
  returns: `${ACCEPTED.returns}, (SELECT CASE WHEN checks IS NULL THEN 0 ELSE "attackLevel" END FROM item) AS "attackLevel"`,
});

const SETTLE = statementWithEvents({
  writes: `target AS (
         UPDATE payments SET state = $state, processed_amount = $processedAmount, errors = $errors, modified_at = $now,
                             version = version + 1
          WHERE payment_id = $paymentId RETURNING payment_id, payable_id
       ), payable AS (
         UPDATE payables y SET state = $payableState, holder = CASE WHEN $payableState = 'paid' THEN y.holder END,
                               version = $payableVersion, modified_at = $now
           FROM target WHERE y.payable_id = target.payable_id
       ), transfer AS (
         ${insertTransfersSql('$transfers::jsonb', 'target')}
       )`,
  changed: 'target',
  aggregateId: 'payment_id',
});

const REQUIRE_BROWSER_DATA = statementWithEvents({
  writes: `target AS (
         UPDATE payments SET state = 'verificationRequired', modified_at = $now, version = version + 1
          WHERE payment_id = $paymentId RETURNING payment_id, payable_id
       ), payable AS (
         UPDATE payables y SET state = 'open', holder = NULL, version = $payableVersion, modified_at = $now
           FROM target WHERE y.payable_id = target.payable_id
       ), verification AS (
         INSERT INTO verifications (payment_id, acquirer, account, card_token, payer_return_url, challenge_url, expires_at, open)
         SELECT payment_id, $acquirer, $account, $cardToken, $payerReturnUrl, $url, $expiresAt::timestamptz, true FROM target
       )`,
  changed: 'target',
  aggregateId: 'payment_id',
});

type AcceptedRow = Pick<PaymentRow, 'feeBasisPoints' | 'feeFixedAmount'>;
type AttemptRow = AcceptedRow & { readonly attackLevel: AttackLevel };

type PayableRow = Omit<PayableDescriptor, 'expiresAt'> & {
  expiresAt: Date;
  state: PayableState;
  version: number;
  paymentCount: number;
  siteReference: string | null;
} & (CustomerName | { [Column in keyof CustomerName]: null }) &
  (KnownMerchant | { [Column in keyof KnownMerchant]: null });
