import { setTimeout as pause } from 'node:timers/promises';

/** Events arrive within some hundred milliseconds. Afterwards the page may show the state before the change. */
const MAX_READS = 30;
const READ_INTERVAL_MS = 100;

/** Waits until the read model contains a change that this person has made. @returns whether it does, within 3 s */
export async function awaitReadModel(isChanged: () => Promise<boolean>): Promise<boolean> {
  for (let reads = 1; reads < MAX_READS; reads++) {
    if (await isChanged()) return true;
    await pause(READ_INTERVAL_MS);
  }
  return isChanged();
}
