import { PassThrough, type Readable } from 'node:stream';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Clock, DomainError } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { SessionRepository } from '../sessions/session.repository.js';
import { ShowPage } from './show-page.js';

/** All streams of one process together; each holds a socket, and pages that get none poll instead. */
const STREAMS_MAX = 2_000;
/** One payer has a few tabs. */
const STREAMS_PER_SESSION_MAX = 10;
/** The browser opens another one then, perhaps at a process that has fewer. */
const LIFETIME_MS = 600_000;
/** How soon a change made elsewhere is seen: one statement for all streams of the process. */
const TICK_MS = 500;
/** A look costs a statement and asks the bank where it owes an answer; it is also the sign of life. */
const LOOK_AFTER_MS = [1_000, 2_000, 4_000, 8_000] as const;
/** A reader who does not read is let go. */
const UNREAD_BYTES_MAX = 16 * 1024;

interface Stream {
  readonly sessionId: string;
  readonly out: PassThrough;
  readonly endsAt: number;
  version: number | undefined;
  looks: number;
  nextLookAt: number;
  looking: boolean;
}

/**
 * Tells open pages of every change of their session, on whichever replica it was made: streams are few and short-lived
 * compared with payments, so each replica looks for its own instead of being told of everything. Not for the shop's
 * server, which is told by webhook.
 */
@Injectable()
export class WatchStates implements OnModuleDestroy {
  private readonly streams = new Set<Stream>();
  private timer: NodeJS.Timeout | undefined;
  private ticking = false;

  constructor(
    @Inject(ShowPage) private readonly showPage: ShowPage,
    @Inject(SessionRepository) private readonly sessions: SessionRepository,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /** Server-sent events `state`, the first at once. Throws `resource.not-found` and, when too many watch, `service.not-ready`. */
  async open(sessionId: string): Promise<Readable> {
    const state = await this.showPage.state(sessionId);
    const ofSession = [...this.streams].filter((stream) => stream.sessionId === sessionId).length;
    if (this.streams.size >= STREAMS_MAX || ofSession >= STREAMS_PER_SESSION_MAX)
      throw new DomainError('service.not-ready', { retryAfterSeconds: 5 });
    const now = this.clock.now().getTime();
    const stream: Stream = {
      sessionId,
      out: new PassThrough(),
      endsAt: now + LIFETIME_MS,
      version: Number(state.version),
      looks: 0,
      nextLookAt: now + LOOK_AFTER_MS[0],
      looking: false,
    };
    stream.out.once('close', () => this.forget(stream));
    // The client hung up in the middle of a line; there is nobody to tell.
    stream.out.on('error', () => this.forget(stream));
    stream.out.write(`retry: 1000\n\n${eventOf(state)}`);
    this.streams.add(stream);
    this.timer ??= setInterval(() => void this.tick(), TICK_MS);
    return stream.out;
  }

  /** Ends all streams: a shutdown waits for answers under way, and these would never be done. */
  onModuleDestroy(): void {
    for (const stream of this.streams) stream.out.end();
    this.streams.clear();
    clearInterval(this.timer);
  }

  private async tick(): Promise<void> {
    if (this.ticking) return;
    this.ticking = true;
    try {
      const versions = await this.sessions.versionsOf([...new Set([...this.streams].map((one) => one.sessionId))]);
      const now = this.clock.now().getTime();
      for (const stream of this.streams) {
        if (now >= stream.endsAt || stream.out.writableLength > UNREAD_BYTES_MAX) stream.out.end();
        else if (now >= stream.nextLookAt || versions.get(stream.sessionId) !== stream.version) void this.look(stream);
      }
    } catch (error) {
      this.log.warn({ err: error }, 'pages could not be told of changes, will be repeated');
    } finally {
      this.ticking = false;
    }
  }

  private async look(stream: Stream): Promise<void> {
    if (stream.looking) return;
    stream.looking = true;
    try {
      const state = await this.showPage.state(stream.sessionId);
      stream.version = Number(state.version);
      if (!stream.out.writableEnded) stream.out.write(eventOf(state));
    } catch {
      // Nobody could say: the page goes on asking by itself.
      stream.out.end();
    } finally {
      stream.looking = false;
      stream.nextLookAt = this.clock.later(LOOK_AFTER_MS[++stream.looks] ?? LOOK_AFTER_MS[3]).getTime();
    }
  }

  private forget(stream: Stream): void {
    this.streams.delete(stream);
    if (this.streams.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}

function eventOf(state: object): string {
  return `event: state\ndata: ${JSON.stringify(state)}\n\n`;
}
