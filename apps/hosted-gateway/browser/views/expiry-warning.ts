/** The warning in the last minutes of a session: announces the expiry, and offers one extension. */
import { fill } from '../../src/languages/fill.js';
import { formatTime } from '../../src/languages/format-amount.js';
import { messages } from '../messages.js';
import { requestMoreTime } from '../payment-flow/gateway-calls.js';
import { MAX_TIMER_MS } from '../payment-flow/idle-watch.js';
import { byId } from './document-parts.js';
import { callsAddress, now, pageData } from './page-document.js';

const WARN_BEFORE_MS = 5 * 60_000;

export class ExpiryWarning {
  private readonly warning = byId('expiring');
  private readonly text = byId('expiring-text');
  private readonly moreTime = document.getElementById('more-time') as HTMLButtonElement | null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** @param onExtended called after the session was extended */
  constructor(private readonly onExtended: () => void) {
    this.moreTime?.addEventListener('click', () => void this.requestExtension());
    this.scheduleWarning();
  }

  /**
   * Applies a new expiry from the server, because another tab or device may have extended the session. Ignores a state
   * without an expiry, which is no valid date.
   */
  updateExpiry(expiresAt = ''): void {
    if (!(Date.parse(expiresAt) > Date.parse(pageData['expiresAt'] ?? ''))) return;
    pageData['expiresAt'] = expiresAt;
    this.moreTime?.remove();
    this.warning.hidden = true;
    this.scheduleWarning();
    this.onExtended();
  }

  private scheduleWarning(): void {
    clearTimeout(this.timer);
    const untilWarning = Date.parse(pageData['expiresAt'] ?? '') - WARN_BEFORE_MS - now().getTime();
    if (untilWarning < MAX_TIMER_MS) this.timer = setTimeout(() => this.showWarning(), Math.max(0, untilWarning));
  }

  private showWarning(): void {
    this.warning.hidden = false;
    const { expiresAt = '', timeZone = 'UTC' } = pageData;
    this.text.textContent = fill(messages.expiring, { time: formatTime(expiresAt, messages.format, timeZone) });
  }

  private async requestExtension(): Promise<void> {
    const { moreTime } = this;
    if (!moreTime) return;
    moreTime.disabled = true;
    this.updateExpiry((await requestMoreTime(callsAddress))?.expiresAt);
    // If the request failed or the session was not extended, the payer can try again.
    moreTime.disabled = false;
    if (moreTime.isConnected) return;
    // The pressed button has disappeared: the payer reads, or hears, until when the page is open now.
    this.showWarning();
    this.text.focus();
  }
}
