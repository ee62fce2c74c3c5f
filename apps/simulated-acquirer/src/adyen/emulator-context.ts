import type { RequestOutcomes } from './control/request-outcomes.js';
import type { EmulatorClock } from './state/emulator-clock.js';
import type { EmulatorStore } from './state/emulator-store.js';
import type { EmulatorRecord } from './state/records.js';
import type { Notifications } from './webhooks/notifications.js';

/** The parts of the emulator that its operations use. */
export interface EmulatorContext {
  readonly store: EmulatorStore;
  readonly clock: EmulatorClock;
  readonly notifications: Notifications;
  /** Results of modifications that the control interface requested. */
  readonly outcomes: RequestOutcomes;
  readonly merchantAccounts: ReadonlySet<string>;
  /** URL of the emulator for browsers, without a slash at the end. */
  readonly publicUrl: () => string;
}

/** The response of an operation, and the records that are written before it is sent. */
export interface OperationResult {
  readonly status: number;
  /** Absent for status 204. */
  readonly body?: object;
  readonly records: readonly EmulatorRecord[];
}
