import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import {
  PaymentFailedV1,
  PaymentProcessingV1,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
} from '@svc/contracts';
import { Signal, Transport } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { GenerationRepository } from './generation.repository.js';

/** What an administrator is told. */
export interface RebuildState {
  /** The copy of the read model that is read. */
  readonly serving: number;
  /** The one that is being built; null when none is. */
  readonly building: number | null;
}

/** All that the read model is made from. */
export const TYPES = [PaymentProcessingV1, PaymentVerificationRequiredV1, PaymentSucceededV1, PaymentFailedV1];
/** While something is being built, and else: any replica may have been told to build it. */
const POLL_MS = { building: 500, idle: 5_000 };

/**
 * Builds the read model anew from payment-processor's log while the present one is read. Everything that was ever said of
 * payments comes once more through the same handlers, which write to both copies; when all of it has come, the new one is
 * read and the old one removed, a little at a time. What a copy ends as depends on the events alone, so the two agree
 * unless the old one was wrong.
 *
 * Replicas: of any number that are told to build it one begins, and whichever sees first that all has come lets the new
 * copy serve. What is being built is in the database alone, so it goes on whoever dies: what a dead replica was being told
 * is told to the next one. Where the one that began died before it asked for the past, that is asked for when it is started
 * again, or when any of them is told once more to build.
 */
@Injectable()
export class RebuildHistory implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly signal = new Signal();
  private running: Promise<void> = Promise.resolve();
  private stopping = false;

  constructor(
    @Inject(GenerationRepository) private readonly generations: GenerationRepository,
    @Inject(Transport) private readonly transport: Transport,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  onApplicationBootstrap(): void {
    this.running = this.run();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping = true;
    this.signal.nudge();
    await this.running;
  }

  /** Begins, where nothing is being built already. */
  async execute(): Promise<RebuildState> {
    await this.generations.begin((tx) => this.transport.missAgain(tx, TYPES));
    // In this order: what is published before it is asked for comes again, and the rest comes by itself.
    await this.transport.askForThePast();
    this.signal.nudge();
    const state = await this.state();
    this.log.info(state, 'history: a rebuild was requested');
    return state;
  }

  async state(): Promise<RebuildState> {
    return { serving: await this.generations.serving(), building: (await this.generations.findBuilding()) ?? null };
  }

  /** One step of what is to be done. False when there is nothing to do now. */
  async runOnce(): Promise<boolean> {
    const generation = await this.generations.findBuilding();
    if (generation !== undefined && (await this.transport.haveBeenToldAgain(TYPES))) {
      const isFirst = await this.generations.serve(generation);
      if (isFirst) this.log.info({ generation }, 'history: what was built anew is read from now on');
      return true;
    }
    return this.generations.removeSome();
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      let pollMs = POLL_MS.idle;
      try {
        while (!this.stopping && (await this.runOnce()));
        if ((await this.generations.findBuilding()) !== undefined) pollMs = POLL_MS.building;
      } catch (error) {
        this.log.warn({ err: error }, 'history: building it anew failed, will be repeated');
      }
      if (!this.stopping) await this.signal.wait(pollMs);
    }
  }
}
