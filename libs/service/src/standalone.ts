import { Controller, Get, Inject, Optional } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { notReady, ReadinessCheck } from './health/readiness.js';
import type { ServiceLog } from './logging.js';
import { type AppDefinition, type AppOptions, closeApp, createApp } from './nest-app.js';

/** `/health/live`: the process responds. `/health/ready`: the app's own {@link ReadinessCheck}, where it has one. */
@Controller('health')
export class StandaloneHealthController {
  constructor(@Optional() @Inject(ReadinessCheck) private readonly check?: ReadinessCheck) {}

  @Get('live')
  live(): { status: string } {
    return { status: 'ok' };
  }

  @Get('ready')
  async ready(): Promise<{ status: string }> {
    const missing = await this.check?.missing();
    if (missing) throw notReady(missing);
    return { status: 'ok' };
  }
}

export interface StandaloneApp {
  readonly app: NestFastifyApplication;
  readonly log: ServiceLog;
  /** Finishes the requests under way, then stops the app's providers. */
  close(): Promise<void>;
}

/**
 * Creates an app with neither PostgreSQL nor a broker, ready for requests, not yet listening. For a program that runs outside the
 * platform and stores its own data; every app of the platform is a service (`startService`).
 */
export async function startStandalone(
  definition: AppDefinition,
  surroundings: Omit<AppOptions, 'controllers'>,
): Promise<StandaloneApp> {
  const app = await createApp(definition, { ...surroundings, controllers: [StandaloneHealthController] });
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  return { app, log: surroundings.log, close: () => closeApp(app) };
}
