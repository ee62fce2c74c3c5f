import type { FactoryProvider, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { EventType } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import type { Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { MESSAGING_LOG, type MessagingLog } from '../log.js';
import { Signal } from '../signal.js';
import { Transport } from '../transport/transport.js';
import { Generations } from './generations.js';

/** Response of the administration API. */
export interface RebuildState {
  /** The generation of the read model that is read. */
  readonly serving: number;
  /** The generation that is being built. Null when no generation is being built. */
  readonly building: number | null;
}

/** The tables and the sources of a read model. */
export interface ReadModel {
  /** Names of the tables, which are inserted into SQL: constants, never user input. */
  readonly tables: readonly string[];
  /** The event types from which the read model is derived. */
  readonly types: readonly EventType<unknown>[];
}

/**
 * Pauses between two checks of the state. Every replica checks the state, because any replica may have received the
 * rebuild request.
 */
const POLL_MS = { building: 500, idle: 5_000 };

/**
 * Rebuilds a read model from the publisher's event log while the current generation serves. A replay delivers every
 * event to the same handlers again, and the handlers write to both generations. When all events have been handled, the
 * new generation becomes the serving generation, and the rows of the old generation are deleted in small steps. The
 * content of a generation depends only on the events.
 *
 * If there are several replicas, one of them begins the rebuild, and the first replica that finds the replay complete
 * makes the new generation serve. The state is only in the database, so a crashed replica does not stop the rebuild:
 * RabbitMQ delivers the messages of the crashed replica to another replica. If a replica crashes after it began the
 * rebuild and before it requested the replay, the replay is requested at the next start of a replica or with the next
 * rebuild request.
 */
export class ReadModelRebuild implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly signal = new Signal();
  private running: Promise<void> = Promise.resolve();
  private stopping = false;

  constructor(
    private readonly types: readonly EventType<unknown>[],
    private readonly generations: Generations,
    private readonly transport: Transport,
    private readonly log: MessagingLog,
  ) {}

  onApplicationBootstrap(): void {
    this.running = this.run();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping = true;
    this.signal.nudge();
    await this.running;
  }

  /** Begins a rebuild, unless one is in progress. `audit` is a step of the transaction that begins it. */
  async execute(audit?: (tx: Transaction) => Promise<void>): Promise<RebuildState> {
    await this.generations.begin(async (tx) => {
      await this.transport.scheduleReplay(tx, this.types);
      await audit?.(tx);
    });
    // The replay must be requested after the new generation has begun, so that no event is missing: the replay contains
    // the events that were published before the request, and later events are already written to the new generation.
    await this.transport.requestReplay();
    this.signal.nudge();
    const state = await this.state();
    this.log.info({ ...state }, 'read model: a rebuild was requested');
    return state;
  }

  async state(): Promise<RebuildState> {
    return { serving: await this.generations.serving(), building: (await this.generations.findBuilding()) ?? null };
  }

  /**
   * Makes the built generation serve, or deletes a batch of retired rows. Resolves to false if there is nothing to do
   * now.
   */
  async runStep(): Promise<boolean> {
    const generation = await this.generations.findBuilding();
    if (generation !== undefined && (await this.transport.isReplayComplete(this.types))) {
      const isFirst = await this.generations.serve(generation);
      if (isFirst) this.log.info({ generation }, 'read model: the new generation serves');
      return true;
    }
    return this.generations.removeSome();
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      let pollMs = POLL_MS.idle;
      try {
        while (!this.stopping && (await this.runStep()));
        if ((await this.generations.findBuilding()) !== undefined) pollMs = POLL_MS.building;
      } catch (error) {
        this.log.warn({ err: error }, 'read model: a step of its rebuild failed, will be retried');
      }
      if (!this.stopping) await this.signal.wait(pollMs);
    }
  }
}

/** Providers of {@link Generations} and {@link ReadModelRebuild} for a service with one read model. */
export function rebuildableReadModel({ tables, types }: ReadModel): FactoryProvider[] {
  return [
    {
      provide: Generations,
      inject: [DataSource, Clock],
      useFactory: (dataSource: DataSource, clock: Clock) => new Generations(dataSource, clock, tables),
    },
    {
      provide: ReadModelRebuild,
      inject: [Generations, Transport, MESSAGING_LOG],
      useFactory: (generations: Generations, transport: Transport, log: MessagingLog) =>
        new ReadModelRebuild(types, generations, transport, log),
    },
  ];
}
