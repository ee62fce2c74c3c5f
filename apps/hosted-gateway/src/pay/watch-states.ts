import { PassThrough, type Readable } from 'node:stream';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Clock, DomainError } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import type { PayerAddress } from '../sessions/payer-address.js';
import { type PageState, type Payer, ShowPage } from './page/show-page.js';
import { ShownPayables } from './payables/shown-payables.js';

/** All streams of one process together; each holds a socket, and pages that get none poll instead. */
const STREAMS_MAX = 2_000;
/** One payer has a few tabs and a phone. */
const STREAMS_PER_PAYABLE_MAX = 10;
/** The browser opens another one then, perhaps at a process that has fewer. */
const LIFETIME_MS = 600_000;
/** How soon a change made elsewhere is seen: one statement for all streams of the process. */
const TICK_MS = 500;
/**
 * The sign of life. Where a bank owes an answer it is a look, which costs a statement and asks the bank; a form that waits
 * for its payer is told again what it was told.
 */
const LOOK_AFTER_MS = [1_000, 2_000, 4_000, 8_000] as const;
/** States of a page in which a bank owes an answer. */
const OWED: ReadonlySet<string> = new Set(['processing', 'verification']);
/** With more waiting for it a reader is let go: it does not read. */
const UNREAD_BYTES_MAX = 16 * 1024;

interface Stream {
  readonly address: PayerAddress;
  readonly payer: Payer;
  readonly payableId: string;
  readonly out: PassThrough;
  readonly endsAt: number;
  told: PageState;
  looks: number;
  nextLookAt: number;
  looking: boolean;
}

/**
 * Tells open pages of every change of what they show, on whichever replica it was made: streams are few and short-lived
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
    @Inject(ShownPayables) private readonly shownPayables: ShownPayables,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /** Server-sent events `state`, the first at once. Throws `resource.not-found` and, when too many watch, `service.not-ready`. */
  async open(address: PayerAddress, payer: Payer): Promise<Readable> {
    const { payableId, state } = await this.showPage.look(address, payer);
    const ofPayable = [...this.streams].filter((stream) => stream.payableId === payableId).length;
    if (this.streams.size >= STREAMS_MAX || ofPayable >= STREAMS_PER_PAYABLE_MAX)
      throw new DomainError('service.not-ready', { retryAfterSeconds: 5 });
    const now = this.clock.now().getTime();
    const stream: Stream = {
      address,
      payer,
      payableId,
      out: new PassThrough(),
      endsAt: now + LIFETIME_MS,
      told: state,
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

  /** One look at all streams. */
  async tick(): Promise<void> {
    if (this.ticking) return;
    this.ticking = true;
    try {
      const versions = await this.shownPayables.versionsOf([...new Set([...this.streams].map((one) => one.payableId))]);
      const now = this.clock.now().getTime();
      for (const stream of this.streams) {
        // An end would wait for exactly the reader that does not read.
        if (stream.out.writableLength > UNREAD_BYTES_MAX) stream.out.destroy();
        else if (now >= stream.endsAt) stream.out.end();
        else if (versions.get(stream.payableId) !== Number(stream.told.version)) void this.look(stream);
        else if (now >= stream.nextLookAt) this.giveSignOfLife(stream);
      }
    } catch (error) {
      this.log.warn({ err: error }, 'pages could not be notified of changes, will be retried');
    } finally {
      this.ticking = false;
    }
  }

  private giveSignOfLife(stream: Stream): void {
    if (OWED.has(stream.told.state)) return void this.look(stream);
    this.tell(stream, stream.told);
    this.plan(stream);
  }

  private async look(stream: Stream): Promise<void> {
    if (stream.looking) return;
    stream.looking = true;
    try {
      this.tell(stream, await this.showPage.state(stream.address, stream.payer));
    } catch {
      // Nobody could say: the page goes on asking by itself.
      stream.out.end();
    } finally {
      stream.looking = false;
      this.plan(stream);
    }
  }

  private tell(stream: Stream, state: PageState): void {
    stream.told = state;
    if (!stream.out.writableEnded) stream.out.write(eventOf(state));
  }

  private plan(stream: Stream): void {
    stream.nextLookAt = this.clock.later(LOOK_AFTER_MS[++stream.looks] ?? LOOK_AFTER_MS[3]).getTime();
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
