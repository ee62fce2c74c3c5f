import { setTimeout as pause } from 'node:timers/promises';
import type { EventEnvelope } from '@svc/contracts';
import type { MessagingLog } from '../log.js';
import { type Broker, ConsumerRefusedError, type RelayTarget, TypesRefusedError } from './broker.js';

/**
 * Pauses before the second and each further attempt. Their sum is less than 5 s, because the revocation of an API key
 * must take effect within 5 s (A6).
 */
const RETRY_PAUSES_MS = [50, 150, 400, 1_000, 2_000];

/**
 * Publishes urgent events directly after their commit, without waiting for the relay. The relay may be late: a
 * transaction in any database of the server can hold it back, or its process may have exited. Delivery does not depend
 * on this class: the relay publishes every event, also the events that this class has published.
 */
export class DirectPublisher {
  private readonly inFlight = new Set<Promise<void>>();
  private readonly closing = new AbortController();

  constructor(
    private readonly broker: Broker,
    private readonly log: MessagingLog,
  ) {}

  /** Publishes in the background, to each target separately, with retries for a few seconds. */
  publish(events: readonly EventEnvelope[]): void {
    for (const target of this.broker.targets()) this.track(this.publishTo(target, copiesFor(target, events)));
  }

  /** Makes one attempt for each target. Ignores a target that does not accept the events. */
  async publishOnce(events: readonly EventEnvelope[]): Promise<void> {
    const attempts = this.broker.targets().map((target) => deliver(target, copiesFor(target, events)));
    const published = Promise.allSettled(attempts).then(() => undefined);
    this.track(published);
    await published;
  }

  /** Makes no further attempt. Resolves when the attempts in flight have ended. */
  async close(): Promise<void> {
    this.closing.abort();
    await Promise.all(this.inFlight);
  }

  private track(delivery: Promise<void>): void {
    const tracked = delivery.finally(() => this.inFlight.delete(tracked));
    this.inFlight.add(tracked);
  }

  private async publishTo(target: RelayTarget, events: readonly EventEnvelope[]): Promise<void> {
    let failure: unknown;
    const { signal } = this.closing;
    for (const pauseMs of [0, ...RETRY_PAUSES_MS]) {
      if (pauseMs > 0) await pause(pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await deliver(target, events);
        return;
      } catch (error) {
        failure = error;
        // There is no retry: the full queue would refuse the events again, and the other queues have accepted them.
        if (error instanceof ConsumerRefusedError) break;
      }
    }
    const types = [...new Set(events.map(({ type }) => type))];
    this.log.warn(
      { err: failure, target: target.name, types },
      'direct publication failed, the relay will publish the events',
    );
  }
}

function copiesFor({ types }: RelayTarget, events: readonly EventEnvelope[]): EventEnvelope[] {
  // The target gets copies, because an embedded broker freezes the events that it delivers.
  return events.filter(({ type }) => !types || types.has(type)).map((event) => structuredClone(event));
}

/** Delivers the events, without those that the target refuses: the relay holds their types back and retries them. */
async function deliver(target: RelayTarget, events: readonly EventEnvelope[]): Promise<void> {
  if (events.length === 0) return;
  try {
    await target.deliver(events);
  } catch (error) {
    if (!(error instanceof TypesRefusedError)) throw error;
    const accepted = events.filter(({ type }) => !error.types.has(type));
    if (accepted.length < events.length) await deliver(target, accepted);
  }
}
