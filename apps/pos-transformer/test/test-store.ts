import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '@svc/testing';
import { Store } from '../src/store/store.js';

/**
 * A store with a temporary file, for tests of repositories and of the schema. The insert methods return the id of the
 * new row.
 */
export class TestStore {
  readonly clock = new ManualClock();
  private readonly folder = mkdtempSync(join(tmpdir(), 'svc-pos-'));
  readonly store = new Store(join(this.folder, 'transformer.sqlite'));

  insert(table: string, row: Readonly<Record<string, string | number | null>>): number {
    const names = Object.keys(row);
    const values = names.map((name) => `:${name}`);
    return this.store.transaction(
      (tx) => tx.run(`INSERT INTO ${table} (${names.join()}) VALUES (${values.join()})`, row).id,
    );
  }

  insertBasket(changes: Readonly<Record<string, string | number | null>> = {}): number {
    const token = String(Math.random());
    const row = { token, site_id: 1, till: '', dialect: 'facade', state: 'open', changed_at: this.clock.nowISO() };
    return this.insert('baskets', { ...row, ...changes });
  }

  /** Inserts a total that is created now. An open total has an invoice that is valid for an hour. */
  insertTotal(
    basketId: number,
    state = 'open',
    changes: Readonly<Record<string, string | number | null>> = {},
  ): number {
    const now = this.clock.nowISO();
    const invoice = {
      invoice_reference: String(Math.random()),
      code: 'c',
      expires_at: this.clock.later(3_600_000).toISOString(),
    };
    return this.insert('totals', {
      basket_id: basketId,
      amount: 100,
      content: '{"lines":[]}',
      request: '{}',
      state,
      created_at: now,
      ...(state === 'open' ? invoice : { ended_at: now }),
      ...changes,
    });
  }

  insertCall(changes: Readonly<Record<string, string | number | null>> = {}): number {
    const row = { site_id: 1, kind: 'create-invoice', subject: 'a', state: 'waiting' };
    return this.insert('outgoing_calls', { ...row, ...changes });
  }

  insertRefund(changes: Readonly<Record<string, string | number | null>> = {}): number {
    const [idempotency_key, created_at] = [String(Math.random()), this.clock.nowISO()];
    const row = { site_id: 1, svc_id: 'P', amount: 100, idempotency_key, state: 'pending', created_at };
    return this.insert('refunds', { ...row, ...changes });
  }

  close(): void {
    this.store.close();
    rmSync(this.folder, { recursive: true });
  }
}
