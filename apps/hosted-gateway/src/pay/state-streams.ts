import { PassThrough, type Readable } from 'node:stream';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import { Clock, DomainError } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import type { PayerAddress } from '../sessions/payer-address.js';
import { type PageState, type Payer, ShowPage } from './page/show-page.js';
import { PagePayableRepository } from './payables/page-payable.repository.js';

/** Limit of open streams for one process, because each stream uses a socket. Pages without a stream poll instead. */
const MAX_STREAMS = 2_000;
/**
 * Limit for one IP address, or one IPv6 network of 64 bits, so that one client cannot use all streams. Many phones share
 * an address, for example in a shop.
 */
const MAX_STREAMS_PER_ADDRESS = 500;
/** Enough for a payer with a few tabs and a phone. */
const MAX_STREAMS_PER_PAYABLE = 10;
/** A page without a stream polls. After this time it may try to open a stream again. */
const RETRY_AFTER_SECONDS = 5;
/** After this time a stream ends. The browser reconnects, possibly to a less loaded process. */
const LIFETIME_MS = 600_000;
/** Interval at which one statement checks for changes, for all streams of the process. */
const POLL_INTERVAL_MS = 500;
/**
 * Intervals between heartbeats; the last interval repeats. While the result of a bank is pending, a heartbeat reads the
 * state, which queries the bank. Otherwise a heartbeat sends the last state again.
 */
const HEARTBEAT_INTERVALS_MS = [1_000, 2_000, 4_000, 8_000] as const;
/** States of the page while the result of a bank is pending. */
const PENDING_STATES: ReadonlySet<string> = new Set(['processing', 'verification']);
/** A stream with more unread bytes is closed, because its client does not read. */
const MAX_UNREAD_BYTES = 16 * 1024;

interface Stream {
  readonly address: PayerAddress;
  readonly payer: Payer;
  readonly payableId: string;
  readonly clientAddress: string;
  readonly out: PassThrough;
  readonly endsAt: number;
  lastState: PageState;
  heartbeats: number;
  nextHeartbeatAt: number;
  isReading: boolean;
}

/**
 * Streams every change of state to open pages, including changes on other replicas. Each replica polls the database for
 * the versions of its own streams. It does not consume all events, because streams are few and short compared with
 * payments. (The server of a shop does not use streams: it receives webhooks.)
 */
@Injectable()
export class StateStreams implements OnModuleDestroy {
  private readonly streams = new Set<Stream>();
  private timer: NodeJS.Timeout | undefined;
  private isTicking = false;

  constructor(
    @Inject(ShowPage) private readonly showPage: ShowPage,
    @Inject(PagePayableRepository) private readonly payables: PagePayableRepository,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /**
   * A stream of server-sent events `state`. Sends the first event immediately. Throws `resource.not-found`,
   * `request.rate-limited` if too many streams of the client's IP address are open, and `service.not-ready` if too many
   * other streams are open.
   */
  async open(address: PayerAddress, payer: Payer, clientIp: string): Promise<Readable> {
    const { payableId, state } = await this.showPage.findState(address, payer);
    const clientAddress = normalizeIp(clientIp);
    if (this.count((stream) => stream.clientAddress === clientAddress) >= MAX_STREAMS_PER_ADDRESS)
      throw new DomainError('request.rate-limited', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    const streamsOfPayable = this.count((stream) => stream.payableId === payableId);
    if (this.streams.size >= MAX_STREAMS || streamsOfPayable >= MAX_STREAMS_PER_PAYABLE)
      throw new DomainError('service.not-ready', { retryAfterSeconds: RETRY_AFTER_SECONDS });
    const now = this.clock.now().getTime();
    const stream: Stream = {
      address,
      payer,
      payableId,
      clientAddress,
      out: new PassThrough(),
      endsAt: now + LIFETIME_MS,
      lastState: state,
      heartbeats: 0,
      nextHeartbeatAt: now + HEARTBEAT_INTERVALS_MS[0],
      isReading: false,
    };
    stream.out.once('close', () => this.remove(stream));
    // An error occurs if the client closes the connection while the gateway sends data.
    stream.out.on('error', () => this.remove(stream));
    stream.out.write(`retry: 1000\n\n${formatEvent(state)}`);
    this.streams.add(stream);
    this.timer ??= setInterval(() => void this.tick(), POLL_INTERVAL_MS);
    return stream.out;
  }

  /** Ends all streams, because a shutdown waits for open responses. */
  onModuleDestroy(): void {
    for (const stream of this.streams) stream.out.end();
    this.streams.clear();
    clearInterval(this.timer);
  }

  /** Checks all streams once: sends changes and heartbeats, and ends or closes streams. */
  async tick(): Promise<void> {
    if (this.isTicking) return;
    this.isTicking = true;
    try {
      const versions = await this.payables.findVersions([
        ...new Set([...this.streams].map(({ payableId }) => payableId)),
      ]);
      const now = this.clock.now().getTime();
      for (const stream of this.streams) {
        // `end()` would wait until the client reads.
        if (stream.out.writableLength > MAX_UNREAD_BYTES) stream.out.destroy();
        else if (now >= stream.endsAt) stream.out.end();
        else if (versions.get(stream.payableId) !== Number(stream.lastState.version))
          void this.sendCurrentState(stream);
        else if (now >= stream.nextHeartbeatAt) this.sendHeartbeat(stream);
      }
    } catch (error) {
      this.log.warn({ err: error }, 'pages could not be notified of changes, will be retried');
    } finally {
      this.isTicking = false;
    }
  }

  private count(isCounted: (stream: Stream) => boolean): number {
    return [...this.streams].filter(isCounted).length;
  }

  private sendHeartbeat(stream: Stream): void {
    if (PENDING_STATES.has(stream.lastState.state)) return void this.sendCurrentState(stream);
    this.send(stream, stream.lastState);
    this.scheduleHeartbeat(stream);
  }

  private async sendCurrentState(stream: Stream): Promise<void> {
    if (stream.isReading) return;
    stream.isReading = true;
    try {
      this.send(stream, await this.showPage.readState(stream.address, stream.payer));
    } catch {
      // The state cannot be read. Ends the stream, so that the page polls instead.
      stream.out.end();
    } finally {
      stream.isReading = false;
      this.scheduleHeartbeat(stream);
    }
  }

  private send(stream: Stream, state: PageState): void {
    stream.lastState = state;
    if (!stream.out.writableEnded) stream.out.write(formatEvent(state));
  }

  private scheduleHeartbeat(stream: Stream): void {
    stream.nextHeartbeatAt = this.clock
      .later(HEARTBEAT_INTERVALS_MS[++stream.heartbeats] ?? HEARTBEAT_INTERVALS_MS[3])
      .getTime();
  }

  private remove(stream: Stream): void {
    this.streams.delete(stream);
    if (this.streams.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}

function formatEvent(state: object): string {
  return `event: state\ndata: ${JSON.stringify(state)}\n\n`;
}
