import { PassThrough, type Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type AuthenticatedMerchant, findActiveKeys } from '@svc/auth';
import { Clock, DomainError, invalidField } from '@svc/kernel';
import { PeriodicJob } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import { MerchantRetrievalConfig } from '../config.js';
import { type Channel, encodeEventId, decodePosition } from './event-id.js';
import { type NoticePage, NoticeRepository, type StoredNotice, type StreamCursor } from './notice.repository.js';

/** Delay until notices of any replica are read: one statement for all streams of the process. */
const POLL_MS = 250;
/** Notices that a statement reads for one cursor: more than the buffer of a stream holds. */
const MAX_NOTICES = 32;
/** Cursors that a statement reads: limits the memory when many streams resume at once. */
const MAX_CURSORS = 500;
/** Proxies close connections that are silent for a minute or less. */
const HEARTBEAT_MS = 15_000;
/** Interval of the check for revoked keys, whose streams end. */
const KEY_CHECK_MS = 1_000;
/** Bytes that may wait on each side of the stream's buffer; a notice has about 600. With more, no notice is added. */
const BUFFER_BYTES = 16 * 1024;
/** A reader whose buffer is full for so long is closed. It resumes by id. */
const STALLED_MS = 30_000;
const RETRY_AFTER_SECONDS = 5;

interface Reader {
  readonly channel: Channel;
  readonly keyId: string;
  readonly out: PassThrough;
  /** Undefined until the first position is known. */
  position: number | undefined;
  /** Since when the buffer is full; undefined while it is not. */
  fullSince: number | undefined;
  heartbeatAt: number;
}

/**
 * Sends the notices of sites, of all replicas, to the clients that read their streams (M6). Unsent notices stay in the database,
 * so a slow reader costs one buffer. A stream ends with the process or with its key; the client resumes by `Last-Event-ID` on
 * any replica. Not for payers: hosted-gateway has a stream for its pages.
 */
@Injectable()
export class PaymentStreams implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly readers = new Set<Reader>();
  private readonly job: PeriodicJob;
  private keysCheckedAt = 0;
  private isFailing = false;
  private isClosing = false;

  constructor(
    @Inject(NoticeRepository) private readonly notices: NoticeRepository,
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

  /** Ends all streams, because a shutdown waits for open responses. */
  async onModuleDestroy(): Promise<void> {
    this.isClosing = true;
    for (const { out, fullSince } of this.readers) {
      if (fullSince === undefined) out.end();
      else out.destroy();
    }
    await this.job.stop();
  }

  /**
   * Server-sent events from the notice after `lastEventId`, or from now on. The first bytes contain the id to resume from, for a
   * client that loses its connection before the first event. Throws `request.invalid`, `event-id.expired`, and
   * `request.rate-limited` or `service.not-ready` when too many streams are open.
   */
  async open(channel: Channel, { keyId }: AuthenticatedMerchant, lastEventId: string | undefined): Promise<Readable> {
    const after = lastEventId === undefined ? undefined : decodePosition(channel, lastEventId);
    if (lastEventId !== undefined && after === undefined)
      throw invalidField('Last-Event-ID', 'Last-Event-ID must be the id of an event of this stream');
    const reader = this.addReader(channel, keyId);
    try {
      const { newest, removed } = await this.notices.getPositionRange(channel);
      // Beyond the newest: the database was restored to an earlier time and will assign these positions again.
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

  /** Serves all streams once. True when more can be sent at once. */
  async runOnce(): Promise<boolean> {
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
    // Lets the sockets send their buffers, so that more can be written.
    if (hasMore) await setImmediate();
    return hasMore;
  }

  /** While the database is unavailable for an hour, this is logged once. */
  private async pollOnce(): Promise<boolean> {
    try {
      const hasMore = await this.runOnce();
      this.isFailing = false;
      return hasMore;
    } catch (error) {
      if (!this.isFailing) this.log.warn({ err: error }, 'streams of payments could not be read, will be retried');
      this.isFailing = true;
      return false;
    }
  }

  /** Synchronous, so that concurrent calls are counted. */
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
    // The client closed the connection; 'close' follows.
    out.on('error', () => undefined);
    out.on('drain', () => {
      reader.fullSince = undefined;
      this.job.trigger();
    });
    return reader;
  }

  private keepAlive(reader: Reader, now: number): void {
    if (reader.fullSince !== undefined) {
      // `end` would wait for this reader, which does not read.
      if (now - reader.fullSince >= STALLED_MS) reader.out.destroy();
    } else if (now >= reader.heartbeatAt) {
      this.write(reader, ':\n\n');
      reader.heartbeatAt = now + HEARTBEAT_MS;
    }
  }

  private async disconnectRevokedKeys(now: number): Promise<void> {
    // `abs`: the clock may have been set back.
    if (Math.abs(now - this.keysCheckedAt) < KEY_CHECK_MS) return;
    const readers = [...this.readers];
    const active = await findActiveKeys(this.dataSource, [...new Set(readers.map(({ keyId }) => keyId))]);
    this.keysCheckedAt = now;
    for (const { keyId, out } of readers) if (!active.has(keyId)) out.destroy();
  }

  /** Sends to groups of readers with the same cursor. True when more can be sent at once. */
  private async sendPages(groups: readonly (readonly Reader[])[]): Promise<boolean> {
    const cursors = groups.map(([first]): StreamCursor => ({ channel: first!.channel, position: first!.position! }));
    const pages = await this.notices.readAfter(cursors, MAX_NOTICES);
    let hasMore = false;
    for (const [nth, page] of pages) for (const reader of groups[nth]!) hasMore = this.sendPage(reader, page) || hasMore;
    return hasMore;
  }

  private sendPage(reader: Reader, { notices, end }: NoticePage): boolean {
    if (end === undefined) {
      // The next notices were deleted: the client gets a 410 when it resumes.
      reader.out.destroy();
      return false;
    }
    for (const notice of notices) {
      if (!reader.out.writable) return false;
      reader.position = notice.position;
      // The others are read again when the buffer is empty.
      if (!this.write(reader, formatEvent(reader.channel, notice))) return false;
    }
    reader.position = end;
    return notices.length === MAX_NOTICES;
  }

  /** False when the buffer is full. */
  private write(reader: Reader, text: string): boolean {
    if (reader.out.write(text)) return true;
    reader.fullSince = this.clock.now().getTime();
    return false;
  }
}

function formatEvent(channel: Channel, { position, type, body }: StoredNotice): string {
  return `id: ${encodeEventId(channel, position)}\nevent: ${type}\ndata: ${body}\n\n`;
}
