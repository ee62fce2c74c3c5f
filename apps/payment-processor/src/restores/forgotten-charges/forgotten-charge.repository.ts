import { Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { namedStatement, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { chargeToReverse, reversalOf } from '../../ledger/transfer.js';
import { insertTransfersSql, transferRows } from '../../ledger/transfer.repository.js';
import type { ForgottenMovement } from './forgotten-movement.js';

/** A forgotten charge whose reversal the acquirer has not confirmed. */
export interface ForgottenCharge {
  readonly chargeId: string;
  readonly acquirer: string;
  readonly mode: Mode;
  readonly accountReference: string;
  readonly merchantId: number;
  readonly paymentReference: string;
  /** Cents. */
  readonly amount: number;
  readonly currencyISOCode: string;
}

/** Charges that a restore has forgotten, until the acquirer has confirmed their reversal. */
@Injectable()
export class ForgottenChargeRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Commits the decision to reverse the charge, and books the money that the acquirer holds. False if it is known. */
  async insert(
    tx: Transaction,
    { line, route, merchantId }: ForgottenMovement,
    { restoreId, nextRequestAt }: { readonly restoreId: string; readonly nextRequestAt: Date },
  ): Promise<boolean> {
    const now = this.clock.now();
    const { idempotencyKey: chargeId, amount, currencyISOCode } = line;
    const { mode, accountReference } = route.account;
    const transfers = transferRows(
      [chargeToReverse({ mode, amount }, route.acquirer)],
      { currencyISOCode, mode, merchantId },
      { paymentId: null, forgottenChargeId: chargeId, createdAt: now },
      this.clock,
    );
    const values = INSERT.valuesOf({
      ...{ chargeId, restoreId, acquirer: route.acquirer, accountReference, mode, merchantId, amount },
      ...{ currency: currencyISOCode, paymentReference: line.paymentReference, chargedAt: line.movedUTCDate },
      ...{ acquirerReference: line.acquirerReference, now, nextRequestAt, transfers: JSON.stringify(transfers) },
    });
    const rows = await tx.query<unknown[]>(INSERT.text, values);
    return rows.length > 0;
  }

  /** Leases due charges of this acquirer, each to one caller until `leaseUntil`. */
  async leaseDue(acquirer: string, leaseUntil: Date, limit: number): Promise<ForgottenCharge[]> {
    const [rows] = await this.dataSource.query<[ForgottenCharge[], number]>(
      `UPDATE forgotten_charges f SET next_request_at = $2
         FROM (SELECT charge_id FROM forgotten_charges WHERE acquirer = $4 AND next_request_at <= $1
                ORDER BY next_request_at LIMIT $3 FOR UPDATE SKIP LOCKED) due
        WHERE f.charge_id = due.charge_id
        RETURNING f.charge_id AS "chargeId", f.acquirer, f.mode, f.account AS "accountReference", f.merchant_id AS "merchantId",
                  f.payment_reference AS "paymentReference", f.amount, f.currency AS "currencyISOCode"`,
      [this.clock.now(), leaseUntil, limit, acquirer],
    );
    return rows;
  }

  /** Records the confirmed reversal, and books it. False when it was already recorded. */
  async confirm({ chargeId, acquirer, mode, merchantId, amount, currencyISOCode }: ForgottenCharge): Promise<boolean> {
    const now = this.clock.now();
    const transfers = transferRows(
      [reversalOf(chargeToReverse({ mode, amount }, acquirer))],
      { currencyISOCode, mode, merchantId },
      { paymentId: null, forgottenChargeId: chargeId, createdAt: now },
      this.clock,
    );
    const values = CONFIRM.valuesOf({ chargeId, now, transfers: JSON.stringify(transfers) });
    const rows = await this.dataSource.query<unknown[]>(CONFIRM.text, values);
    return rows.length > 0;
  }
}

const INSERT = namedStatement(`WITH inserted AS (
         INSERT INTO forgotten_charges (charge_id, restore_id, acquirer, account, mode, merchant_id, payment_reference, acquirer_reference,
                                        amount, currency, charged_at, found_at, next_request_at)
         SELECT $chargeId::uuid, $restoreId, $acquirer, $accountReference, $mode, $merchantId, $paymentReference, $acquirerReference,
                $amount, $currency, $chargedAt, $now, $nextRequestAt
          WHERE NOT EXISTS (SELECT FROM attempts WHERE attempt_id = $chargeId)
         ON CONFLICT DO NOTHING
         RETURNING charge_id
       ), transfer AS (
         ${insertTransfersSql('$transfers::jsonb', 'inserted')}
       )
       SELECT 1 FROM inserted`);

const CONFIRM = namedStatement(`WITH confirmed AS (
         UPDATE forgotten_charges SET reversed_at = $now, next_request_at = NULL WHERE charge_id = $chargeId AND reversed_at IS NULL
         RETURNING charge_id
       ), transfer AS (
         ${insertTransfersSql('$transfers::jsonb', 'confirmed')}
       )
       SELECT 1 FROM confirmed`);
