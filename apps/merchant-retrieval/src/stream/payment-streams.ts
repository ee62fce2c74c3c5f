import { PassThrough, type Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type AuthenticatedMerchant, findActiveKeys } from '@svc/auth';
import { Clock, DomainError, invalidField } from '@svc/kernel';
import { PeriodicJob } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import { MerchantRetrievalConfig } from '../config.js';
import { type Channel, decodePosition, encodeEventId } from './event-id.js';
import {
  type NotificationPage,
  NotificationRepository,
  type StoredNotification,
  type StreamCursor,
} from './notification.repository.js';

/** Interval at which new notifications are read from the database. One statement reads for all streams of the process. */
const POLL_MS = 250;
/** Maximum number of notifications that a statement reads for one cursor. The buffer of a stream can contain fewer. */
const MAX_NOTIFICATIONS = 32;
/** Maximum number of cursors of a statement. It limits the memory when many streams resume at the same time. */
const MAX_CURSORS = 500;
/**
 * Interval of comments that keep a connection open. Some proxies close an idle connection after less than a minute.
 */
const HEARTBEAT_MS = 15_000;
/** Interval of the check for revoked keys. The streams of revoked keys are closed. */
const KEY_CHECK_MS = 1_000;
/**
 * High-water mark of each side of the stream's buffer. While the buffer is above the mark, no notification is written. A
 * notification has about 600 bytes.
 */
const BUFFER_BYTES = 16 * 1024;
/** A reader is disconnected if its buffer has been full for this long. It can resume with the id of its last event. */
const STALLED_MS = 30_000;
const RETRY_AFTER_SECONDS = 5;

interface Reader {
  readonly channel: Channel;
  readonly keyId: string;
  readonly out: PassThrough;
  /** Undefined until the first position of the reader was read. */
  position: number | undefined;
  /** Time since which the buffer is full. Undefined while the buffer is not full. */
  fullSince: number | undefined;
  heartbeatAt: number;
}

/**
 * Sends the notifications of sites to the clients that read their streams (M6), regardless of which replica wrote the
 * notifications. Unsent notifications stay in the database, so a slow reader uses only the memory of one buffer. A stream ends when
 * the process stops or the key is revoked. The client can resume the stream on any replica with `Last-Event-ID`. The
 * stream for payers is in hosted-gateway.
 */
@Injectable()
export class PaymentStreams implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly readers = new Set<Reader>();
  private readonly job: PeriodicJob;
  private keysCheckedAt = 0;
  private isFailing = false;
  private isClosing = false;

  constructor(
    @Inject(NotificationRepository) private readonly notifications: NotificationRepository,
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(MerchantRetrievalConfig) private readonly config: MerchantRetrievalConfig,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    this.job = new PeriodicJob('streams of payments', POLL_MS, log, () => this.pollOnce());
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  /** Ends all streams, because the shutdown of the HTTP server waits for open responses. */
  async onModuleDestroy(): Promise<void> {
    this.isClosing = true;
    for (const { out, fullSince } of this.readers) {
      if (fullSince === undefined) out.end();
      else out.destroy();
    }
    await this.job.stop();
  }

  /**
   * Opens a stream of server-sent events. The stream begins with the notification after `lastEventId`, or without
   * `lastEventId` with the next new notification. The first bytes contain an id, so that a client can resume even if it loses
   * its connection before the first event. Throws `request.invalid` and `event-id.expired`. Throws
   * `request.rate-limited` or `service.not-ready` when too many streams are open.
   */
  async open(channel: Channel, { keyId }: AuthenticatedMerchant, lastEventId: string | undefined): Promise<Readable> {
    const after = lastEventId === undefined ? undefined : decodePosition(channel, lastEventId);
    if (lastEventId !== undefined && after === undefined)
      throw invalidField('Last-Event-ID', 'Last-Event-ID must be the id of an event of this stream');
    const reader = this.addReader(channel, keyId);
    try {
      const { newest, removed } = await this.notifications.getPositionRange(channel);
      // If the position is beyond the newest position, the database was restored to an earlier time, and it will assign
      // the position again.
      if (after !== undefined && (after < removed || after > newest)) throw new DomainError('event-id.expired');
      const begin = after ?? newest;
      this.write(reader, `retry: 1000\nid: ${encodeEventId(channel, begin)}\n\n`);
      reader.position = begin;
    } catch (error) {
      reader.out.destroy();
      throw error;
    }
    this.job.trigger();
    return reader.out;
  }

  /** Sends new notifications to all streams once. Returns true when more notifications can be sent immediately. */
  async runStep(): Promise<boolean> {
    if (this.readers.size === 0) return false;
    const now = this.clock.now().getTime();
    for (const reader of this.readers) this.keepAlive(reader, now);
    await this.disconnectRevokedKeys(now);
    const byCursor = new Map<string, Reader[]>();
    for (const reader of this.readers) {
      if (reader.position === undefined || reader.fullSince !== undefined) continue;
      const cursor = encodeEventId(reader.channel, reader.position);
      byCursor.set(cursor, [...(byCursor.get(cursor) ?? []), reader]);
    }
    const groups = [...byCursor.values()];
    let hasMore = false;
    for (let begin = 0; begin < groups.length; begin += MAX_CURSORS)
      hasMore = (await this.sendPages(groups.slice(begin, begin + MAX_CURSORS))) || hasMore;
    // Gives the sockets time to send their buffers, so that more notifications can be written.
    if (hasMore) await setImmediate();
    return hasMore;
  }

  /** Polls once. Logs only the first of several consecutive failures, because an outage would cause many messages. */
  private async pollOnce(): Promise<boolean> {
    try {
      const hasMore = await this.runStep();
      this.isFailing = false;
      return hasMore;
    } catch (error) {
      if (!this.isFailing) this.log.warn({ err: error }, 'streams of payments could not be read, will be retried');
      this.isFailing = true;
      return false;
    }
  }

  /** Adds a reader if the limits allow it. The method is synchronous, so concurrent calls cannot exceed the limits. */
  private addReader(channel: Channel, keyId: string): Reader {
    const readersOfKey = [...this.readers].filter((reader) => reader.keyId === keyId).length;
    const { SVC_STREAM_READERS: maxReaders, SVC_STREAM_READERS_PER_KEY: maxReadersPerKey } = this.config;
    if (readersOfKey >= maxReadersPerKey)
      throw new DomainError('request.rate-limited', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    if (this.isClosing || this.readers.size >= maxReaders)
      throw new DomainError('service.not-ready', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    const out = new PassThrough({ highWaterMark: BUFFER_BYTES });
    const heartbeatAt = this.clock.later(HEARTBEAT_MS).getTime();
    const reader: Reader = { channel, keyId, out, position: undefined, fullSince: undefined, heartbeatAt };
    this.readers.add(reader);
    out.once('close', () => this.readers.delete(reader));
    // The error means that the client has closed the connection. The event 'close' follows.
    out.on('error', () => undefined);
    out.on('drain', () => {
      reader.fullSince = undefined;
      this.job.trigger();
    });
    return reader;
  }

  private keepAlive(reader: Reader, now: number): void {
    if (reader.fullSince !== undefined) {
      // Uses `destroy`, because `end` would wait until the client reads.
      if (now - reader.fullSince >= STALLED_MS) reader.out.destroy();
    } else if (now >= reader.heartbeatAt) {
      this.write(reader, ':\n\n');
      reader.heartbeatAt = now + HEARTBEAT_MS;
    }
  }

  private async disconnectRevokedKeys(now: number): Promise<void> {
    // Uses `abs`, because the clock may have been set back.
    if (Math.abs(now - this.keysCheckedAt) < KEY_CHECK_MS) return;
    const readers = [...this.readers];
    const active = await findActiveKeys(this.dataSource, [...new Set(readers.map(({ keyId }) => keyId))]);
    this.keysCheckedAt = now;
    for (const { keyId, out } of readers) if (!active.has(keyId)) out.destroy();
  }

  /**
   * Sends new notifications to groups of readers. All readers of a group have the same cursor. Returns true when more notifications
   * can be sent immediately.
   */
  private async sendPages(groups: readonly (readonly Reader[])[]): Promise<boolean> {
    const cursors = groups.map(([first]): StreamCursor => ({ channel: first!.channel, position: first!.position! }));
    const pages = await this.notifications.readAfter(cursors, MAX_NOTIFICATIONS);
    let hasMore = false;
    for (const [nth, page] of pages)
      for (const reader of groups[nth]!) hasMore = this.sendPage(reader, page) || hasMore;
    return hasMore;
  }

  private sendPage(reader: Reader, { notifications, end }: NotificationPage): boolean {
    if (end === undefined) {
      // The next notifications of this reader were deleted. The client gets a 410 when it resumes.
      reader.out.destroy();
      return false;
    }
    for (const notification of notifications) {
      if (!reader.out.writable) return false;
      reader.position = notification.position;
      // The remaining notifications are read from the database again when the buffer is empty.
      if (!this.write(reader, formatEvent(reader.channel, notification))) return false;
    }
    reader.position = end;
    return notifications.length === MAX_NOTIFICATIONS;
  }

  /** Returns false when the buffer is full. */
  private write(reader: Reader, text: string): boolean {
    if (reader.out.write(text)) return true;
    reader.fullSince = this.clock.now().getTime();
    return false;
  }
}

function formatEvent(channel: Channel, { position, type, body }: StoredNotification): string {
  return `id: ${encodeEventId(channel, position)}\nevent: ${type}\ndata: ${body}\n\n`;
}
