import type { EmulatorClock } from '../state/emulator-clock.js';
import type { EmulatorStore } from '../state/emulator-store.js';
import type { WebhookRecord } from '../state/records.js';

/** The merchant's endpoint. */
export interface WebhookEndpoint {
  readonly url: string;
  readonly user: string;
  readonly password: string;
}

/** Documentation: "Handle webhook events": a response within 10 seconds. */
const TIMEOUT_MS = 10_000;
/** Documentation: "Troubleshoot webhooks": Adyen retries for 30 days. */
const MAX_AGE_MS = 30 * 24 * 3_600_000;
/** Webhooks that are sent at the same time while the endpoint accepts them. */
const MAX_PARALLEL = 8;
/** Longest time of a timer of Node.js. */
const MAX_TIMER_MS = 2_147_483_647;

/**
 * Sends webhooks until the endpoint accepts them, with any status of 2xx (OpenAPI document of the webhooks). After a
 * failure only the oldest webhook is sent, on the schedule, and the others wait behind it (documentation: "Troubleshoot
 * webhooks", retry queue).
 */
export class WebhookQueue {
  private endpoint: WebhookEndpoint | undefined;
  private isFailing = false;
  private isClosed = false;
  private running: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** @param retryDelaysMs the last delay repeats */
  constructor(
    private readonly store: EmulatorStore,
    private readonly clock: EmulatorClock,
    private readonly retryDelaysMs: readonly number[],
  ) {
    // After a restart the schedule of failed webhooks continues.
    this.isFailing = this.queued().some(({ attempts }) => attempts > 0);
  }

  setEndpoint(endpoint: WebhookEndpoint | undefined): void {
    this.endpoint = endpoint;
    this.wake();
  }

  /** Sends the webhooks that are due, without waiting for them. Call it after each change of the store or the clock. */
  wake(): void {
    if (this.isClosed || this.running || this.endpoint === undefined) return;
    clearTimeout(this.timer);
    const dueInMs = this.dueInMs();
    if (dueInMs === undefined) return;
    if (dueInMs > 0) {
      this.timer = setTimeout(() => this.wake(), Math.min(dueInMs, MAX_TIMER_MS));
      this.timer.unref();
      return;
    }
    void this.run(() => this.sendDue());
  }

  /** Sends all queued webhooks now, in spite of their schedule, until each had an attempt. */
  async flush(): Promise<void> {
    await this.runNext(() => this.sendEach(this.queued()));
  }

  /** Sends these webhooks now, one after the other, whatever their state. */
  async sendInOrder(webhooks: readonly WebhookRecord[]): Promise<void> {
    await this.runNext(() => this.sendEach(webhooks));
  }

  private run(step: () => Promise<void>): Promise<void> {
    this.running = step().finally(() => {
      this.running = undefined;
      this.wake();
    });
    return this.running;
  }

  /** Runs the step when no other step runs. */
  private async runNext(step: () => Promise<void>): Promise<void> {
    while (this.running) await this.running;
    await this.run(step);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** Queued webhooks, oldest first. */
  private queued(): WebhookRecord[] {
    return [...this.store.queuedWebhooks].map((id) => this.store.webhooks.get(id)!);
  }

  /** Webhooks that may be sent next. While the endpoint fails, it is the oldest that was already sent. */
  private candidates(): WebhookRecord[] {
    const queued = this.queued();
    if (!this.isFailing) return queued;
    const failed = queued.find(({ attempts }) => attempts > 0);
    return failed ? [failed] : queued;
  }

  private dueInMs(): number | undefined {
    const now = this.clock.now().getTime();
    const times = this.candidates().map(({ nextAttemptAt }) => Date.parse(nextAttemptAt) - now);
    return times.length === 0 ? undefined : Math.max(0, Math.min(...times));
  }

  private async sendDue(): Promise<void> {
    const now = this.clock.nowText();
    const due = this.candidates().filter(({ nextAttemptAt }) => nextAttemptAt <= now);
    await Promise.all(due.slice(0, MAX_PARALLEL).map((webhook) => this.send(webhook)));
  }

  private async sendEach(webhooks: readonly WebhookRecord[]): Promise<void> {
    for (const webhook of webhooks) if (!this.isClosed) await this.send(webhook);
  }

  private async send(webhook: WebhookRecord): Promise<void> {
    const { endpoint } = this;
    if (!endpoint) return;
    const lastError = await post(endpoint, webhook);
    if (this.isClosed) return;
    // The control interface may have changed the webhook meanwhile.
    const current = this.store.webhooks.get(webhook.id) ?? webhook;
    const attempts = current.attempts + 1;
    this.isFailing = lastError !== undefined;
    if (lastError === undefined) {
      this.store.commit([{ ...withoutError(current), state: 'accepted', attempts }]);
      return;
    }
    const now = this.clock.now().getTime();
    const delayMs = this.retryDelaysMs[Math.min(attempts, this.retryDelaysMs.length) - 1]!;
    const isTooOld = now - Date.parse(current.at) > MAX_AGE_MS;
    this.store.commit([
      {
        ...current,
        ...(current.state === 'queued' && isTooOld ? { state: 'abandoned' } : {}),
        attempts,
        nextAttemptAt: new Date(now + delayMs).toISOString(),
        lastError,
      },
    ]);
  }
}

function withoutError({ lastError: _, ...webhook }: WebhookRecord): WebhookRecord {
  return webhook;
}

/** @returns why it was not accepted; undefined if it was */
async function post(
  { url, user, password }: WebhookEndpoint,
  { live, item }: WebhookRecord,
): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
        'content-type': 'application/json; charset=utf-8',
      },
      body: JSON.stringify({ live, notificationItems: [{ NotificationRequestItem: item }] }),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    return response.ok ? undefined : `status ${response.status}`;
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, 200) : 'no response';
  }
}
