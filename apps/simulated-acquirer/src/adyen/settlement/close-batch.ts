import type { EmulatorContext } from '../emulator-context.js';
import type { BatchRecord, EmulatorRecord, MovementRecord } from '../state/records.js';
import { reportFileName, reportPath } from './settlement-report.js';

/** Closes the merchant account's batch, settles its movements, and reports the settlement details report by webhook. */
export function closeBatch(
  context: EmulatorContext,
  merchantAccount: string,
): { batch: BatchRecord; fileName: string; url: string; records: readonly EmulatorRecord[] } {
  const { store, clock, notifications, publicUrl } = context;
  const numbers = [...store.batches.values()]
    .filter((batch) => batch.merchantAccount === merchantAccount)
    .map(({ number }) => number);
  const batch: BatchRecord = {
    kind: 'batch',
    merchantAccount,
    number: Math.max(0, ...numbers) + 1,
    at: clock.nowText(),
  };
  const settled = [...store.movements.values()]
    .filter((movement) => movement.merchantAccount === merchantAccount && movement.batch === undefined)
    .map((movement): MovementRecord => ({ ...movement, batch: batch.number }));
  const fileName = reportFileName(batch);
  const url = publicUrl() + reportPath(batch, fileName);
  return {
    batch,
    fileName,
    url,
    records: [batch, ...settled, ...notifications.reportAvailable(batch, fileName, url)],
  };
}

/** The movements of a batch, oldest first. */
export function movementsOf({ store }: EmulatorContext, { merchantAccount, number }: BatchRecord): MovementRecord[] {
  return [...store.movements.values()]
    .filter((movement) => movement.merchantAccount === merchantAccount && movement.batch === number)
    .sort((a, b) => a.id - b.id);
}
