/** Rows that administrators change, and that no call of an API creates. */
import { randomUUID } from 'node:crypto';
import { CredentialsHeartbeatV1, MerchantChangedV1, PaymentHistoryAdministeredV1 } from '@svc/contracts';
import { Restores } from '@svc/messaging';
import { anEvent } from '@svc/testing';
import type { MainApi } from '../main-api.js';

/** A restore of payment-processor's database, as the script and the next start record it. Closes the one before. */
export async function beginRestore(api: MainApi, isRepaired: boolean): Promise<Readonly<Record<string, string>>> {
  const { superuser, service } = api.service('payment-processor');
  await superuser.query(`UPDATE restores SET closed_at = $1 WHERE closed_at IS NULL`, [api.clock.now()]);
  const { rows } = await superuser.query<{ id: string }>(
    `INSERT INTO restores (restored_to, marked_at, replays_requested_at, replayed_at) VALUES ($1, $1, $1, $1)
     RETURNING restore_id AS id`,
    [api.clock.now()],
  );
  await superuser.query(
    `INSERT INTO restore_repairs (restore_id, prepared_at, repaired_at, unresolved) VALUES ($1, $2, $3, $4)`,
    [rows[0]!.id, api.clock.now(), isRepaired ? api.clock.now() : null, isRepaired ? 0 : null],
  );
  // This process has seen before that no restore is open.
  Object.assign(service.app.get(Restores), { isOpen: true });
  return {};
}

/** Inserts a dead letter that the service handles without an error. */
export async function insertDeadLetter(api: MainApi, service: string): Promise<string> {
  const entry = { action: 'a', actor: 'admin:x', requestId: randomUUID(), after: {} };
  const timeZones = [{ zone: 'UTC' }];
  const merchant = { merchantId: 1, name: 'M', features: {}, minimumAmount: 1, grants: [], fees: {}, timeZones };
  const event =
    service === 'identity'
      ? anEvent(PaymentHistoryAdministeredV1, 'aggregate', 1, entry)
      : service === 'console'
        ? anEvent(MerchantChangedV1, 'aggregate', 1, merchant)
        : anEvent(CredentialsHeartbeatV1, 'aggregate', 1, {});
  await api
    .service(service)
    .superuser.query(
      `INSERT INTO dead_letters (message_id, type, envelope, error, deliveries, failed_at) VALUES ($1, $2, $3, 'error', 5, $4)`,
      [event.id, event.type, JSON.stringify(event), api.clock.now()],
    );
  return event.id;
}
