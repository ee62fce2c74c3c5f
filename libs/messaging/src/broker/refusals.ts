import type { MessagingLog } from '../log.js';
import { isPowerOfTwo } from '../numbers.js';

/**
 * The messages that the broker's permissions do not allow, as `publish <type>`, `send <command>` or `consume <type>`:
 * for the log, the metric and the readiness of the service.
 */
export class Refusals {
  private readonly failures = new Map<string, number>();

  constructor(private readonly log: MessagingLog) {}

  /** Whether each message that was ever refused is still refused. */
  get states(): ReadonlyMap<string, boolean> {
    return new Map([...this.failures].map(([message, failures]) => [message, failures > 0]));
  }

  isRefused(message: string): boolean {
    return (this.failures.get(message) ?? 0) > 0;
  }

  /** Records the result of an attempt. Logs an error for the first refusal, and less and less often after that. */
  report(message: string, isAllowed: boolean): void {
    const failures = this.failures.get(message) ?? 0;
    if (!isAllowed) {
      this.failures.set(message, failures + 1);
      if (isPowerOfTwo(failures + 1))
        this.log.error(
          { refused: message, failures: failures + 1 },
          'broker: refused, the permissions of the user do not allow it',
        );
    } else if (failures > 0) {
      this.failures.set(message, 0);
      this.log.info({ refused: message, failures }, 'broker: no longer refused');
    }
  }
}
