import { waitUntil } from '@svc/testing';
import type { Platform } from '../platform/platform.js';

/** After a settlement report of all payments so far: no movement is unsettled, and there is no difference. */
export async function waitUntilSettled(platform: Platform): Promise<void> {
  await waitUntil('a reconciliation with the settlement report', 30_000, async () => {
    const { code, output } = await platform.svc('admin', 'reconcile', '--json');
    return code === 0 && !/"unsettled": *[1-9]/.test(output) && output.includes('"unsettled"')
      ? true
      : Promise.reject(new Error(output));
  });
}
