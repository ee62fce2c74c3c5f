import { PassThrough, type Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type AuthenticatedMerchant, findActiveKeys } from '@svc/auth';
import { Clock, DomainError, invalidField } from '@svc/kernel';
import { PeriodicJob } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import { MerchantRetrievalConfig } from '../config.js';
import { type Channel, eventIdOf, positionOf } from './event-id.js';
import { type NoticePage, NoticeRepository, type StreamCursor, type StoredNotice } from './notice.repository.js';

/** How soon a notice that any replica wrote is seen: one statement for all streams of the process. */
const POLL_MS = 250;
/** Notices of one place that a statement reads: more than a stream's buffer takes. */
const NOTICES_MAX = 32;
/** Places that a statement reads: bounds what a process holds when many streams resume at once. */
const CURSORS_MAX = 500;
/** Proxies close connections that are silent for a minute or less. */
const HEARTBEAT_MS = 15_000;
/** How soon a stream whose key was revoked ends. */
const KEY_CHECK_MS = 1_000;
/** Bytes that wait for a reader, on each side of the stream's buffer; a notice is some 600. With more, no more are added. */
const BUFFER_BYTES = 16 * 1024;
/** A reader that leaves its buffer full for so long is closed. It resumes by id. */
const STALLED_MS = 30_000;
const RETRY_AFTER_SECONDS = 5;

interface Reader {
  readonly channel: Channel;
  readonly keyId: string;
  readonly out: PassThrough;
  /** Undefined until the place to begin at is known. */
  position: number | undefined;
  /** Since when the buffer is full; undefined while it is not. */
  fullSince: number | undefined;
  heartbeatAt: number;
}

/**
 * Sends the notices of sites to the clients that read their streams (M6), from whichever replica wrote them. What a reader has
 * not been sent stays in the database, so a slow reader costs one buffer. Streams end with the process or with their key; the
 * client resumes by `Last-Event-ID` wherever it connects next. Not for payers: hosted-gateway has a stream for its pages.
 */
@Injectable()
export class PaymentStreams implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly readers = new Set<Reader>();
  private readonly job: PeriodicJob;
  private keysCheckedAt = 0;
  private failing = false;
  private closing = false;

  constructor(
    @Inject(NoticeRepository) private readonly notices: NoticeRepository,
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(MerchantRetrievalConfig) private readonly config: MerchantRetrievalConfig,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    this.job = new PeriodicJob('streams of payments', POLL_MS, log, () => this.step());
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  /** A shutdown waits for answers under way, and these would never be done. */
  async onModuleDestroy(): Promise<void> {
    this.closing = true;
    for (const { out, fullSince } of this.readers) {
      if (fullSince === undefined) out.end();
      else out.destroy();
    }
    await this.job.stop();
  }

  /**
   * Server-sent events from the notice after `lastEventId`, or from now on. The first bytes name the place to resume from, for
   * a client that loses its connection before the first event. Throws `request.invalid`, `event-id.expired`, and
   * `request.rate-limited` or `service.not-ready` where too many read.
   */
  async open(channel: Channel, { keyId }: AuthenticatedMerchant, lastEventId: string | undefined): Promise<Readable> {
    const after = lastEventId === undefined ? undefined : positionOf(channel, lastEventId);
    if (lastEventId !== undefined && after === undefined)
      throw invalidField('Last-Event-ID', 'Last-Event-ID must be the id of an event of this stream');
    const reader = this.admit(channel, keyId);
    try {
      const { newest, removed } = await this.notices.rangeOf(channel);
      // Beyond the newest: the database was restored to an earlier time, and gives the positions out again.
      if (after !== undefined && (after < removed || after > newest)) throw new DomainError('event-id.expired');
      const begin = after ?? newest;
      this.write(reader, `retry: 1000\nid: ${eventIdOf(channel, begin)}\n\n`);
      reader.position = begin;
    } catch (error) {
      reader.out.destroy();
      throw error;
    }
    this.job.soon();
    return reader.out;
  }

  /** One look at all streams. True when there is more to send at once. */
  async runOnce(): Promise<boolean> {
    if (this.readers.size === 0) return false;
    const now = this.clock.now().getTime();
    for (const reader of this.readers) this.keepAlive(reader, now);
    await this.endRevoked(now);
    const byPlace = new Map<string, Reader[]>();
    for (const reader of this.readers) {
      if (reader.position === undefined || reader.fullSince !== undefined) continue;
      const place = eventIdOf(reader.channel, reader.position);
      byPlace.set(place, [...(byPlace.get(place) ?? []), reader]);
    }
    const groups = [...byPlace.values()];
    let hasMore = false;
    for (let begin = 0; begin < groups.length; begin += CURSORS_MAX)
      hasMore = (await this.send(groups.slice(begin, begin + CURSORS_MAX))) || hasMore;
    // Lets the sockets take what was written, so that their readers can be given more.
    if (hasMore) await setImmediate();
    return hasMore;
  }

  /** While the database is unavailable for an hour, this is logged once. */
  private async step(): Promise<boolean> {
    try {
      const hasMore = await this.runOnce();
      this.failing = false;
      return hasMore;
    } catch (error) {
      if (!this.failing) this.log.warn({ err: error }, 'streams of payments could not be read, will be retried');
      this.failing = true;
      return false;
    }
  }

  /** Takes a place for a reader before anything is awaited, so that calls made at once are counted. */
  private admit(channel: Channel, keyId: string): Reader {
    const ofKey = [...this.readers].filter((reader) => reader.keyId === keyId).length;
    const { SVC_STREAM_READERS: readersMax, SVC_STREAM_READERS_PER_KEY: readersOfKeyMax } = this.config;
    if (ofKey >= readersOfKeyMax)
      throw new DomainError('request.rate-limited', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    if (this.closing || this.readers.size >= readersMax)
      throw new DomainError('service.not-ready', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    const out = new PassThrough({ highWaterMark: BUFFER_BYTES });
    const heartbeatAt = this.clock.later(HEARTBEAT_MS).getTime();
    const reader: Reader = { channel, keyId, out, position: undefined, fullSince: undefined, heartbeatAt };
    this.readers.add(reader);
    out.once('close', () => this.readers.delete(reader));
    // The client hung up in the middle of a line; 'close' follows.
    out.on('error', () => undefined);
    out.on('drain', () => {
      reader.fullSince = undefined;
      this.job.soon();
    });
    return reader;
  }

  private keepAlive(reader: Reader, now: number): void {
    if (reader.fullSince !== undefined) {
      // An end would wait for exactly the reader that does not read.
      if (now - reader.fullSince >= STALLED_MS) reader.out.destroy();
    } else if (now >= reader.heartbeatAt) {
      this.write(reader, ':\n\n');
      reader.heartbeatAt = now + HEARTBEAT_MS;
    }
  }

  private async endRevoked(now: number): Promise<void> {
    // Also when the clock was set back.
    if (Math.abs(now - this.keysCheckedAt) < KEY_CHECK_MS) return;
    const readers = [...this.readers];
    const active = await findActiveKeys(this.dataSource, [...new Set(readers.map(({ keyId }) => keyId))]);
    this.keysCheckedAt = now;
    for (const { keyId, out } of readers) if (!active.has(keyId)) out.destroy();
  }

  /** To groups of readers that stand at the same place. True when some of them can be sent more at once. */
  private async send(groups: readonly (readonly Reader[])[]): Promise<boolean> {
    const places = groups.map(([first]): StreamCursor => ({ channel: first!.channel, position: first!.position! }));
    const pages = await this.notices.readAfter(places, NOTICES_MAX);
    let hasMore = false;
    for (const [nth, page] of pages) for (const reader of groups[nth]!) hasMore = this.sendTo(reader, page) || hasMore;
    return hasMore;
  }

  private sendTo(reader: Reader, { notices, end }: NoticePage): boolean {
    if (end === undefined) {
      // Too slow for what is kept; when it resumes it gets a 410.
      reader.out.destroy();
      return false;
    }
    for (const notice of notices) {
      if (!reader.out.writable) return false;
      reader.position = notice.position;
      // The rest is read again when the buffer is empty.
      if (!this.write(reader, eventOf(reader.channel, notice))) return false;
    }
    reader.position = end;
    return notices.length === NOTICES_MAX;
  }

  /** False when the buffer is full now. */
  private write(reader: Reader, text: string): boolean {
    if (reader.out.write(text)) return true;
    reader.fullSince = this.clock.now().getTime();
    return false;
  }
}

function eventOf(channel: Channel, { position, type, body }: StoredNotice): string {
  return `id: ${eventIdOf(channel, position)}\nevent: ${type}\ndata: ${body}\n\n`;
}
