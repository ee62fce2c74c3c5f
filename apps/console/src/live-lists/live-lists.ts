import { PassThrough, type Readable } from 'node:stream';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Clock, DomainError } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import { PersonSessions } from '../viewer/person-sessions.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import { countChanges, keyOfList, type ListKey } from './count-changes.query.js';

/** Open lists of one process. A page without a stream shows changes when it is loaded again. */
const MAX_STREAMS = 500;
/** Enough for a person with some tabs. */
const MAX_STREAMS_PER_PERSON = 10;
const INTERVAL_MS = 2_000;
/** A stream ends after this time, and the browser opens it again. */
const LIFETIME_MS = 600_000;
/** A stream with more unread bytes is closed, because its client does not read. */
const MAX_UNREAD_BYTES = 256 * 1024;
/** Lists that are read at the same time, so that pages still get connections to the database. */
const MAX_READS = 5;

/** `payments`: only changes of payments change the list, and these are counted. `other`: the list is read each time. */
type ListContent = 'payments' | 'other';

interface Stream {
  readonly viewer: MerchantViewer;
  readonly render: () => Promise<string>;
  readonly content: ListContent;
  readonly out: PassThrough;
  readonly endsAt: number;
  lastHtml: string | undefined;
  /** Changes of the merchant's payments when the list was read; undefined before the first time. */
  lastChanges: number | undefined;
}

/**
 * Sends lists again when they have changed. One statement in two seconds finds out whether payments of a merchant have
 * changed, for all open lists; only then are the lists of payments of this merchant and mode read again. A list is rendered as for
 * the page, with the rights of its person.
 */
@Injectable()
export class LiveLists implements OnModuleDestroy {
  private readonly streams = new Set<Stream>();
  private timer: NodeJS.Timeout | undefined;
  private ticking: Promise<void> | undefined;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(PersonSessions) private readonly sessions: PersonSessions,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /** @throws service.not-ready if too many streams are open, of this process or of this person */
  open(viewer: MerchantViewer, render: () => Promise<string>, content: ListContent = 'other'): Readable {
    const ofPerson = [...this.streams].filter((stream) => stream.viewer.session.personId === viewer.session.personId);
    if (this.streams.size >= MAX_STREAMS || ofPerson.length >= MAX_STREAMS_PER_PERSON)
      throw new DomainError('service.not-ready', { retryAfterSeconds: 10 });
    const endsAt = this.clock.monotonicMs() + LIFETIME_MS;
    const out = new PassThrough();
    const stream: Stream = { viewer, render, content, out, endsAt, lastHtml: undefined, lastChanges: undefined };
    out.once('close', () => this.remove(stream));
    out.on('error', () => this.remove(stream));
    out.write('retry: 5000\n\n');
    this.streams.add(stream);
    this.timer ??= setInterval(() => void this.tick(), INTERVAL_MS);
    return out;
  }

  /** Ends all streams, because a shutdown waits for open responses. */
  onModuleDestroy(): void {
    for (const { out } of this.streams) out.end();
    this.streams.clear();
    clearInterval(this.timer);
  }

  /** Sends every list that has changed since the last call. A call during another call waits for it. */
  async tick(): Promise<void> {
    this.ticking ??= this.step().finally(() => (this.ticking = undefined));
    await this.ticking;
  }

  private async step(): Promise<void> {
    for (const { out, endsAt } of this.streams)
      if (out.writableLength > MAX_UNREAD_BYTES) out.destroy();
      else if (this.clock.monotonicMs() >= endsAt) out.end();
    const open = [...this.streams].filter(({ out }) => out.writable);
    if (open.length === 0) return;
    try {
      // Counted before the lists are read, so a change in between is found by the next step.
      const changes = await countChanges(this.dataSource, uniqueScopes(open));
      const isChanged = (stream: Stream): boolean =>
        stream.content === 'other' || stream.lastChanges !== changesOf(changes, stream);
      for (const stream of open) if (!isChanged(stream)) stream.out.write(': no change\n\n');
      const changed = open.filter(isChanged);
      for (let i = 0; i < changed.length; i += MAX_READS)
        await Promise.all(
          changed.slice(i, i + MAX_READS).map((stream) => this.update(stream, changesOf(changes, stream))),
        );
    } catch (error) {
      this.log.warn({ err: error }, 'the lists could not be updated, will be retried');
    }
  }

  private async update(stream: Stream, changes: number): Promise<void> {
    const { out, viewer } = stream;
    try {
      // The session may have ended, or the person may have lost the role, since the page was opened.
      const session = await this.sessions.find(viewer.actor, { isActivity: false });
      if (!session || JSON.stringify(session.roles) !== JSON.stringify(viewer.session.roles)) return void out.end();
      const html = await stream.render();
      // The first list is always sent, because payments may have arrived since the page was rendered.
      if (html === stream.lastHtml) out.write(': no change\n\n');
      else out.write(`event: list\n${html.replaceAll(/^/gm, 'data: ')}\n\n`);
      stream.lastHtml = html;
      stream.lastChanges = changes;
    } catch (error) {
      this.log.warn({ err: error }, 'a list could not be updated, will be retried');
    }
  }

  private remove(stream: Stream): void {
    this.streams.delete(stream);
    if (this.streams.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}

function uniqueScopes(streams: readonly Stream[]): ListKey[] {
  return [...new Map(streams.map(({ viewer: { scope } }) => [keyOfList(scope), scope])).values()];
}

function changesOf(changes: ReadonlyMap<string, number>, { viewer }: Stream): number {
  return changes.get(keyOfList(viewer.scope)) ?? 0;
}
