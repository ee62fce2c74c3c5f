import type { FactoryProvider, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type FailedCall, MAX_FAILED_CALLS_PER_REQUEST, type Mode, type RecordFailedCallsV1 } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { fillPath } from './fill-path.js';

const INTERVAL_MS = 1_000;
const TIMEOUT_MS = 5_000;
/** More are dropped, so that a flood of failing calls takes little memory. */
export const MAX_WAITING_CALLS = 1_000;
const FIRST_ERROR_STATUS = 400;

/** A request after its answer, with the caller that the guard of merchants or of sites has authenticated. */
interface AnsweredRequest {
  readonly id: string;
  readonly method: string;
  readonly routeOptions: { readonly url?: string };
  readonly params: unknown;
  readonly merchant?: { readonly merchantId: number; readonly siteId: number | undefined; readonly mode: Mode };
  readonly site?: { readonly merchantId: number; readonly siteId: number; readonly mode: Mode };
}

interface Answer {
  readonly statusCode: number;
  getHeader(name: string): unknown;
}

interface HookedServer {
  addHook(name: 'onResponse', hook: (request: AnsweredRequest, answer: Answer, done: () => void) => void): void;
}

/**
 * Remembers the calls of authenticated merchants that failed, and sends them to the console in batches. Best effort: it
 * adds only an element to a list for each failed call, sends one batch at a time, and drops what does not fit.
 */
export class FailedCalls implements OnApplicationBootstrap, OnModuleDestroy {
  private waiting: FailedCall[] = [];
  private timer: NodeJS.Timeout | undefined;
  private isSending = false;

  constructor(
    private readonly command: typeof RecordFailedCallsV1,
    private readonly commands: Commands,
    private readonly clock: Clock,
    { httpAdapter }: HttpAdapterHost,
  ) {
    // Before the routes exist, because a hook applies only to later routes.
    httpAdapter.getInstance<HookedServer>().addHook('onResponse', (request, answer, done) => {
      if (answer.statusCode >= FIRST_ERROR_STATUS) this.note(request, answer);
      done();
    });
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.runStep(), INTERVAL_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Sends one batch. Does nothing while another one is being sent. */
  async runStep(): Promise<void> {
    if (this.isSending || this.waiting.length === 0) return;
    this.isSending = true;
    const calls = this.waiting.slice(0, MAX_FAILED_CALLS_PER_REQUEST);
    this.waiting = this.waiting.slice(calls.length);
    try {
      await this.commands.request(this.command, { calls }, TIMEOUT_MS);
    } catch {
      // These calls are lost: the console is not running, or the platform is overloaded.
    } finally {
      this.isSending = false;
    }
  }

  private note({ id, method, routeOptions, params, merchant, site }: AnsweredRequest, answer: Answer): void {
    const caller = merchant ?? site;
    if (!caller || routeOptions.url === undefined || this.waiting.length >= MAX_WAITING_CALLS) return;
    const errorCode = answer.getHeader('x-error-code');
    this.waiting.push({
      requestId: id,
      merchantId: caller.merchantId,
      ...(caller.siteId === undefined ? {} : { siteId: caller.siteId }),
      mode: caller.mode,
      method,
      path: fillPath(routeOptions.url, params as Readonly<Record<string, string>>),
      statusCode: answer.statusCode,
      ...(typeof errorCode === 'string' ? { errorCode } : {}),
      calledUTCDate: this.clock.nowISO(),
    });
  }
}

/** Every service that merchants' servers call provides it. */
export function provideFailedCalls(command: typeof RecordFailedCallsV1): FactoryProvider<FailedCalls> {
  return {
    provide: FailedCalls,
    inject: [Commands, Clock, HttpAdapterHost],
    useFactory: (commands: Commands, clock: Clock, host: HttpAdapterHost) =>
      new FailedCalls(command, commands, clock, host),
  };
}
